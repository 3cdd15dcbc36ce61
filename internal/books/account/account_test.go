package account

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
	"rubicon/internal/wire/ident"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// The suite runs on every database that the store supports.
func TestMain(m *testing.M) { storetest.Main(m) }

type fixture struct {
	*Accounts
	db  *store.DB
	url string
	mu  sync.Mutex
	at  time.Time
}

func open(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{url: storetest.URL(t), at: noon}
	f.db = storetest.OpenURL(t, f.url)
	t.Cleanup(func() { _ = f.db.Close() })
	f.Accounts = f.node()
	return f
}

// node is another gateway on the same database.
func (f *fixture) node() *Accounts { return New(f.db, ident.New(rand.Reader, f.clock), f.clock) }

func (f *fixture) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

func (f *fixture) advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = f.at.Add(d)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// customer makes one with a key.
func (f *fixture) customer(t *testing.T, l Limits) (Customer, Key, string) {
	t.Helper()
	c, err := f.CreateCustomer(t.Context(), "Ann")
	must(t, err)
	k, secret, err := f.CreateKey(t.Context(), c.ID, KeySpec{Name: "laptop", Limits: l})
	must(t, err)
	return c, k, secret
}

func ptr[T any](v T) *T { return &v }

func TestLookupFindsWhoAKeyBelongsTo(t *testing.T) {
	f := open(t)
	limits := Limits{Models: []string{"openai/x"}, RPM: 60, TPM: 1000, Concurrency: 4, Delivery: "atomic",
		Budget: &Budget{Amount: 5e9, Period: PeriodMonth}, ExpiresAt: ptr(noon.Add(time.Hour))}
	c, k, secret := f.customer(t, limits)
	want := Principal{Customer: c, Key: k}
	for range 2 { // from the database, then from the cache
		got, err := f.Lookup(t.Context(), secret)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if !want.MayUse("openai/x") || want.MayUse("openai/y") || !(Principal{}).MayUse("openai/y") {
		t.Error("allowed models")
	}
	for _, unknown := range []string{"", "rk-", secret[:len(secret)-1], secret + "x", strings.ToUpper(secret), "sk-" + secret[3:],
		"rk-" + strings.Repeat("x", 10_000)} {
		_, err := f.Lookup(t.Context(), unknown)
		wantError(t, err, ErrUnknownKey)
		if strings.Contains(err.Error(), secret[:20]) {
			t.Errorf("the error tells the key: %v", err)
		}
	}
}

func TestTheSecretIsNowhereInTheDatabase(t *testing.T) {
	f := open(t)
	_, _, secret := f.customer(t, Limits{})
	_, err := f.Lookup(t.Context(), secret)
	must(t, err)
	data := storetest.Dump(t, f.url)
	if strings.Contains(data, secret) || strings.Contains(data, secret[3:]) {
		t.Error("found")
	}
	if !strings.Contains(data, "cus_") {
		t.Error("nothing of the customer is in the dump either")
	}
}

func TestExpiry(t *testing.T) {
	f := open(t)
	_, k, secret := f.customer(t, Limits{ExpiresAt: ptr(noon.Add(time.Hour))})
	f.advance(time.Hour - time.Millisecond)
	_, err := f.Lookup(t.Context(), secret)
	must(t, err)
	f.advance(time.Millisecond) // without any change, from the cache
	p, err := f.Lookup(t.Context(), secret)
	wantError(t, err, ErrExpiredKey)
	if p.Key.ID != k.ID || p.Customer.ID != k.Customer {
		t.Errorf("the expired key is told to be that of %+v", p)
	}
	_, err = f.UpdateKey(t.Context(), k.ID, KeyPatch{ExpiresAt: &time.Time{}})
	must(t, err)
	_, err = f.Lookup(t.Context(), secret)
	must(t, err)
}

func TestChangesAreEffectiveAtOnce(t *testing.T) {
	f := open(t)
	c, k, secret := f.customer(t, Limits{})
	want := func(want error) Principal {
		t.Helper()
		p, err := f.Lookup(t.Context(), secret)
		wantError(t, err, want)
		return p
	}
	want(nil)
	_, err := f.UpdateCustomer(t.Context(), c.ID, CustomerPatch{Suspended: ptr(true)})
	must(t, err)
	want(ErrSuspended)
	_, err = f.UpdateCustomer(t.Context(), c.ID, CustomerPatch{Suspended: ptr(false), Name: ptr("Ann B.")})
	must(t, err)
	if p := want(nil); p.Customer.Name != "Ann B." {
		t.Errorf("name %q", p.Customer.Name)
	}
	_, err = f.UpdateKey(t.Context(), k.ID, KeyPatch{RPM: ptr(int64(7)), Models: ptr([]string{"m"})})
	must(t, err)
	if p := want(nil); p.Key.RPM != 7 || !p.MayUse("m") || p.MayUse("n") {
		t.Errorf("key %+v", p.Key)
	}
	for range 2 {
		must(t, f.RevokeKey(t.Context(), k.ID))
		want(ErrRevokedKey)
	}
	_, err = f.UpdateKey(t.Context(), k.ID, KeyPatch{Revoked: ptr(false)})
	wantError(t, err, ErrInvalid)
	want(ErrRevokedKey)
}

// TestNoStaleAnswerUnderLoad revokes keys while many look them up: an answer
// that is asked for after the revocation returned must know it.
func TestNoStaleAnswerUnderLoad(t *testing.T) {
	f := open(t)
	c, _, _ := f.customer(t, Limits{})
	for range 20 {
		k, secret, err := f.CreateKey(t.Context(), c.ID, KeySpec{Name: "x"})
		must(t, err)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						_, _ = f.Lookup(t.Context(), secret)
					}
				}
			})
		}
		must(t, f.RevokeKey(t.Context(), k.ID))
		for range 50 {
			_, err := f.Lookup(t.Context(), secret)
			wantError(t, err, ErrRevokedKey)
		}
		close(stop)
		wg.Wait()
	}
}

func TestAReadingFromBeforeAChangeIsNotRemembered(t *testing.T) {
	c := cache{entries: map[digest]Principal{}}
	d := digestOf("x")
	_, _, generation := c.get(d)
	c.empty() // the change, after the database was read
	c.put(d, Principal{}, generation)
	if _, found, _ := c.get(d); found {
		t.Error("remembered")
	}
}

func TestAnotherNodeSeesChangesAfterRefresh(t *testing.T) {
	f := open(t)
	c, _, secret := f.customer(t, Limits{})
	other := f.node()
	must(t, other.Refresh(t.Context()))
	_, err := other.Lookup(t.Context(), secret)
	must(t, err)
	must(t, other.Refresh(t.Context())) // nothing changed: what is cached stays
	if n := len(other.cache.entries); n != 1 {
		t.Errorf("%d entries", n)
	}
	_, err = f.UpdateCustomer(t.Context(), c.ID, CustomerPatch{Suspended: ptr(true)})
	must(t, err)
	must(t, other.Refresh(t.Context()))
	_, err = other.Lookup(t.Context(), secret)
	wantError(t, err, ErrSuspended)
}

func TestTheCacheIsBounded(t *testing.T) {
	f := open(t)
	_, _, secret := f.customer(t, Limits{})
	for range 2000 {
		_, err := f.Lookup(t.Context(), f.ids.Key())
		wantError(t, err, ErrUnknownKey)
	}
	if n := len(f.cache.entries); n != 0 {
		t.Errorf("%d entries of random keys", n)
	}
	for i := range cacheSize + 100 {
		f.cache.put(digestOf(fmt.Sprint(i)), Principal{}, f.cache.generation)
	}
	if n := len(f.cache.entries); n != cacheSize {
		t.Errorf("%d entries", n)
	}
	_, err := f.Lookup(t.Context(), secret)
	must(t, err)
}

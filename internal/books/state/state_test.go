package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// The suite runs on every database that the store supports.
func TestMain(m *testing.M) { storetest.Main(m) }

type fixture struct {
	*States
	db *store.DB
	at time.Time
}

func open(t *testing.T) *fixture {
	t.Helper()
	db := storetest.Open(t)
	f := &fixture{db: db, at: noon}
	f.States = New(db, func() time.Time { return f.at })
	return f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) remember(t *testing.T, customer string, entries ...Entry) {
	t.Helper()
	must(t, f.db.Write(t.Context(), func(tx *store.Tx) error { return f.Remember(tx, customer, entries, f.at) }))
}

// want looks an entry's id up and wants the entry, or nothing.
func (f *fixture) want(t *testing.T, customer string, e Entry, known bool) {
	t.Helper()
	got, ok, err := f.Lookup(t.Context(), customer, e.Kind, e.ID)
	must(t, err)
	if !known {
		e = Entry{}
	}
	if diff := cmp.Diff(e, got); diff != "" || ok != known {
		t.Errorf("known %v: %s", ok, diff)
	}
}

var (
	response = Entry{Kind: KindResponse, ID: "resp_1", Origin: "openai", Channel: "main", StoreOff: true, Tokens: 1234}
	item     = Entry{Kind: KindItem, ID: "resp_1", Origin: "azure", Channel: "eu"} // the same id, another kind
)

func TestAnIDBelongsToItsCustomer(t *testing.T) {
	f := open(t)
	f.remember(t, "cus_1", response, item, Entry{Kind: KindAudio})
	f.want(t, "cus_1", response, true)
	f.want(t, "cus_1", item, true)
	f.want(t, "cus_2", response, false)
	f.want(t, "cus_1", Entry{Kind: KindAudio}, false)
	f.want(t, "cus_1", Entry{Kind: KindContainer, ID: "resp_1"}, false)
	f.want(t, "cus_1", Entry{Kind: KindResponse, ID: "resp_"}, false)
	err := f.db.Write(t.Context(), func(tx *store.Tx) error { return f.Remember(tx, "", []Entry{item}, noon) })
	if err == nil {
		t.Error("remembered for nobody")
	}
}

func TestTheSameIDForTwoCustomers(t *testing.T) {
	f := open(t)
	other := response
	other.Origin = "azure"
	f.remember(t, "cus_1", response)
	f.remember(t, "cus_2", other)
	f.want(t, "cus_1", response, true)
	f.want(t, "cus_2", other, true)
}

func TestTheLastEntryOfAnIDCounts(t *testing.T) {
	f := open(t)
	later := response
	later.Tokens = 99
	f.remember(t, "cus_1", response, later)
	f.want(t, "cus_1", later, true)
	f.at = f.at.Add(Lifetime - time.Millisecond)
	f.remember(t, "cus_1", response)
	f.at = f.at.Add(Lifetime - time.Millisecond) // lives anew
	f.want(t, "cus_1", response, true)
}

func TestExpiry(t *testing.T) {
	f := open(t)
	f.remember(t, "cus_1", response)
	f.at = noon.Add(time.Hour)
	f.remember(t, "cus_1", item)
	f.at = noon.Add(Lifetime - time.Millisecond)
	f.want(t, "cus_1", response, true)
	f.at = noon.Add(Lifetime)
	f.want(t, "cus_1", response, false)
	n, err := f.Expire(t.Context())
	must(t, err)
	if n != 1 {
		t.Errorf("%d expired", n)
	}
	f.want(t, "cus_1", item, true)
}

func TestExpireInSteps(t *testing.T) {
	f := open(t)
	var entries []Entry
	for i := range expireStep + 10 {
		entries = append(entries, Entry{Kind: KindSealed, ID: fmt.Sprint(i), Origin: "o", Channel: "c"})
	}
	f.remember(t, "cus_1", entries...)
	f.at = noon.Add(Lifetime)
	n, err := f.Expire(t.Context())
	must(t, err)
	if n != len(entries) {
		t.Errorf("%d expired", n)
	}
}

func TestForget(t *testing.T) {
	f := open(t)
	f.remember(t, "cus_1", response, item)
	must(t, f.db.Write(t.Context(), func(tx *store.Tx) error { return f.Forget(tx, "cus_2", KindResponse, "resp_1") }))
	f.want(t, "cus_1", response, true)
	must(t, f.db.Write(t.Context(), func(tx *store.Tx) error { return f.Forget(tx, "cus_1", KindResponse, "resp_1") }))
	f.want(t, "cus_1", response, false)
	f.want(t, "cus_1", item, true)
}

func TestLookupAll(t *testing.T) {
	f := open(t)
	var (
		entries []Entry
		refs    []Ref
	)
	want := map[Ref]Entry{}
	for i := range 3*64 + 1 {
		e := Entry{Kind: KindSealed, ID: fmt.Sprint(i), Origin: fmt.Sprint("o", i), Channel: "c"}
		refs = append(refs, Ref{e.Kind, e.ID})
		if i%3 != 0 {
			entries = append(entries, e)
			want[Ref{e.Kind, e.ID}] = e
		}
	}
	f.remember(t, "cus_1", entries...)
	got, err := f.LookupAll(t.Context(), "cus_1", refs)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	most := make([]Ref, MaxLookup)
	for i := range most {
		most[i] = Ref{KindSealed, fmt.Sprint(i)}
	}
	got, err = f.LookupAll(t.Context(), "cus_1", most)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := f.LookupAll(t.Context(), "cus_1", append(most, Ref{KindItem, "x"})); err == nil {
		t.Error("more than one query holds was looked up")
	}
	got, err = f.LookupAll(t.Context(), "cus_1", nil)
	must(t, err)
	if len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestHashKeepsPartsApart(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct{ customer, kind, id string }{
		{"a", "b", "c"}, {"ab", "", "c"}, {"a", "bc", ""}, {"", "ab", "c"}, {"a1:b", "", "c"}, {"a", "1:bc", ""},
	} {
		h := hash(c.customer, Ref{Kind(c.kind), c.id})
		if len(h) != 16 || seen[string(h)] {
			t.Errorf("%v: %x", c, h)
		}
		seen[string(h)] = true
	}
}

package account

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCustomersArePaged(t *testing.T) {
	f := open(t)
	var want []Customer
	for _, name := range []string{"a", " b ", "c", "d", "e"} {
		c, err := f.CreateCustomer(t.Context(), name)
		must(t, err)
		if c.Name != strings.TrimSpace(name) || !strings.HasPrefix(c.ID, "cus_") {
			t.Errorf("got %+v", c)
		}
		want = append(want, c)
	}
	var got []Customer
	cursor := ""
	for {
		list, next, err := f.Customers(t.Context(), cursor, 2)
		must(t, err)
		got = append(got, list...)
		if cursor = next; next == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	one, err := f.Customer(t.Context(), want[3].ID)
	must(t, err)
	if diff := cmp.Diff(want[3], one); diff != "" {
		t.Error(diff)
	}
}

func TestKeysOfACustomer(t *testing.T) {
	f := open(t)
	c, first, _ := f.customer(t, Limits{})
	second, _, err := f.CreateKey(t.Context(), c.ID, KeySpec{Name: "b", Limits: Limits{Budget: &Budget{}, Models: []string{}}})
	must(t, err)
	f.customer(t, Limits{}) // somebody else's
	must(t, f.RevokeKey(t.Context(), first.ID))
	first.Revoked = true
	list, err := f.Keys(t.Context(), c.ID)
	must(t, err)
	if diff := cmp.Diff([]Key{first, second}, list); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(second)
	must(t, err)
	want := `{"id":"` + second.ID + `","customer":"` + c.ID + `","name":"b","revoked":false,"created_at":"2026-03-01T12:00:00Z"}`
	if string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

func TestUpdateKeySetsAndRemoves(t *testing.T) {
	f := open(t)
	all := Limits{Models: []string{"m"}, RPM: 1, TPM: 2, Concurrency: 3, Delivery: "stream",
		Budget: &Budget{Amount: 1, Period: PeriodDay}, ExpiresAt: ptr(noon.Add(time.Hour))}
	_, k, _ := f.customer(t, Limits{})
	got, err := f.UpdateKey(t.Context(), k.ID, KeyPatch{
		Name: ptr("new"), Models: &all.Models, RPM: &all.RPM, TPM: &all.TPM, Concurrency: &all.Concurrency,
		Delivery: &all.Delivery, Budget: all.Budget, ExpiresAt: all.ExpiresAt,
	})
	must(t, err)
	want := k
	want.Name, want.Limits = "new", all
	stored, err := f.Key(t.Context(), k.ID)
	must(t, err)
	if diff := cmp.Diff([]Key{want, want}, []Key{got, stored}); diff != "" {
		t.Error(diff)
	}
	_, err = f.UpdateKey(t.Context(), k.ID, KeyPatch{Name: ptr("newer")})
	must(t, err)
	want.Name = "newer"
	stored, err = f.Key(t.Context(), k.ID)
	must(t, err)
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("changing one field: %s", diff)
	}
	_, err = f.UpdateKey(t.Context(), k.ID, KeyPatch{
		Models: &[]string{}, RPM: ptr(int64(0)), TPM: ptr(int64(0)), Concurrency: ptr(int64(0)), Delivery: ptr(""),
		Budget: &Budget{}, ExpiresAt: &time.Time{},
	})
	must(t, err)
	want.Limits = Limits{}
	stored, err = f.Key(t.Context(), k.ID)
	must(t, err)
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("removing all: %s", diff)
	}
}

func TestWhatIsRefused(t *testing.T) {
	f := open(t)
	c, k, _ := f.customer(t, Limits{})
	_, err := f.CreateCustomer(t.Context(), "  ")
	wantError(t, err, ErrInvalid)
	_, err = f.CreateCustomer(t.Context(), strings.Repeat("x", maxName+1))
	wantError(t, err, ErrInvalid)
	_, err = f.UpdateCustomer(t.Context(), c.ID, CustomerPatch{Name: ptr("")})
	wantError(t, err, ErrInvalid)
	for _, l := range []Limits{
		{RPM: -1}, {TPM: -1}, {Concurrency: -1}, {Models: []string{"m", ""}}, {Delivery: "pigeon"},
		{Budget: &Budget{Amount: 1}}, {Budget: &Budget{Amount: -1, Period: PeriodDay}}, {Budget: &Budget{Amount: 1, Period: "hour"}},
	} {
		_, _, err := f.CreateKey(t.Context(), c.ID, KeySpec{Name: "x", Limits: l})
		wantError(t, err, ErrInvalid)
	}
	_, err = f.UpdateKey(t.Context(), k.ID, KeyPatch{Delivery: ptr("pigeon")})
	wantError(t, err, ErrInvalid)
	_, _, err = f.CreateKey(t.Context(), "cus_none", KeySpec{Name: "x"})
	wantError(t, err, ErrNotFound)
	_, err = f.Customer(t.Context(), "cus_none")
	wantError(t, err, ErrNotFound)
	_, err = f.UpdateCustomer(t.Context(), "cus_none", CustomerPatch{})
	wantError(t, err, ErrNotFound)
	_, err = f.Keys(t.Context(), "cus_none")
	wantError(t, err, ErrNotFound)
	_, err = f.Key(t.Context(), "key_none")
	wantError(t, err, ErrNotFound)
	_, err = f.UpdateKey(t.Context(), "key_none", KeyPatch{})
	wantError(t, err, ErrNotFound)
	wantError(t, f.RevokeKey(t.Context(), "key_none"), ErrNotFound)
}

package versions

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/money"
	"rubicon/internal/money/price"
	"rubicon/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func TestBook(t *testing.T) {
	ctx := t.Context()
	db := storetest.Open(t)
	now := time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC)
	b := New(db, func() time.Time { return now })
	cached, half := money.Nano(125), mustFactor(t, "0.5")
	old := price.List{Input: 1, Output: 2, CachedInput: &cached, Tools: map[string]money.Nano{"x": 3}, Tiers: map[string]money.Factor{"flex": half}}
	if err := b.Note(ctx, []price.List{old, old}); err != nil {
		t.Fatal(err)
	}
	first := now
	now = now.Add(time.Hour)
	raised := old
	raised.Output = 3
	if err := b.Note(ctx, []price.List{old, raised, {}}); err != nil {
		t.Fatal(err)
	}
	got, err := b.Get(ctx, old.Version())
	if err != nil {
		t.Fatal(err)
	}
	compare := cmp.Comparer(func(a, b money.Factor) bool { return a.Equal(b) })
	if diff := cmp.Diff(PriceList{old.Version(), old, first}, got, compare); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.List.Version() != got.Version {
		t.Errorf("a list read back has version %s, not %s", got.List.Version(), got.Version)
	}
	all, err := b.List(ctx, 10)
	if err != nil || len(all) != 3 || all[2].Version != old.Version() || !all[0].FirstUsedAt.Equal(now) {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := b.Get(ctx, "none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an unknown version: %v", err)
	}
	if lists, err := b.All(ctx); err != nil || len(lists) != 3 || lists[raised.Version()].Output != 3 {
		t.Errorf("%+v, %v", lists, err)
	}
	if err := b.Note(ctx, nil); err != nil {
		t.Error(err)
	}
}

func mustFactor(t *testing.T, s string) money.Factor {
	t.Helper()
	f, err := money.ParseFactor(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

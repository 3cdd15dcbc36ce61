package store

import (
	"errors"
	"testing"
	"time"
)

// TestAnOutageIsOverForAll: what the writers know of a database that is back,
// the readers learn, and the other way round; that one of them was never
// refused tells the other nothing.
func TestAnOutageIsOverForAll(t *testing.T) {
	const patience = 2 * time.Second
	start := time.Unix(1000, 0)
	away := errors.New("away")
	var a, b outage
	a, b = outage{patience: patience, other: &b}, outage{patience: patience, other: &a}
	for _, o := range []*outage{&a, &b} {
		o.failed(start, away)
		if !o.failed(start.Add(patience), away) {
			t.Fatal("patience has no end")
		}
	}
	now := start.Add(patience + time.Millisecond)
	for _, o := range []*outage{&a, &b} {
		if err := o.refuses(now); !errors.Is(err, ErrUnavailable) {
			t.Fatalf("a database that was just away is tried again at once: %v", err)
		}
	}
	a.over()
	for _, o := range []*outage{&a, &b} {
		if err := o.refuses(now); err != nil {
			t.Errorf("the database is back, and still: %v", err)
		}
	}
	// b finds it away all the same, which a's next success must not hide.
	b.failed(now, away)
	a.over()
	if err := b.refuses(now); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a hanging half is tried by everyone: %v", err)
	}
}

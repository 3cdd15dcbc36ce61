package turn

import (
	"slices"
	"testing"
	"time"
)

func TestRepeats(t *testing.T) {
	var r repeats
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	body, session := r.sign("body", "cus_1", []byte("x")), r.sign("session", "cus_1", []byte("x"))
	if body == session || body == r.sign("body", "cus_2", []byte("x")) || body != r.sign("body", "cus_1", []byte("x")) {
		t.Error("a sign is of its kind, its customer and what it is made of")
	}
	want := func(when time.Duration, signs []uint64, hosts ...string) {
		t.Helper()
		if got := r.failed(signs, now.Add(when)); !slices.Equal(got, hosts) {
			t.Errorf("after %s: %v, want %v", when, got, hosts)
		}
	}
	both := []uint64{body, session}
	want(0, both)
	r.note(both, "a", now)
	r.note([]uint64{session}, "b", now.Add(30*time.Second))
	want(59*time.Second, []uint64{body}, "a")
	want(59*time.Second, both, "a", "b")
	want(time.Minute, both, "b")
	r.note([]uint64{session}, "b", now.Add(80*time.Second))
	want(100*time.Second, both, "b") // a failure that is noted again counts from then on
	want(140*time.Second, both)
}

// TestRepeatsAreBounded: in what is kept, and in how long.
func TestRepeatsAreBounded(t *testing.T) {
	var r repeats
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range uint64(3 * maxRepeats) {
		r.note([]uint64{i, 7}, "a", now.Add(time.Duration(i)*time.Millisecond))
		if len(r.hosts) > maxRepeats || len(r.oldest) > maxRepeats {
			t.Fatalf("%d signs and %d notes are kept", len(r.hosts), len(r.oldest))
		}
	}
	last := now.Add(3 * maxRepeats * time.Millisecond)
	if len(r.failed([]uint64{3*maxRepeats - 1}, last)) != 1 || len(r.failed([]uint64{7}, last)) != 1 {
		t.Error("the newest is forgotten")
	}
	r.note([]uint64{1}, "a", now.Add(time.Hour))
	if len(r.hosts) != 1 || len(r.oldest) != 1 {
		t.Errorf("an hour later %d signs and %d notes are kept", len(r.hosts), len(r.oldest))
	}
}

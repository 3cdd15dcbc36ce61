package ident

import (
	"bytes"
	"crypto/rand"
	"math"
	mathrand "math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func at(ms int64) func() time.Time {
	return func() time.Time { return time.UnixMilli(ms) }
}

func TestIDShape(t *testing.T) {
	shape := regexp.MustCompile(`^req_[0-9abcdefghjkmnpqrstvwxyz]{26}$`)
	s := New(rand.Reader, time.Now)
	for range 1000 {
		if id := s.ID("req"); !shape.MatchString(id) {
			t.Fatalf("got %q", id)
		}
	}
}

func TestIDTellsTheTime(t *testing.T) {
	zeros := New(bytes.NewReader(make([]byte, 1000)), at(1))
	if got, want := zeros.ID("x"), "x_0000000001"+strings.Repeat("0", 16); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	zeros.now = at(1<<48 - 1)
	if got, want := zeros.ID("x"), "x_7zzzzzzzzz"+strings.Repeat("0", 16); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestIDsSortInTheOrderTheyWereMade(t *testing.T) {
	var now int64 = 1_800_000_000_000
	s := New(rand.Reader, func() time.Time { return time.UnixMilli(now) })
	var ids []string
	for i := range 10_000 {
		switch i % 100 {
		case 50:
			now++
		case 70:
			now -= 3 // a clock that steps back
		case 90:
			now += 3
		}
		ids = append(ids, s.ID("tx"))
	}
	if !slices.IsSorted(ids) {
		t.Error("not sorted")
	}
	if n := len(slices.Compact(ids)); n != 10_000 {
		t.Errorf("%d different ones", n)
	}
}

func TestIncrementOverflowsIntoTheNextMillisecond(t *testing.T) {
	s := New(rand.Reader, at(5))
	first := s.ID("x")
	for i := range s.random {
		s.random[i] = 31
	}
	second := s.ID("x")
	if second <= first || s.last != 6 {
		t.Errorf("%s after %s, millisecond %d", second, first, s.last)
	}
}

func TestSeededIsDeterministic(t *testing.T) {
	source := func() *Source { return New(mathrand.NewChaCha8([32]byte{7}), at(1000)) }
	a, b := source(), source()
	for range 100 {
		if x, y := a.ID("req"), b.ID("req"); x != y {
			t.Fatalf("%s and %s", x, y)
		}
		if x, y := a.Key(), b.Key(); x != y {
			t.Fatal("different keys")
		}
	}
}

func TestConcurrentIDsAreUnique(t *testing.T) {
	s := New(rand.Reader, at(1))
	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		seen = map[string]bool{}
	)
	for range 8 {
		wg.Go(func() {
			for range 500 {
				id := s.ID("x")
				mu.Lock()
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 8*500 {
		t.Errorf("%d different ones", len(seen))
	}
}

func TestKeysAreEvenlyRandom(t *testing.T) {
	shape := regexp.MustCompile(`^rk-[0-9A-Za-z]{43}$`)
	s := New(mathrand.NewChaCha8([32]byte{1}), time.Now)
	counts := map[rune]int{}
	const keys = 2000
	for range keys {
		key := s.Key()
		if !shape.MatchString(key) {
			t.Fatalf("got %d characters of another shape", len(key))
		}
		for _, c := range key[len(KeyPrefix):] {
			counts[c]++
		}
	}
	expected := float64(keys*keyDigits) / 62
	for c, n := range counts {
		if math.Abs(float64(n)-expected) > 6*math.Sqrt(expected) {
			t.Errorf("%c occurs %d times, expected about %.0f", c, n, expected)
		}
	}
}

func TestNoRandomnessNoID(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("went on without randomness")
		}
	}()
	New(bytes.NewReader(nil), time.Now).ID("x")
}

func TestFirst(t *testing.T) {
	at := time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC)
	now := at.Add(-time.Millisecond)
	s := New(rand.Reader, func() time.Time { return now })
	before := s.ID("tx")
	now = at
	after := s.ID("tx")
	first := First("tx", at)
	if !(before < first && first <= after) || len(first) != len(after) {
		t.Errorf("%s, %s, %s", before, first, after)
	}
	if First("tx", time.Time{}) >= before {
		t.Error("a moment before all")
	}
}

// Package ident makes the ids and the secret keys of Rubicon.
//
// It is for names that Rubicon itself hands out: req_…, cus_…, key_…, tx_… and
// the secrets rk-…. It is not for ids that an upstream made.
//
// Invariant: the ids of one Source are unique and sort in the order in which
// they were made, also inside one millisecond and when the clock steps back.
package ident

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// crockford is Crockford's base 32 in lower case. Its characters are in
// ascending byte order, so that text sorts as the number does.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

const (
	timeDigits   = 10 // 48 bits of milliseconds
	randomDigits = 16 // 80 bits
)

// Source makes ids and keys. It is safe for concurrent use.
type Source struct {
	now func() time.Time

	mu     sync.Mutex
	rand   io.Reader
	last   int64
	random [randomDigits]byte // values 0–31, most significant first
}

// New makes a Source. With a seeded reader and a fixed clock the ids are
// deterministic; in production rand is crypto/rand.Reader.
func New(rand io.Reader, now func() time.Time) *Source {
	return &Source{rand: rand, now: now}
}

// ID returns prefix, an underscore and 26 characters: 10 that tell the
// millisecond and 16 random ones. It panics if the reader fails, because
// without randomness nothing may go on.
func (s *Source) ID(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step()
	out := make([]byte, 0, len(prefix)+1+timeDigits+randomDigits)
	out = append(out, prefix...)
	out = append(out, '_')
	for i := timeDigits - 1; i >= 0; i-- {
		out = append(out, crockford[s.last>>(5*i)&31])
	}
	for _, digit := range s.random {
		out = append(out, crockford[digit])
	}
	return string(out)
}

// step moves on to the next id: fresh randomness in a new millisecond,
// otherwise the last id plus one.
func (s *Source) step() {
	now := s.now().UnixMilli()
	if now <= s.last {
		// The same millisecond, or a clock that went back: keep the order.
		if s.increment() {
			return
		}
		now = s.last + 1
	}
	s.last = now
	s.draw(s.random[:])
	for i := range s.random {
		s.random[i] &= 31
	}
	// Half of the range stays free for increments inside this millisecond.
	s.random[0] &= 15
}

func (s *Source) increment() bool {
	for i := randomDigits - 1; i >= 0; i-- {
		if s.random[i] < 31 {
			s.random[i]++
			return true
		}
		s.random[i] = 0
	}
	return false
}

func (s *Source) draw(into []byte) {
	if _, err := io.ReadFull(s.rand, into); err != nil {
		panic(fmt.Sprintf("ident: reading randomness: %v", err))
	}
}

// First is the smallest id that a Source can make at a moment or later, unless
// its clock stepped back.
func First(prefix string, at time.Time) string {
	ms := max(at.UnixMilli(), 0)
	out := append([]byte(prefix), '_')
	for i := timeDigits - 1; i >= 0; i-- {
		out = append(out, crockford[ms>>(5*i)&31])
	}
	for range randomDigits {
		out = append(out, crockford[0])
	}
	return string(out)
}

package protocol

import (
	"crypto/sha256"
	"encoding/hex"

	"rubicon/internal/jsonscan"
)

// Seal names a sealed item (encrypted reasoning, a thinking signature) by its
// sealed field's text, so that the field itself is kept nowhere.
func Seal(field string) string {
	sum := sha256.Sum256([]byte(field))
	return hex.EncodeToString(sum[:])
}

// An answer that carries more state, or more kinds of hosted calls, than these
// is not remembered further: what an upstream sends must not grow without bound.
const (
	maxState  = 4096
	maxHosted = 64
	maxName   = 64 // bytes of a hosted call's name
)

// Remember adds a piece of state once.
func (s *Seen) Remember(kind, id string) {
	for _, have := range s.State {
		if have.Kind == kind && have.ID == id {
			return
		}
	}
	if len(s.State) < maxState {
		s.State = append(s.State, StateID{Kind: kind, ID: id})
	}
}

// Call counts hosted calls: a provider's count of its own is cumulative, so the
// largest holds.
func (s *Seen) Call(name string, n int64) {
	have, known := s.Hosted[name]
	if n <= have || !known && (len(s.Hosted) >= maxHosted || len(name) > maxName) {
		return
	}
	if s.Hosted == nil {
		s.Hosted = map[string]int64{}
	}
	s.Hosted[name] = n
}

// countLimit keeps sums of counts far from overflow; price calls anything above
// 2³¹ an anomaly long before.
const countLimit = 1 << 40

// Count reads a provider's number of tokens or calls; false if raw is no
// number. What no count can be (a fraction, a number beyond int64) comes back
// as -1, which price takes for an anomaly rather than for nothing.
func Count(raw []byte) (int64, bool) {
	if jsonscan.KindOf(raw) != jsonscan.KindNumber {
		return 0, false
	}
	n, ok := jsonscan.Int(raw)
	if !ok {
		return -1, true
	}
	return min(max(n, -countLimit), countLimit), true
}

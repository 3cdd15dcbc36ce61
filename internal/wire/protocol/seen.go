package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"rubicon/internal/wire/jsonscan"
)

// Seal names a sealed item (encrypted reasoning, a thinking signature) by its
// sealed field's text, so that the field itself is kept nowhere.
func Seal(field string) string {
	sum := sha256.Sum256([]byte(field))
	return hex.EncodeToString(sum[:])
}

// maxState bounds how much state an answer may carry that is remembered: what an
// upstream sends must not grow without bound.
const maxState = 4096

// Remember adds a piece of state once.
func (s *Observed) Remember(kind, id string) {
	for _, have := range s.State {
		if have.Kind == kind && have.ID == id {
			return
		}
	}
	if len(s.State) < maxState {
		s.State = append(s.State, StateID{Kind: kind, ID: id})
	}
}

// Wrote counts text, reasoning, refusals and arguments of the answer, in bytes.
func (s *Observed) Wrote(bytes int64) {
	s.TextBytes += bytes
	s.Content = s.Content || bytes > 0
}

// countLimit keeps sums of counts far from overflow; price calls anything above
// 2³¹ an anomaly long before.
const countLimit = 1 << 40

// Count reads a provider's number of tokens or calls, written as a number or as
// a text; false if there is none: absent or null. What no count can be (a
// fraction, a number beyond int64, true, a word) comes back as -1, which price
// takes for an anomaly rather than for nothing.
func Count(raw []byte) (int64, bool) {
	switch jsonscan.KindOf(raw) {
	case jsonscan.KindInvalid, jsonscan.KindNull:
		return 0, false
	case jsonscan.KindString:
		text, _ := jsonscan.Text(raw)
		raw = []byte(strings.TrimSpace(text))
	}
	n, ok := jsonscan.Int(raw)
	if !ok {
		return -1, true
	}
	return min(max(n, -countLimit), countLimit), true
}

package config

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// hidden is what every printer gets to see instead of a secret.
const hidden = "…"

// Secret is a string that no printer, logger or encoder shows. The zero value
// is an empty secret; it prints the same, so that prints do not tell.
//
// The value is behind a pointer because fmt calls no methods on what it reaches
// through unexported fields or while it complains about a verb: there it then
// prints an address.
type Secret struct {
	_     [0]func() // not comparable: == would compare the pointers
	value *string
}

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value: &value} }

// Reveal returns the value. Calls of it are the places to look at in a review.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// Empty reports whether there is no value.
func (s Secret) Empty() bool { return s.Reveal() == "" }

// Equal reports whether both hold the same value; for tests and reload, not for
// checking a client's token (it is not constant in time).
func (s Secret) Equal(t Secret) bool { return s.Reveal() == t.Reveal() }

// String hides the value.
func (s Secret) String() string { return hidden }

// GoString hides the value from %#v.
func (s Secret) GoString() string { return hidden }

// Format hides the value from every verb, %x and %d included.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalJSON hides the value.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(hidden) }

// MarshalText hides the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue hides the value.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// SecretMap is a map[string]string whose values no printer shows; the keys it
// does. Range over it and index it like any map. Unlike a Secret it cannot keep
// fmt from printing it as an unexported field: keep the *Channel instead.
type SecretMap map[string]string

// String shows the keys only.
func (m SecretMap) String() string {
	return "{" + strings.Join(slices.Sorted(maps.Keys(m)), ", ") + "}"
}

// GoString shows the keys only.
func (m SecretMap) GoString() string { return m.String() }

// Format shows the keys only, whatever the verb.
func (m SecretMap) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, m.String()) }

// MarshalJSON writes the keys with hidden values.
func (m SecretMap) MarshalJSON() ([]byte, error) {
	shown := make(map[string]string, len(m))
	for k := range m {
		shown[k] = hidden
	}
	return json.Marshal(shown)
}

// LogValue shows the keys only.
func (m SecretMap) LogValue() slog.Value { return slog.StringValue(m.String()) }

package jsonscan

// MaxDepth is how deep arrays and objects may nest; deeper documents are invalid. It bounds the stack.
const MaxDepth = 1000

// Kind is the type of a JSON value.
type Kind uint8

// The kinds. KindInvalid is what no JSON value starts like.
const (
	KindInvalid Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// KindOf tells the kind of a value by its first byte; it does not check the rest. Leading white space is skipped.
func KindOf(raw []byte) Kind { panic("todo") }

// Valid reports whether b is one JSON value with nothing but white space around it.
func Valid(b []byte) bool { panic("todo") }

// Members walks the members of an object: m := Object(b); for m.Next() { m.Key(); m.Value() }; m.Err().
type Members struct{}

// Object starts a walk over the members of the object b.
func Object(b []byte) Members { panic("todo") }

// Next moves to the next member. It returns false at the end and at the first error.
func (m *Members) Next() bool { panic("todo") }

// Key returns the current key with its escapes resolved. It aliases the input unless it holds escapes.
func (m *Members) Key() []byte { panic("todo") }

// Value returns the current value, raw and fully checked, without surrounding white space. It aliases the input.
func (m *Members) Value() []byte { panic("todo") }

// Span gives offsets into the input: of the key's opening quote, of the value's first byte and behind its last.
func (m *Members) Span() (keyStart, valueStart, valueEnd int) { panic("todo") }

// Err is nil only after Next returned false at a clean end with nothing but white space behind it.
func (m *Members) Err() error { panic("todo") }

// Elements walks the elements of an array, as Members does for objects.
type Elements struct{}

// Array starts a walk over the elements of the array b.
func Array(b []byte) Elements { panic("todo") }

// Next moves to the next element. It returns false at the end and at the first error.
func (e *Elements) Next() bool { panic("todo") }

// Value returns the current element, raw and fully checked. It aliases the input.
func (e *Elements) Value() []byte { panic("todo") }

// Err is nil only after Next returned false at a clean end with nothing but white space behind it.
func (e *Elements) Err() error { panic("todo") }

// Text decodes a raw JSON string as encoding/json does; false if raw is no JSON string.
func Text(raw []byte) (string, bool) { panic("todo") }

// AppendText appends the decoded string to dst; false, with dst unchanged, if raw is no JSON string.
func AppendText(dst, raw []byte) ([]byte, bool) { panic("todo") }

// Equal reports whether raw is a JSON string that decodes to s. It does not allocate.
func Equal(raw []byte, s string) bool { panic("todo") }

// TextLen is the number of UTF-8 bytes of the decoded string, 0 if raw is no JSON string. It does not allocate.
func TextLen(raw []byte) int { panic("todo") }

// Int reads an integer. Forms like 1e3 and 10.0 count if they are exactly integral; false if raw is no such number or
// does not fit.
func Int(raw []byte) (int64, bool) { panic("todo") }

// Bool reads true or false; ok is false if raw is neither.
func Bool(raw []byte) (value, ok bool) { panic("todo") }

// Get returns the first value at a path of object keys, nil if there is none. The value is checked, what follows it is not.
func Get(b []byte, path ...string) []byte { panic("todo") }

// Edit is one change to a top-level member. A nil Value deletes the member.
type Edit struct {
	Key   string
	Value []byte
}

// Set returns body with top-level members replaced in place, absent ones added as first members, in the order of edits,
// and all other bytes untouched. Every occurrence of an edited key is changed. Of two edits of one key the last counts.
// body must be a valid object and each value valid JSON, else an error.
func Set(body []byte, edits ...Edit) ([]byte, error) { panic("todo") }

// AppendString appends s as a JSON string literal. Invalid UTF-8 becomes U+FFFD; HTML characters are not escaped.
func AppendString(dst []byte, s string) []byte { panic("todo") }

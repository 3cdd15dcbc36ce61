package responses

import "rubicon/internal/wire/jsonscan"

// pieces are the members of output events that hold a piece of the answer.
var pieces = [...]string{"delta", "text", "refusal", "arguments", "input", "code", "transcript", "partial_image_b64"}

// carries reports whether an output event carries a byte of content outside of an
// item, of whatever type it is.
func carries(data []byte) bool {
	m := jsonscan.Object(data)
	for m.Next() {
		v := m.Value()
		if string(m.Key()) == "part" {
			var it item
			if it.part(v); it.text > 0 {
				return true
			}
		}
		for _, name := range pieces {
			if name == string(m.Key()) && !jsonscan.Empty(v) {
				return true
			}
		}
	}
	return false
}

package responses

import (
	"bytes"
	"errors"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// envelope is the members of an event that are read, raw. What is absent or
// null is nil; of repeated members the last counts, as it does for clients.
type envelope struct {
	typ, sequence, index, delta, item, part, response, failure, usage []byte
}

// read checks data as a whole and takes out the members, in one pass. object is
// false for JSON of another kind; ErrNotProtocol means that it is no JSON.
func (e *envelope) read(data []byte) (object bool, err error) {
	m := jsonscan.Object(data)
	for m.Next() {
		if at := e.member(m.Key()); at != nil {
			*at = present(m.Value())
		}
	}
	switch err := m.Err(); {
	case err == nil:
		return true, nil
	case errors.Is(err, jsonscan.ErrNotObject):
		return false, nil
	}
	return false, protocol.ErrNotProtocol
}

func (e *envelope) member(key []byte) *[]byte {
	switch string(key) {
	case "type":
		return &e.typ
	case "sequence_number":
		return &e.sequence
	case "output_index":
		return &e.index
	case "delta":
		return &e.delta
	case "item":
		return &e.item
	case "part":
		return &e.part
	case "response":
		return &e.response
	case "error":
		return &e.failure
	case "usage":
		return &e.usage
	}
	return nil
}

// typeName is the event's type; an odd one that is no string stands for itself,
// so that it is a type all the same. It allocates only for a type with escapes.
func (e *envelope) typeName() []byte {
	switch {
	case jsonscan.KindOf(e.typ) != jsonscan.KindString:
		return e.typ
	case bytes.IndexByte(e.typ, '\\') >= 0:
		return []byte(str(e.typ))
	}
	return e.typ[1 : len(e.typ)-1]
}

// present is v, or nil when v is null.
func present(v []byte) []byte {
	if jsonscan.KindOf(v) == jsonscan.KindNull {
		return nil
	}
	return v
}

// str is a raw string's text, "" if raw is none.
func str(raw []byte) string {
	s, _ := jsonscan.Text(raw)
	return s
}

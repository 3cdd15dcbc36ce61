package messages

import (
	"bytes"

	"rubicon/internal/wire/jsonscan"
)

// event is the top level of one event: raw values that alias the record, nil
// where absent or null.
type event struct {
	data    []byte
	typ     []byte
	message []byte
	block   []byte
	delta   []byte
	usage   []byte
	err     []byte
}

// split walks data once, in full: whatever it returns nil for is valid JSON.
func (e *event) split(data []byte) error {
	e.data = data
	m := jsonscan.Object(data)
	for m.Next() {
		v := m.Value()
		if v[0] == 'n' {
			continue
		}
		switch string(m.Key()) {
		case "type":
			e.typ = v
		case "message":
			e.message = v
		case "content_block":
			e.block = v
		case "delta":
			e.delta = v
		case "usage":
			e.usage = v
		case "error":
			e.err = v
		}
	}
	return m.Err()
}

// eventTypes are the types of events; a string of the table stands for one that was
// read, so that reading it allocates nothing.
var eventTypes = [...]string{
	"content_block_delta", "content_block_start", "content_block_stop", "ping",
	"message_start", "message_delta", "message_stop", "error", "vertex_event",
}

// name is the event's type: of the JSON, else the event's name.
func (e *event) name(name []byte) string {
	typ := name
	if body, ok := plain(e.typ); ok {
		typ = body
	} else if s, _ := jsonscan.Text(e.typ); s != "" {
		return s
	}
	for _, k := range eventTypes {
		if k == string(typ) {
			return k
		}
	}
	if string(typ) == "message" { // what SSE calls an event without a name
		return ""
	}
	return string(typ)
}

// plain is what stands between the quotes of a string with something in it and
// without escapes.
func plain(raw []byte) ([]byte, bool) {
	if len(raw) < 3 || raw[0] != '"' || bytes.IndexByte(raw, '\\') >= 0 {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

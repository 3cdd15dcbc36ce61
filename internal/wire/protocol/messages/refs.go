package messages

import (
	"bytes"
	"strconv"

	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// What a request names of upstream state stands in its content blocks. Keys are
// compared without case and every occurrence of a key counts: whichever one a
// provider reads, no id travels up unseen. A tool's input is the client's own
// and is not looked into.

// maxNesting is how deep content inside content is followed.
const maxNesting = 8

// attachments are the types of blocks that count as one.
var attachments = [...]string{"image", "document", "container_upload"}

// sealedIn says which member of which block is sealed for the account that made
// it.
var sealedIn = [...]struct{ typ, member string }{
	{"thinking", "signature"},
	{"redacted_thinking", "data"},
	{"compaction", "encrypted_content"},
}

// refs collects what a request names.
type refs struct {
	r   *protocol.Request
	bad *fault.Error
}

func (r *refs) container(raw []byte) {
	if raw == nil {
		return
	}
	if raw[0] == '"' {
		r.ref(protocol.KindContainer, raw, "container")
		return
	}
	m := jsonscan.Object(raw)
	for m.Next() {
		if is(m.Key(), "id") {
			r.ref(protocol.KindContainer, m.Value(), "container.id")
		}
	}
}

func (r *refs) messages(raw []byte) {
	el := jsonscan.Array(raw)
	for i := 0; el.Next(); i++ {
		m := jsonscan.Object(el.Value())
		for m.Next() {
			if is(m.Key(), "content") {
				r.content(m.Value(), "messages["+strconv.Itoa(i)+"].content", maxNesting)
			}
		}
	}
}

// content reads a list of blocks, or one. What nests too deep to be read may
// not travel up.
func (r *refs) content(raw []byte, at string, depth int) {
	switch {
	case raw == nil || raw[0] != '{' && raw[0] != '[':
	case depth == 0:
		r.bad = fault.New(fault.InvalidRequest, "The content is nested too deep.").WithParam(at)
	case raw[0] == '{':
		r.block(raw, at, depth)
	case raw[0] == '[':
		el := jsonscan.Array(raw)
		for i := 0; el.Next(); i++ {
			if el.Value()[0] == '{' {
				r.block(el.Value(), at+"["+strconv.Itoa(i)+"]", depth)
			}
		}
	}
}

func (r *refs) block(raw []byte, at string, depth int) {
	types := typesOf(raw)
	attached := false
	m := jsonscan.Object(raw)
	for m.Next() {
		key, v := m.Key(), m.Value()
		switch {
		case is(key, "source"):
			attached = r.source(v, at+".source", depth) || attached
		case is(key, "content"):
			r.content(v, at+".content", depth-1)
		case is(key, "file_id") && types.has("container_upload"):
			attached = true
			r.ref(protocol.KindFile, v, at+".file_id")
		}
		for _, s := range sealedIn {
			if is(key, s.member) && types.has(s.typ) {
				r.sealed(v, at+"."+s.member)
			}
		}
	}
	for _, typ := range attachments {
		if attached && types.has(typ) {
			r.r.Attachments++
			return
		}
	}
}

// source reads where a block's bytes come from: a file's id, base64 that is
// not billed by its bytes, an address, or content of the body's own, which is no
// attachment.
func (r *refs) source(raw []byte, at string, depth int) (attached bool) {
	types := typesOf(raw)
	m := jsonscan.Object(raw)
	for m.Next() {
		key, v := m.Key(), m.Value()
		switch {
		case is(key, "file_id"):
			r.ref(protocol.KindFile, v, at+".file_id")
			attached = true
		case is(key, "content"):
			r.content(v, at+".content", depth-1)
		case is(key, "url"):
			if len(v) > 6 && is(v[1:6], "data:") { // the bytes themselves
				r.r.EstimateBytes -= int64(len(v) - 2)
			}
			attached = true
		case is(key, "data") && types.has("base64") && v[0] == '"':
			r.r.EstimateBytes -= int64(len(v) - 2)
			attached = true
		}
	}
	return attached
}

// blockTypes are all types that an object gives itself.
type blockTypes [][]byte

func typesOf(raw []byte) (t blockTypes) {
	m := jsonscan.Object(raw)
	for m.Next() {
		if is(m.Key(), "type") {
			t = append(t, m.Value())
		}
	}
	return t
}

func (t blockTypes) has(typ string) bool {
	for _, raw := range t {
		if jsonscan.Equal(raw, typ) {
			return true
		}
	}
	return false
}

func (r *refs) ref(kind string, raw []byte, param string) {
	if id, _ := jsonscan.Text(raw); id != "" {
		r.r.Name(protocol.Ref{Kind: kind, ID: id, Param: param})
	}
}

func (r *refs) sealed(raw []byte, param string) {
	if s, _ := jsonscan.Text(raw); s != "" {
		r.r.Name(protocol.Ref{Kind: protocol.KindSealed, ID: protocol.Seal(s), Param: param})
	}
}

func is(key []byte, name string) bool {
	return string(key) == name || bytes.EqualFold(key, []byte(name))
}

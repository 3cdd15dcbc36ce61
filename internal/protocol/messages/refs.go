package messages

import (
	"bytes"
	"strconv"

	"rubicon/internal/jsonscan"
	"rubicon/internal/protocol"
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

func readContainer(r *protocol.Request, raw []byte) {
	if raw == nil {
		return
	}
	if raw[0] == '"' {
		ref(r, protocol.KindContainer, raw, "container")
		return
	}
	m := jsonscan.Object(raw)
	for m.Next() {
		if is(m.Key(), "id") {
			ref(r, protocol.KindContainer, m.Value(), "container.id")
		}
	}
}

func readMessages(r *protocol.Request, raw []byte) {
	el := jsonscan.Array(raw)
	for i := 0; el.Next(); i++ {
		m := jsonscan.Object(el.Value())
		for m.Next() {
			if is(m.Key(), "content") {
				readContent(r, m.Value(), "messages["+strconv.Itoa(i)+"].content", maxNesting)
			}
		}
	}
}

// readContent reads a list of blocks, or one.
func readContent(r *protocol.Request, raw []byte, at string, depth int) {
	switch {
	case raw == nil || depth == 0:
	case raw[0] == '{':
		readBlockRefs(r, raw, at, depth)
	case raw[0] == '[':
		el := jsonscan.Array(raw)
		for i := 0; el.Next(); i++ {
			if el.Value()[0] == '{' {
				readBlockRefs(r, el.Value(), at+"["+strconv.Itoa(i)+"]", depth)
			}
		}
	}
}

func readBlockRefs(r *protocol.Request, raw []byte, at string, depth int) {
	types := typesOf(raw)
	attached := false
	m := jsonscan.Object(raw)
	for m.Next() {
		key, v := m.Key(), m.Value()
		switch {
		case is(key, "source"):
			attached = readSource(r, v, at+".source", depth) || attached
		case is(key, "content"):
			readContent(r, v, at+".content", depth-1)
		case is(key, "file_id") && types.has("container_upload"):
			attached = true
			ref(r, protocol.KindFile, v, at+".file_id")
		}
		for _, s := range sealedIn {
			if is(key, s.member) && types.has(s.typ) {
				sealedRef(r, v, at+"."+s.member)
			}
		}
	}
	for _, typ := range attachments {
		if attached && types.has(typ) {
			r.Attachments++
			return
		}
	}
}

// readSource reads where a block's bytes come from: a file's id, base64 that is
// not billed by its bytes, an address, or content of the body's own, which is no
// attachment.
func readSource(r *protocol.Request, raw []byte, at string, depth int) (attached bool) {
	types := typesOf(raw)
	m := jsonscan.Object(raw)
	for m.Next() {
		key, v := m.Key(), m.Value()
		switch {
		case is(key, "file_id"):
			ref(r, protocol.KindFile, v, at+".file_id")
			attached = true
		case is(key, "content"):
			readContent(r, v, at+".content", depth-1)
		case is(key, "url"):
			attached = true
		case is(key, "data") && types.has("base64") && v[0] == '"':
			r.BilledBytes -= int64(len(v) - 2)
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

func ref(r *protocol.Request, kind string, raw []byte, param string) {
	if id, _ := jsonscan.Text(raw); id != "" {
		r.Refs = append(r.Refs, protocol.Ref{Kind: kind, ID: id, Param: param})
	}
}

func sealedRef(r *protocol.Request, raw []byte, param string) {
	if s, _ := jsonscan.Text(raw); s != "" {
		r.Refs = append(r.Refs, protocol.Ref{Kind: protocol.KindSealed, ID: protocol.Seal(s), Param: param})
	}
}

func is(key []byte, name string) bool {
	return string(key) == name || bytes.EqualFold(key, []byte(name))
}

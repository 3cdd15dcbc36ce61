package messages

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// block is one content block, raw.
type block struct {
	typ, name        []byte
	text, thinking   []byte
	signature, data  []byte
	encrypted, input []byte
	other            bool // something else is in it
}

func readBlock(raw []byte) (b block) {
	m := jsonscan.Object(raw)
	for m.Next() {
		v := m.Value()
		if string(m.Key()) == "type" {
			b.typ = v
			continue
		}
		if jsonscan.Empty(v) {
			continue
		}
		switch string(m.Key()) {
		case "text":
			b.text = v
		case "thinking":
			b.thinking = v
		case "signature":
			b.signature = v
		case "data":
			b.data = v
		case "encrypted_content":
			b.encrypted = v
		case "name":
			b.name = v
		case "input":
			b.input = v
		default:
			b.other = true
		}
	}
	return b
}

// begins reports whether the block is the empty beginning of a text or of
// thinking: all that may be held of blocks.
func (b *block) begins() bool {
	return b.spoken() && !b.other && b.text == nil && b.thinking == nil && b.signature == nil &&
		b.data == nil && b.encrypted == nil && b.name == nil && b.input == nil
}

// spoken reports whether the block is text or thinking, which is nothing as long
// as it is empty. A call or a result is something by itself.
func (b *block) spoken() bool {
	return jsonscan.Equal(b.typ, "text") || jsonscan.Equal(b.typ, "thinking")
}

// textBytes is the length of the text, thinking and tool arguments in a block.
func (b *block) textBytes() int64 {
	n := jsonscan.TextLen(b.text) + jsonscan.TextLen(b.thinking)
	if jsonscan.Equal(b.typ, "tool_use") || jsonscan.Equal(b.typ, "server_tool_use") || jsonscan.Equal(b.typ, "mcp_tool_use") {
		n += len(b.input)
	}
	return int64(n)
}

func (r *reader) blockStart(raw []byte) protocol.Class {
	b := readBlock(raw)
	r.seal.close(&r.seen)
	r.block(&b)
	r.seal.add(b.signature)
	r.item = !b.spoken()
	if b.begins() {
		return protocol.Lifecycle
	}
	return protocol.Output
}

// block takes in what a block holds at once: in a stream at its start, in a
// whole answer altogether.
func (r *reader) block(b *block) {
	r.seen.Wrote(b.textBytes())
	r.called(b)
	if jsonscan.Equal(b.typ, "redacted_thinking") {
		remember(&r.seen, b.data)
	}
	remember(&r.seen, b.encrypted) // compaction
}

func remember(seen *protocol.Observed, field []byte) {
	if s, _ := jsonscan.Text(field); s != "" {
		seen.Remember(protocol.KindSealed, protocol.Seal(s))
	}
}

// blockStop ends a block. With something in it, it is a finished item.
func (r *reader) blockStop() {
	r.seen.Content = r.seen.Content || r.item || r.seal.open
	r.item = false
	r.seal.close(&r.seen)
}

// delta counts the text of a content_block_delta. Citations quote, so they are
// no text of the answer's.
func (r *reader) delta(raw []byte) {
	m := jsonscan.Object(raw)
	for m.Next() {
		switch string(m.Key()) {
		case "text", "thinking", "partial_json":
			r.seen.Wrote(int64(jsonscan.TextLen(m.Value())))
		case "signature":
			r.seal.add(m.Value())
		}
	}
}

// vain reports whether a delta has nothing in it but its type.
func vain(raw []byte) bool {
	m := jsonscan.Object(raw)
	for m.Next() {
		if string(m.Key()) != "type" && !jsonscan.Empty(m.Value()) {
			return false
		}
	}
	return raw != nil
}

// sealDigest hashes a thinking block's signature, which may come in pieces. It counts
// once its block has ended: half a signature is none.
type sealDigest struct {
	sum  hash.Hash
	open bool
}

func (s *sealDigest) add(raw []byte) {
	text, _ := jsonscan.Text(raw)
	if text == "" {
		return
	}
	if s.sum == nil {
		s.sum = sha256.New()
	}
	s.open = true
	s.sum.Write([]byte(text))
}

func (s *sealDigest) close(seen *protocol.Observed) {
	if !s.open {
		return
	}
	seen.Remember(protocol.KindSealed, hex.EncodeToString(s.sum.Sum(nil)))
	s.sum.Reset()
	s.open = false
}

// hostedNames are names of server tools' parts, by the tool's name.
var hostedNames = [...]struct{ block, tool string }{
	{"bash_code_execution", "code_execution"},
	{"text_editor_code_execution", "code_execution"},
	{"tool_search_tool_regex", "tool_search"},
	{"tool_search_tool_bm25", "tool_search"},
}

// called counts a hosted call that a block begins.
func (r *reader) called(b *block) {
	var name string
	switch {
	case jsonscan.Equal(b.typ, "mcp_tool_use"):
		name = "mcp"
	case jsonscan.Equal(b.typ, "server_tool_use"):
		name, _ = jsonscan.Text(b.name)
	}
	for _, n := range hostedNames {
		if n.block == name {
			name = n.tool
		}
	}
	r.calls.Made(&r.seen, name)
}

// callsTold takes in usage.server_tool_use, whose members are NAME_requests.
func (r *reader) callsTold(usage []byte) {
	m := jsonscan.Object(jsonscan.Get(usage, "server_tool_use"))
	for m.Next() {
		name, isTool := strings.CutSuffix(string(m.Key()), "_requests")
		if n, isCount := protocol.Count(m.Value()); isTool && isCount {
			r.calls.Told(&r.seen, name, n)
		}
	}
}

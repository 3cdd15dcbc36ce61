package responses

import (
	"bytes"
	"slices"
	"strconv"

	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/body"
)

// maxNesting bounds the walk. What requests really nest is half as deep, and
// each level costs another look at its bytes.
const maxNesting = 8

// attachments are the parts that count as an image or file.
var attachments = [...]string{"input_image", "input_file", "computer_screenshot"}

// requestWalk gathers from a body what it names of upstream state, which hosted tools
// it asks for, and what of it is no text.
type requestWalk struct {
	req      *protocol.Request
	unbilled int64 // bytes of data URLs and images
}

// place is where in the body something stands.
type place struct {
	up    *place
	key   string // of a member; "" for an element
	index int
	depth int
}

func (p *place) member(key string) *place { return &place{up: p, key: key, depth: p.depth + 1} }
func (p *place) element(i int) *place     { return &place{up: p, index: i, depth: p.depth + 1} }

func (p *place) String() string {
	switch {
	case p.up == nil:
		return p.key
	case p.key == "":
		return p.up.String() + "[" + strconv.Itoa(p.index) + "]"
	}
	return p.up.String() + "." + p.key
}

// ref notes state that the request names; id is a raw string.
func (w *requestWalk) ref(kind string, id []byte, at *place) {
	if s := str(id); s != "" {
		w.req.Name(protocol.Ref{Kind: kind, ID: s, Param: at.String()})
	}
}

func (w *requestWalk) sealed(raw []byte, at *place) {
	if s := str(raw); s != "" {
		w.req.Name(protocol.Ref{Kind: protocol.KindSealed, ID: protocol.Seal(s), Param: at.String()})
	}
}

// body walks the parts of a body that can name state.
func (w *requestWalk) body(m body.Members) {
	w.prompt(m.Raw("prompt"), &place{key: "prompt"})
	w.items(m.Raw("instructions"), &place{key: "instructions"})
	w.items(m.Raw("input"), &place{key: "input"})
	w.tools(m.Raw("tools"), &place{key: "tools"})
}

func (w *requestWalk) prompt(raw []byte, at *place) {
	m := jsonscan.Object(raw)
	for m.Next() {
		switch string(m.Key()) {
		case "id":
			w.ref(protocol.KindPrompt, m.Value(), at.member("id"))
		case "variables":
			vars := jsonscan.Object(m.Value())
			for vars.Next() {
				w.part(vars.Value(), at.member("variables").member(fault.Clip(string(vars.Key()))))
			}
		}
	}
}

func (w *requestWalk) items(raw []byte, at *place) {
	el := jsonscan.Array(raw)
	for i := 0; el.Next(); i++ {
		here := at.element(i)
		w.item(el.Value(), here)
		w.part(el.Value(), here)
	}
}

// item looks at an item of the input for being nothing but the name of one. If
// members are repeated, any of them counts: which one upstream takes is unknown.
func (w *requestWalk) item(raw []byte, at *place) {
	var reference, image, described bool
	var result int
	m := jsonscan.Object(raw)
	for m.Next() {
		v := present(m.Value())
		switch string(m.Key()) {
		case "type":
			reference = reference || jsonscan.Equal(v, "item_reference")
			image = image || jsonscan.Equal(v, "image_generation_call")
			described = described || v != nil
		case "role", "content":
			described = described || v != nil
		case "result":
			result = max(result, textSize(v))
		}
	}
	if image && result > 0 {
		w.req.Attachments++
		w.unbilled += int64(result)
	}
	// A bare id is a reference too, and so is an image without its data.
	if reference || !described || image && result == 0 {
		w.each(raw, "id", func(id []byte) { w.ref(protocol.KindItem, id, at.member("id")) })
	}
}

// each calls f with every value of a member.
func (w *requestWalk) each(raw []byte, key string, f func(value []byte)) {
	m := jsonscan.Object(raw)
	for m.Next() {
		if string(m.Key()) == key {
			f(m.Value())
		}
	}
}

// part looks at an object (an item, a part of its content, a tool, a tool's
// environment) for ids, sealed fields and data, and walks on where more can be.
func (w *requestWalk) part(raw []byte, at *place) {
	if at.depth > maxNesting {
		return
	}
	m := jsonscan.Object(raw)
	for m.Next() {
		v := m.Value()
		switch key := string(m.Key()); key {
		case "type":
			if isAttachment(v) {
				w.req.Attachments++
			}
		case "file_id":
			w.ref(protocol.KindFile, v, at.member(key))
		case "file_ids":
			w.list(protocol.KindFile, v, at.member(key))
		case "vector_store_ids":
			w.list(protocol.KindVectorStore, v, at.member(key))
		case "container_id":
			w.ref(protocol.KindContainer, v, at.member(key))
		case "encrypted_content":
			w.sealed(v, at.member(key))
		case "image_url", "file_data", "file_url":
			w.data(v)
		case "container":
			w.ref(protocol.KindContainer, v, at.member(key))
			w.part(v, at.member(key))
		case "content", "output":
			w.nested(v, at.member(key))
		case "environment", "input_image_mask":
			w.part(v, at.member(key))
		case "tools":
			w.tools(v, at.member(key))
		}
	}
}

// nested walks one part or a list of parts.
func (w *requestWalk) nested(raw []byte, at *place) {
	w.part(raw, at)
	el := jsonscan.Array(raw)
	for i := 0; el.Next(); i++ {
		w.part(el.Value(), at.element(i))
	}
}

// list notes each id of a list.
func (w *requestWalk) list(kind string, raw []byte, at *place) {
	el := jsonscan.Array(raw)
	for i := 0; el.Next(); i++ {
		w.ref(kind, el.Value(), at.element(i))
	}
}

// data leaves a data URL out of what is billed as text.
func (w *requestWalk) data(raw []byte) {
	if bytes.HasPrefix(raw, []byte(`"data:`)) {
		w.unbilled += int64(textSize(raw))
	}
}

// textSize is the size of a raw string between its quotes, 0 for other values.
func textSize(raw []byte) int {
	if jsonscan.KindOf(raw) != jsonscan.KindString {
		return 0
	}
	return len(raw) - 2
}

func isAttachment(typ []byte) bool {
	return slices.ContainsFunc(attachments[:], func(a string) bool { return jsonscan.Equal(typ, a) })
}

package wsapi

import (
	"bytes"

	"rubicon/internal/wire/jsonscan"
)

// complete makes a create that continues p one that holds everything: p's items
// as they came, then its own.
func (p *remembered) complete(body []byte) ([]byte, error) {
	all := joined(p.items, items(body))
	input := make([]byte, 0, len(all)+2)
	input = append(append(append(input, '['), all...), ']')
	edits := []jsonscan.Edit{{Key: "input", Value: input}, {Key: "previous_response_id"}}
	if p.parent != "" {
		edits[1].Value = jsonscan.AppendString(nil, p.parent)
	}
	// What it continues is stored nowhere, so no more is this unless it says so.
	if !hasMember(body, "store") {
		edits = append(edits, jsonscan.Edit{Key: "store", Value: []byte("false")})
	}
	return jsonscan.Set(body, edits...)
}

// hasMember tells whether a body has a member; null counts as absent.
func hasMember(body []byte, name string) bool {
	kind := jsonscan.KindOf(jsonscan.Get(body, name))
	return kind != jsonscan.KindInvalid && kind != jsonscan.KindNull
}

// items gives a body's input as items with commas between. A string stands for
// a message of the user (Responses API, "input").
func items(body []byte) []byte {
	input := jsonscan.Get(body, "input")
	switch jsonscan.KindOf(input) {
	case jsonscan.KindString:
		out := append([]byte(`{"type":"message","role":"user","content":[{"type":"input_text","text":`), input...)
		return append(out, `}]}`...)
	case jsonscan.KindArray:
		return elements(input)
	}
	return nil
}

// elements gives what stands between an array's brackets, without white space
// around it; nil for an empty one and what is none.
func elements(array []byte) []byte {
	if jsonscan.KindOf(array) != jsonscan.KindArray {
		return nil
	}
	array = bytes.Trim(array, " \t\r\n")
	return bytes.Trim(array[1:len(array)-1], " \t\r\n")
}

func joined(a, b []byte) []byte {
	if len(a) == 0 || len(b) == 0 {
		return append(append([]byte(nil), a...), b...)
	}
	out := make([]byte, 0, len(a)+1+len(b))
	return append(append(append(out, a...), ','), b...)
}

package responses

import (
	"bytes"

	"rubicon/internal/wire/translate"
)

// downKind is what an item towards the client is.
type downKind uint8

const (
	downText downKind = iota
	downRefusal
	downThought
	downCall
	downCustom
	downHosted
)

// downItem is one item of the output. A closed item waits with its last event
// until it is known what follows: that decides on its phase, and on whether a
// call was cut off.
type downItem struct {
	kind     downKind
	place    int
	id       string
	phase    string
	closed   bool // its block was closed
	settled  bool // its last event was written
	followed bool // something was opened behind it

	callID, name, namespace string
	unwrap                  *translate.Unwrapper

	text        []byte // of a message, reasoning in full, a call's input
	logprobs    []byte // elements
	annotations []byte // elements
	cited       int
	summary     [][]byte
	upParagraph int // upstream's number of the open paragraph
	seal        string
	raw         []byte // hosted
	last        []byte // the item as its last event has it
}

// item makes an item of a block; nil where the format has none for it.
func (e *answerEncoder) item(b *translate.Block, index int) *downItem {
	it := &downItem{phase: b.Phase}
	place := len(e.items)
	switch b.Kind {
	case translate.Text:
		it.id = e.made("msg_", place)
	case translate.Refusal:
		e.refused = true
		it.id = e.made("msg_", place)
		if it.kind = downRefusal; e.id.Profile == codexProfile {
			it.kind = downText
		}
	case translate.Think:
		it.kind, it.id = downThought, e.made("rs_", place)
		if b.Seal != nil && e.r.Reasoning.KeepSeals {
			it.seal = b.Seal.Data
		}
	case translate.Call:
		e.call(it, b, index)
	case translate.Hosted:
		if b.Origin != translate.Responses {
			return nil
		}
		it.kind, it.id, it.raw = downHosted, textOf(b.Raw, "id"), append([]byte(nil), b.Raw...)
	default:
		return nil
	}
	return it
}

// call restores the tool that the client knows: of this request's own tools,
// never by the form of a name.
func (e *answerEncoder) call(it *downItem, b *translate.Block, index int) {
	it.kind, it.name, it.namespace = downCall, b.Name, b.Namespace
	if b.Custom {
		it.kind = downCustom
	}
	if t, ok := e.names.Restore(b.Namespace, b.Name); ok {
		it.name, it.namespace = t.Name, t.Namespace
		if t.Kind == translate.Custom && !b.Custom {
			it.kind, it.unwrap = downCustom, &translate.Unwrapper{}
		}
	}
	prefix := "fc_"
	if it.kind == downCustom {
		prefix = "ctc_"
	}
	it.id = e.made(prefix, len(e.items))
	if it.callID = translate.CallID(translate.Responses, b.ID); b.ID == "" {
		it.callID = translate.MadeCallID(e.id.ResponseID, index)
	}
}

func (it *downItem) addLogprobs(raw []byte) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 3 {
		return
	}
	if len(it.logprobs) > 0 {
		it.logprobs = append(it.logprobs, ',')
	}
	it.logprobs = append(it.logprobs, raw[1:len(raw)-1]...)
}

// write writes the item: as it begins, or with what it holds.
func (it *downItem) write(w *writer, status string, full bool) {
	if it.kind == downHosted {
		w.b = append(w.b, it.raw...)
		return
	}
	w.open('{')
	w.text("id", it.id)
	switch it.kind {
	case downText, downRefusal:
		w.text("type", "message")
		w.text("status", status)
		w.array("content")
		if full {
			it.part(w, true)
		}
		w.shut(']')
		w.text("role", "assistant")
		if it.phase != "" {
			w.text("phase", it.phase)
		}
	case downThought:
		w.text("type", "reasoning")
		it.reasoning(w, status, full)
	default:
		it.writeCall(w, status, full)
	}
	w.shut('}')
}

func (it *downItem) writeCall(w *writer, status string, full bool) {
	typ, member := "function_call", "arguments"
	if it.kind == downCustom {
		typ, member = "custom_tool_call", "input"
	}
	input := ""
	if full {
		input = string(it.text)
	}
	w.text("type", typ)
	w.text("status", status)
	w.text(member, input)
	w.text("call_id", it.callID)
	w.text("name", it.name)
	if it.namespace != "" {
		w.text("namespace", it.namespace)
	}
}

func (it *downItem) reasoning(w *writer, status string, full bool) {
	w.array("summary")
	for i := 0; full && i < len(it.summary); i++ {
		w.begin("summary_text")
		w.text("text", string(it.summary[i]))
		w.shut('}')
	}
	w.shut(']')
	if full && len(it.text) > 0 {
		w.array("content")
		w.begin("reasoning_text")
		w.text("text", string(it.text))
		w.shut('}')
		w.shut(']')
	}
	if full && it.seal != "" {
		w.text("encrypted_content", it.seal)
	}
	if status == "incomplete" {
		w.text("status", status)
	}
}

// part writes the part of a message.
func (it *downItem) part(w *writer, full bool) {
	text := ""
	if full {
		text = string(it.text)
	}
	w.open('{')
	if it.kind == downRefusal {
		w.text("type", "refusal")
		w.text("refusal", text)
		w.shut('}')
		return
	}
	w.text("type", "output_text")
	w.text("text", text)
	w.array("annotations")
	if full {
		w.b = append(w.b, it.annotations...)
	}
	w.shut(']')
	w.array("logprobs")
	if full {
		w.b = append(w.b, it.logprobs...)
	}
	w.shut(']')
	w.shut('}')
}

package messages

import (
	"bytes"
	"strconv"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// downBlock is the block that is open towards the client.
type downBlock struct {
	head      translate.Block
	written   bool // its start was written
	sealed    bool
	paragraph int
	text      bool // thinking came
	skip      bool // it is not of this format
	whole     *wholeBlock
}

// content writes one event of the current block, or opens it.
func (e *answerEncoder) content(ev *translate.Event) {
	if e.current < 0 && ev.Kind != translate.Open {
		return // of no block
	}
	switch ev.Kind {
	case translate.Open:
		e.open(ev)
	case translate.Delta:
		e.delta(ev)
	case translate.Cite:
		e.cite(ev.Raw)
	case translate.Sealed:
		e.seal(ev.Seal)
	case translate.Close:
		e.close(false)
	}
}

// open begins a block. Text and thinking wait for something in them: an empty
// block says nothing, and its start is lifecycle in any case.
func (e *answerEncoder) open(ev *translate.Event) {
	e.current, e.block = ev.Index, downBlock{head: ev.Block}
	b := &e.block.head
	switch b.Kind {
	case translate.Call:
		e.calls = true
		if b.ID == "" {
			b.ID = translate.MadeCallID(e.id.ResponseID, ev.Index)
		}
		if t, ok := e.names.Restore(b.Namespace, b.Name); ok {
			b.Name = t.Name
		}
		e.begin("tool_use")
		if b.Custom {
			e.input(`{"input":"`)
		}
	case translate.Text, translate.Refusal, translate.Think:
	default:
		if e.block.skip = b.Origin != translate.Messages; !e.block.skip {
			e.begin(b.Type)
		}
	}
}

// begin writes the start of the block, once.
func (e *answerEncoder) begin(typ string) {
	if e.block.written {
		return
	}
	e.block.written = true
	e.whole(typ)
	w := writer{b: make([]byte, 0, 192+len(e.block.head.Raw))}
	w.open('{')
	w.key("type").text("content_block_start")
	w.key("index").int(int64(e.next))
	w.key("content_block")
	class := translate.OutOutput
	switch typ {
	case "text":
		w.raw([]byte(`{"type":"text","text":""}`))
		class = translate.OutLifecycle
	case "thinking":
		w.raw([]byte(`{"type":"thinking","thinking":"","signature":""}`))
		class = translate.OutLifecycle
	case "tool_use":
		w.open('{')
		w.key("type").text("tool_use")
		w.key("id").text(e.block.head.ID)
		w.key("name").text(e.block.head.Name)
		w.key("input").raw([]byte("{}"))
		w.close('}')
	case "redacted_thinking":
		w.open('{')
		w.key("type").text(typ)
		w.key("data").text(e.block.head.Seal.Data)
		w.close('}')
	default:
		w.raw(e.block.head.Raw)
	}
	w.close('}')
	e.out(class, "content_block_start", w.b)
}

func (e *answerEncoder) delta(ev *translate.Event) {
	if ev.Text == "" {
		return
	}
	switch e.block.head.Kind {
	case translate.Text, translate.Refusal:
		e.begin("text")
		e.piece("text_delta", "text", ev.Text)
	case translate.Think:
		e.thinking(ev)
	case translate.Call:
		if e.block.head.Custom {
			quoted := jsonscan.AppendString(nil, ev.Text)
			e.input(string(quoted[1 : len(quoted)-1]))
			return
		}
		e.input(ev.Text)
	default:
		if !e.block.skip && ev.Part == translate.PartInput {
			e.input(ev.Text)
		}
	}
}

func (e *answerEncoder) input(text string) { e.piece("input_json_delta", "partial_json", text) }

// thinking writes reasoning, in full or in a summary. Paragraphs of a summary
// are set apart as in a text.
func (e *answerEncoder) thinking(ev *translate.Event) {
	if e.block.sealed {
		return // what is sealed is not changed
	}
	e.begin("thinking")
	text := ev.Text
	if ev.Part == translate.PartSummary && ev.Paragraph != e.block.paragraph {
		e.block.paragraph = ev.Paragraph
		if e.block.text {
			text = "\n\n" + text
		}
	}
	e.block.text = true
	e.piece("thinking_delta", "thinking", text)
}

// piece writes one delta of the open block.
func (e *answerEncoder) piece(typ, member, text string) {
	e.collect(text)
	b := make([]byte, 0, len(text)+len(text)/8+112)
	b = append(b, `{"type":"content_block_delta","index":`...)
	b = strconv.AppendInt(b, int64(e.next), 10)
	b = append(append(append(b, `,"delta":{"type":"`...), typ...), `","`...)
	b = append(append(b, member...), `":`...)
	b = append(jsonscan.AppendString(b, text), '}', '}')
	e.out(translate.OutOutput, "content_block_delta", b)
}

// seal writes a signature in one piece, or a seal without visible text as a
// block of its own kind.
func (e *answerEncoder) seal(s *translate.Seal) {
	if s == nil || s.Data == "" || e.block.head.Kind != translate.Think || e.block.sealed {
		return
	}
	e.block.sealed = true
	if !e.block.written && s.Kind != translate.Signature {
		e.block.head.Seal = s
		e.begin("redacted_thinking")
		return
	}
	e.begin("thinking")
	e.block.head.Seal = s
	if e.block.whole != nil {
		e.block.whole.seal = s.Data
	}
	w := writer{b: make([]byte, 0, len(s.Data)+112)}
	w.open('{')
	w.key("type").text("content_block_delta")
	w.key("index").int(int64(e.next))
	w.key("delta").open('{')
	w.key("type").text("signature_delta")
	w.key("signature").text(s.Data)
	w.close('}')
	w.close('}')
	e.out(translate.OutOutput, "content_block_delta", w.b)
}

// citationTypes are the citations that the format knows; those of others have
// no place in it.
var citationTypes = [...]string{"char_location", "page_location", "content_block_location", "web_search_result_location", "search_result_location"}

func (e *answerEncoder) cite(raw []byte) {
	typ := jsonscan.Get(raw, "type")
	known := false
	for _, t := range citationTypes {
		known = known || jsonscan.Equal(typ, t)
	}
	if !known || e.block.head.Kind != translate.Text {
		return
	}
	e.begin("text")
	if e.block.whole != nil {
		e.block.whole.citations = append(e.block.whole.citations, bytes.Clone(raw))
	}
	w := writer{b: make([]byte, 0, len(raw)+112)}
	w.open('{')
	w.key("type").text("content_block_delta")
	w.key("index").int(int64(e.next))
	w.key("delta").open('{')
	w.key("type").text("citations_delta")
	w.key("citation").raw(raw)
	w.close('}')
	w.close('}')
	e.out(translate.OutOutput, "content_block_delta", w.b)
}

// close ends the block. A free text's arguments are ended too, unless they were
// cut off: they would look finished.
func (e *answerEncoder) close(cutOff bool) {
	if b := &e.block; b.written {
		if b.head.Kind == translate.Call && b.head.Custom && !cutOff {
			e.input(`"}`)
		}
		w := make([]byte, 0, 48)
		w = append(w, `{"type":"content_block_stop","index":`...)
		w = append(strconv.AppendInt(w, int64(e.next), 10), '}')
		e.out(translate.OutOutput, "content_block_stop", w)
		e.next++
	}
	e.current, e.block = -1, downBlock{}
}

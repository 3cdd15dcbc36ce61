package messages

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// open begins a block with all that its start holds: in a whole answer that is
// the whole block.
func (d *answerDecoder) open(up int64, raw []byte) {
	if jsonscan.KindOf(raw) != jsonscan.KindObject {
		return // its deltas tell what it is
	}
	d.begin()
	d.settle()
	d.close(up) // an index that comes again begins another block
	d.closeProse()
	typ, _ := jsonscan.Text(jsonscan.Get(raw, "type"))
	b := upBlock{up: up}
	head := translate.Block{}
	switch typ {
	case "text":
		b.kind = translate.Text
	case "thinking", "redacted_thinking":
		b.kind = translate.Think
	case "tool_use":
		b.kind = translate.Call
		head.ID, _ = jsonscan.Text(jsonscan.Get(raw, "id"))
		head.Name, _ = jsonscan.Text(jsonscan.Get(raw, "name"))
		if input := jsonscan.Get(raw, "input"); input != nil && !jsonscan.Empty(input) {
			b.input = append(b.input, input...)
		}
	default:
		b.kind = translate.Hosted
		head.Type, head.Raw, head.Origin = typ, append(translate.Raw(nil), raw...), translate.Messages
	}
	at := d.add(b, head)
	d.content(at, typ, raw)
}

func (d *answerDecoder) add(b upBlock, head translate.Block) *upBlock {
	b.index, head.Kind = d.next, b.kind
	d.next++
	d.blocks = append(d.blocks, b)
	d.emit(translate.Event{Kind: translate.Open, Index: b.index, Block: head})
	return &d.blocks[len(d.blocks)-1]
}

// content emits the text, the citations and the seal that a start holds.
func (d *answerDecoder) content(b *upBlock, typ string, raw []byte) {
	if b.kind == translate.Hosted || b.kind == translate.Call {
		return
	}
	m := jsonscan.Object(raw)
	for m.Next() {
		switch key := string(m.Key()); {
		case key == "text" && b.kind == translate.Text:
			d.piece(b, translate.PartText, m.Value())
		case key == "thinking" && b.kind == translate.Think:
			d.piece(b, translate.PartSummary, m.Value())
		case key == "citations" && b.kind == translate.Text:
			el := jsonscan.Array(m.Value())
			for el.Next() {
				d.cite(b, el.Value())
			}
		case key == "signature" && b.kind == translate.Think:
			b.sign(translate.Signature, m.Value())
		case key == "data" && typ == "redacted_thinking":
			b.sign(translate.Redacted, m.Value())
		}
	}
}

// sign adds a piece of the block's seal. Half a seal is none, so it is given
// once, when the block has ended.
func (b *upBlock) sign(kind translate.SealKind, raw []byte) {
	s, _ := jsonscan.Text(raw)
	if s == "" {
		return
	}
	if b.seal == nil {
		b.seal = &translate.Seal{Kind: kind}
	}
	b.seal.Data += s
}

func (d *answerDecoder) piece(b *upBlock, part translate.Part, raw []byte) {
	s, isText := jsonscan.Text(raw)
	if !isText && part == translate.PartInput {
		s = string(raw) // some servers send the object itself
	}
	if s != "" {
		d.emit(translate.Event{Kind: translate.Delta, Index: b.index, Part: part, Text: s})
	}
}

func (d *answerDecoder) cite(b *upBlock, raw []byte) {
	d.emit(translate.Event{Kind: translate.Cite, Index: b.index, Raw: append(translate.Raw(nil), raw...)})
}

// delta reads one piece of a block. Text and thinking whose start is missing
// begin a block; arguments whose start is missing belong to nothing.
func (d *answerDecoder) delta(f *frame) error {
	up := d.indexOf(f, false)
	m := jsonscan.Object(f.delta)
	for m.Next() {
		v := m.Value()
		if null(v) {
			continue
		}
		switch string(m.Key()) {
		case "text":
			d.piece(d.blockFor(up, translate.Text), translate.PartText, v)
		case "thinking":
			d.piece(d.blockFor(up, translate.Think), translate.PartSummary, v)
		case "signature":
			d.blockFor(up, translate.Think).sign(translate.Signature, v)
		case "citation":
			d.cite(d.blockFor(up, translate.Text), v)
		case "partial_json":
			b := d.find(up)
			if b == nil || b.kind != translate.Call && b.kind != translate.Hosted {
				return errNotMessages
			}
			if jsonscan.TextLen(v) > 0 || v[0] != '"' {
				b.fed = true
			}
			d.piece(b, translate.PartInput, v)
		}
	}
	return nil
}

// blockFor is the open block at an index, or a new one of a kind.
func (d *answerDecoder) blockFor(up int64, kind translate.Kind) *upBlock {
	if b := d.find(up); b != nil && (b.kind == kind || b.kind == translate.Hosted) {
		return b
	}
	d.begin()
	d.settle()
	d.close(up)
	d.closeProse()
	d.up = max(d.up, up)
	return d.add(upBlock{up: up, kind: kind}, translate.Block{})
}

// close ends a block. A call that got no arguments waits: whether it has none or
// was cut off, the stop reason tells.
func (d *answerDecoder) close(up int64) {
	b := d.find(up)
	if b == nil {
		return
	}
	ended := *b
	for i := range d.blocks {
		if d.blocks[i].up == up {
			d.blocks = append(d.blocks[:i], d.blocks[i+1:]...)
			break
		}
	}
	if ended.seal != nil {
		d.emit(translate.Event{Kind: translate.Sealed, Index: ended.index, Seal: ended.seal})
	}
	if ended.kind == translate.Call && !ended.fed {
		if ended.input == nil {
			d.settle()
			d.empty = &ended
			return
		}
		d.emit(translate.Event{Kind: translate.Delta, Index: ended.index, Part: translate.PartInput, Text: string(ended.input)})
	}
	d.emit(translate.Event{Kind: translate.Close, Index: ended.index})
}

// closeProse ends open text and thinking where another block begins: some servers
// leave their ends out. Calls may go on side by side.
func (d *answerDecoder) closeProse() {
	for i := 0; i < len(d.blocks); {
		if k := d.blocks[i].kind; k == translate.Text || k == translate.Think {
			d.close(d.blocks[i].up)
		} else {
			i++
		}
	}
}

func (d *answerDecoder) closeAll() {
	for len(d.blocks) > 0 {
		d.close(d.blocks[0].up)
	}
}

// settle ends a call without arguments: it has none, if more follows or the
// model itself ended there; one that was cut off gets none.
func (d *answerDecoder) settle() {
	b := d.empty
	if b == nil {
		return
	}
	d.empty = nil
	switch d.stop.Word {
	case "", translate.ToolUse, translate.End, translate.StopSeq, translate.Paused:
		d.emit(translate.Event{Kind: translate.Delta, Index: b.index, Part: translate.PartInput, Text: "{}"})
	}
	d.emit(translate.Event{Kind: translate.Close, Index: b.index})
}

// words are the stop reasons.
var words = map[string]translate.StopWord{
	"end_turn":                      translate.End,
	"tool_use":                      translate.ToolUse,
	"max_tokens":                    translate.Length,
	"stop_sequence":                 translate.StopSeq,
	"refusal":                       translate.Refused,
	"pause_turn":                    translate.Paused,
	"model_context_window_exceeded": translate.ContextFull,
}

// reason reads why the answer ended: of a message's or a delta's members.
func (d *answerDecoder) reason(word string, raw []byte) {
	s := translate.StopReason{Word: translate.Odd, Original: word}
	if known, ok := words[word]; ok {
		s.Word = known
	}
	s.Sequence, _ = jsonscan.Text(jsonscan.Get(raw, "stop_sequence"))
	if details := jsonscan.Get(raw, "stop_details"); jsonscan.KindOf(details) == jsonscan.KindObject {
		s.Details = append(translate.Raw(nil), details...)
		s.Explains, _ = jsonscan.Text(jsonscan.Get(details, "explanation"))
	}
	d.stop = s
}

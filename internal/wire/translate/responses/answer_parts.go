package responses

import (
	"bytes"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// part gives a part of a message, and opens it.
func (d *answerDecoder) part(it *upItem, at []byte, kind translate.Kind) *upPart {
	it.kind = upMessage
	n, ok := jsonscan.Int(at)
	if !ok || n < 0 || n > int64(len(it.parts)) {
		n = max(0, int64(len(it.parts))-1)
	}
	if n == int64(len(it.parts)) {
		it.parts = append(it.parts, upPart{})
	}
	p := &it.parts[n]
	if !p.begun {
		d.closeParts(it)
		p.begun, p.kind, p.index = true, kind, d.next
		d.next++
		d.stopped.refused = d.stopped.refused || kind == translate.Refusal
		d.emit(translate.Event{Kind: translate.Open, Index: p.index, Block: translate.Block{Kind: kind, Phase: it.phase}})
	}
	return p
}

func (d *answerDecoder) partAdded(f *frame) {
	it := d.find(f, nil)
	switch typ := textOf(f.piece, "type"); typ {
	case "output_text", "text":
		d.part(it, f.part, translate.Text)
	case "refusal":
		d.part(it, f.part, translate.Refusal)
	case "reasoning_text":
		d.openThought(it)
	}
}

func (d *answerDecoder) partDone(f *frame) {
	it := d.find(f, nil)
	if kind, ok := partKind(f.piece); ok && !it.done {
		if p := d.part(it, f.part, kind); !p.closed {
			d.partRest(p, f.piece)
			d.closePart(it, p)
		}
	}
}

func partKind(part []byte) (translate.Kind, bool) {
	switch typ := textOf(part, "type"); typ {
	case "output_text", "text":
		return translate.Text, true
	case "refusal":
		return translate.Refusal, true
	}
	return 0, false
}

// partRest tells what of a finished part did not come in pieces.
func (d *answerDecoder) partRest(p *upPart, part []byte) {
	text := textOf(part, "text")
	if p.kind == translate.Refusal {
		text = textOf(part, "refusal")
	}
	d.rest(p.index, translate.PartText, 0, text, &p.sent, someTokens(jsonscan.Get(part, "logprobs")))
	el := jsonscan.Array(jsonscan.Get(part, "annotations"))
	for i := 0; el.Next(); i++ {
		if i >= p.cited {
			d.cite(p, el.Value())
		}
	}
}

func (d *answerDecoder) cite(p *upPart, annotation []byte) {
	if p.closed {
		return
	}
	p.cited++
	d.emit(translate.Event{Kind: translate.Cite, Index: p.index, Raw: annotation})
}

// rest tells the end of a text beyond what came of it. Logprobs belong to the
// whole of it, so that they are told where nothing came before.
func (d *answerDecoder) rest(index int, part translate.Part, paragraph int, text string, sent *int, logprobs []byte) {
	if len(text) <= *sent {
		return
	}
	if *sent > 0 {
		logprobs = nil
	}
	d.emit(translate.Event{Kind: translate.Delta, Index: index, Part: part, Paragraph: paragraph, Text: text[*sent:], Logprobs: logprobs})
	*sent = len(text)
}

func (d *answerDecoder) closePart(it *upItem, p *upPart) {
	if p.begun && !p.closed {
		p.closed = true
		d.emit(translate.Event{Kind: translate.Close, Index: p.index, Block: translate.Block{Phase: it.phase}})
	}
}

func (d *answerDecoder) closeParts(it *upItem) {
	for i := range it.parts {
		d.closePart(it, &it.parts[i])
	}
}

// piece reads one delta.
func (d *answerDecoder) piece(what piece, f *frame) {
	it := d.find(f, nil)
	if it.done {
		return
	}
	text := argumentText(f.delta)
	e := translate.Event{Kind: translate.Delta, Text: text}
	switch what {
	case pieceText, pieceRefusal:
		p := d.part(it, f.part, what.kind())
		if p.closed {
			return
		}
		e.Index, e.Logprobs = p.index, someTokens(f.logprobs)
		p.sent += len(text)
	case pieceInput:
		if it.kind = upCall; !it.open {
			return // all of it comes at the end, with the name
		}
		e.Index, e.Part = it.index, translate.PartInput
		it.input += len(text)
	default:
		e.Part, e.Paragraph = what.part(f)
		sent := d.reasoned(it, what, f)
		e.Index = it.index
		*sent += len(text)
	}
	if text != "" || e.Logprobs != nil {
		d.emit(e)
	}
}

// pieceDone reads a text in its final form.
func (d *answerDecoder) pieceDone(what piece, f *frame) {
	it := d.find(f, nil)
	if it.done {
		return
	}
	text := argumentText(f.text)
	switch what {
	case pieceText, pieceRefusal:
		if p := d.part(it, f.part, what.kind()); !p.closed {
			d.rest(p.index, translate.PartText, 0, text, &p.sent, someTokens(f.logprobs))
		}
	case pieceInput:
		if it.open && it.kind == upCall {
			d.rest(it.index, translate.PartInput, 0, text, &it.input, nil)
		}
	default:
		part, n := what.part(f)
		sent := d.reasoned(it, what, f)
		d.rest(it.index, part, n, text, sent, nil)
	}
}

// kind is the kind of the block that a piece of a message continues.
func (p piece) kind() translate.Kind {
	if p == pieceRefusal {
		return translate.Refusal
	}
	return translate.Text
}

// part is which text of reasoning a piece continues. Only summaries have
// paragraphs.
func (p piece) part(f *frame) (translate.Part, int) {
	if p == pieceSummary {
		return translate.PartSummary, paragraph(f.part)
	}
	return translate.PartThought, 0
}

// reasoned opens reasoning, and gives how much came of the text that a piece
// continues.
func (d *answerDecoder) reasoned(it *upItem, what piece, f *frame) *int {
	d.openThought(it)
	if what == pieceSummary {
		return grow(&it.summary, paragraph(f.part))
	}
	return grow(&it.thought, paragraph(f.part))
}

// maxParagraphs bounds what an upstream may number.
const maxParagraphs = 1 << 12

// paragraph is the number of a paragraph, 0 where it is not said.
func paragraph(raw []byte) int {
	n, ok := jsonscan.Int(raw)
	if !ok || n < 0 || n >= maxParagraphs {
		return 0
	}
	return int(n)
}

// grow gives room for the length of a paragraph.
func grow(lengths *[]int, n int) *int {
	for len(*lengths) <= n {
		*lengths = append(*lengths, 0)
	}
	return &(*lengths)[n]
}

// someTokens is a list of logprobs, nil if there is nothing in it.
func someTokens(raw []byte) []byte {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '[' || jsonscan.Empty(raw) {
		return nil
	}
	return raw
}

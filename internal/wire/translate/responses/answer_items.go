package responses

import (
	"bytes"
	"strconv"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// upKind is what an item of the output is.
type upKind uint8

const (
	upUnknown upKind = iota // only its place is known
	upMessage
	upThought
	upCall
	upHosted
)

// upItem is one item of the output. Of its texts only the lengths are kept: a
// text that ends longer than it came has a rest.
type upItem struct {
	kind   upKind
	at     int64 // its output_index, -1 not said
	id     string
	phase  string
	done   bool
	open   bool // reasoning, calls, hosted items: the block
	index  int  // of the block
	custom bool
	input  int // bytes of a call's input that came

	parts   []upPart // message
	summary []int    // reasoning: bytes of each paragraph that came
	thought []int    // of each part in full
}

// upPart is one part of a message, and a block.
type upPart struct {
	kind   translate.Kind
	index  int
	sent   int
	cited  int
	begun  bool
	closed bool
}

// find gives the item that an event is about, by its place, else by its id, else
// the last one. Some providers number all items alike, some change an item's id
// from event to event.
func (d *answerDecoder) find(f *frame, item []byte) *upItem {
	at, placed := jsonscan.Int(f.index)
	if !placed || at < 0 {
		at = -1
	}
	if n := len(d.items); n > 0 && item == nil {
		if it := d.items[n-1]; !it.done && at >= 0 && it.at == at && (f.itemID == nil || jsonscan.Equal(f.itemID, it.id)) {
			return it // as nearly always
		}
	}
	id, _ := jsonscan.Text(f.itemID)
	if item != nil {
		id = textOf(item, "id")
	}
	if it := d.known(at, id); it != nil {
		return it
	}
	return d.add(at, id)
}

func (d *answerDecoder) add(at int64, id string) *upItem {
	it := &upItem{at: at, id: id}
	d.items = append(d.items, it)
	return it
}

func (d *answerDecoder) known(at int64, id string) *upItem {
	for _, is := range [...]func(it *upItem) bool{
		func(it *upItem) bool { return at >= 0 && it.at == at && id != "" && it.id == id },
		func(it *upItem) bool { return at >= 0 && it.at == at && !it.done },
		func(it *upItem) bool { return id != "" && it.id == id },
		func(it *upItem) bool { return at >= 0 && it.at == at },
		func(it *upItem) bool { return at < 0 && !it.done },
	} {
		for i := len(d.items) - 1; i >= 0; i-- {
			if is(d.items[i]) {
				return d.items[i]
			}
		}
	}
	return nil
}

// itemAdded begins an item. A place that another item has already is that of a
// provider which does not count.
func (d *answerDecoder) itemAdded(f *frame) {
	at, placed := jsonscan.Int(f.index)
	if !placed || at < 0 {
		at = -1
	}
	id := textOf(f.item, "id")
	if it := d.named(id); it != nil && it.at == at && !it.done {
		return // said twice
	}
	d.learn(d.add(at, id), f.item)
}

// named is the item of an id, nil if there is none.
func (d *answerDecoder) named(id string) *upItem {
	for _, it := range d.items {
		if id != "" && it.id == id {
			return it
		}
	}
	return nil
}

// learn takes from an item what it says of itself, and opens its block once
// enough is known.
func (d *answerDecoder) learn(it *upItem, item []byte) {
	switch typ := textOf(item, "type"); {
	case it.kind != upUnknown && it.kind != upCall:
	case typ == "message":
		it.kind = upMessage
		it.phase = textOf(item, "phase")
	case typ == "reasoning":
		d.openThought(it)
	case typ == "function_call", typ == "custom_tool_call":
		it.kind, it.custom = upCall, typ == "custom_tool_call"
		d.openCall(it, item, false)
	case typ != "" && it.kind == upUnknown:
		it.kind = upHosted
		d.open(it, translate.Block{Kind: translate.Hosted, Type: typ, Raw: item, Origin: translate.Responses})
	}
}

func (d *answerDecoder) open(it *upItem, b translate.Block) {
	it.open, it.index = true, d.next
	d.next++
	d.emit(translate.Event{Kind: translate.Open, Index: it.index, Block: b})
}

func (d *answerDecoder) openThought(it *upItem) {
	it.kind = upThought
	if !it.open {
		d.open(it, translate.Block{Kind: translate.Think})
	}
}

// openCall opens a call once its name and id are known. At its end an id is
// made for one that has none.
func (d *answerDecoder) openCall(it *upItem, item []byte, ends bool) {
	if it.open {
		return
	}
	b := translate.Block{Kind: translate.Call, Custom: it.custom, ID: textOf(item, "call_id"), Name: textOf(item, "name"), Namespace: textOf(item, "namespace")}
	switch {
	case b.ID != "" && b.Name != "":
	case !ends:
		return
	case b.ID == "" && it.id != "":
		b.ID = it.id
	case b.ID == "":
		b.ID = translate.MadeCallID(d.id, d.next)
	}
	d.stopped.calls = true
	d.open(it, b)
}

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

// itemDone ends an item: what of it did not come in pieces is told, then it is
// closed.
func (d *answerDecoder) itemDone(it *upItem, item []byte) {
	if it.done {
		return
	}
	d.learn(it, item)
	if phase := textOf(item, "phase"); phase != "" {
		it.phase = phase
	}
	switch it.kind {
	case upMessage:
		d.content(it, item)
	case upThought:
		d.thoughtRest(it, item)
	case upCall:
		d.openCall(it, item, true)
		member := "arguments"
		if it.custom {
			member = "input"
		}
		d.rest(it.index, translate.PartInput, 0, argumentText(jsonscan.Get(item, member)), &it.input, nil)
	case upHosted:
		if jsonscan.Equal(jsonscan.Get(item, "type"), "web_search_call") {
			d.stopped.searches++
		}
	case upUnknown:
		return // it says not even what it is
	}
	d.close(it, item)
}

func (d *answerDecoder) close(it *upItem, item []byte) {
	it.done = true
	d.closeParts(it)
	if it.open {
		e := translate.Event{Kind: translate.Close, Index: it.index}
		if it.kind == upHosted {
			e.Raw = item
		}
		d.emit(e)
	}
}

func (d *answerDecoder) content(it *upItem, item []byte) {
	el := jsonscan.Array(jsonscan.Get(item, "content"))
	for n := 0; el.Next(); n++ {
		kind, ok := partKind(el.Value())
		if !ok || n < len(it.parts) && it.parts[n].closed {
			continue
		}
		p := d.part(it, strconv.AppendInt(nil, int64(n), 10), kind)
		d.partRest(p, el.Value())
		d.closePart(it, p)
	}
}

func (d *answerDecoder) thoughtRest(it *upItem, item []byte) {
	el := jsonscan.Array(jsonscan.Get(item, "summary"))
	for n := 0; el.Next() && n < maxParagraphs; n++ {
		d.rest(it.index, translate.PartSummary, n, textOf(el.Value(), "text"), grow(&it.summary, n), nil)
	}
	el = jsonscan.Array(jsonscan.Get(item, "content"))
	for n := 0; el.Next() && n < maxParagraphs; n++ {
		d.rest(it.index, translate.PartThought, 0, textOf(el.Value(), "text"), grow(&it.thought, n), nil)
	}
	if seal := textOf(item, "encrypted_content"); seal != "" {
		d.emit(translate.Event{Kind: translate.Sealed, Index: it.index, Seal: &translate.Seal{Kind: translate.Encrypted, Data: seal}})
	}
}

// closeAll ends the items that upstream left open.
func (d *answerDecoder) closeAll() {
	for _, it := range d.items {
		if !it.done {
			d.close(it, nil)
		}
	}
}

// fill takes from the output of the last event what no event before it told.
// Items stand there in order; their ids help where a provider does not count.
func (d *answerDecoder) fill(output []byte) {
	seen := len(d.items)
	el := jsonscan.Array(output)
	for n := int64(0); el.Next(); n++ {
		it := d.named(textOf(el.Value(), "id"))
		if it == nil {
			it = d.placed(n, el.Value())
		}
		switch {
		case it != nil:
		case n < int64(seen):
			continue // it came under another place and another id
		default:
			it = d.add(n, textOf(el.Value(), "id"))
		}
		d.itemDone(it, el.Value())
	}
}

// placed is the item at a place of the output, if it is of the same kind.
func (d *answerDecoder) placed(n int64, item []byte) *upItem {
	if n >= int64(len(d.items)) {
		return nil
	}
	it := d.items[n]
	typ := textOf(item, "type")
	same := it.kind == upMessage && typ == "message" || it.kind == upThought && typ == "reasoning" ||
		it.kind == upCall && (typ == "function_call" || typ == "custom_tool_call") || it.kind == upUnknown || it.kind == upHosted
	if !same {
		return nil
	}
	return it
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

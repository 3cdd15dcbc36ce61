package responses

import (
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

package chat

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// gap tells whether a text stands apart from the one in front of it.
type gap struct {
	any     bool // there was a text
	between bool // and something else behind it
	phase   string
}

// downBlock is a block of the answer.
type downBlock struct {
	kind    translate.Kind
	number  int // of a call
	custom  bool
	unwrap  *translate.Unwrapper // a wrapped tool's input
	part    translate.Part       // of reasoning: what is shown of it
	started bool
	para    int
	apart   bool // a paragraph of its own
}

// call opens a call under the name that the client gave its tool.
func (e *answerEncoder) call(b *downBlock, head *translate.Block) {
	name := head.Name
	b.custom = head.Custom
	if t, ok := e.names.Restore(head.Namespace, head.Name); ok {
		name = t.Name
		if t.Kind == translate.Custom && !head.Custom {
			b.custom, b.unwrap = true, &translate.Unwrapper{}
		}
	}
	b.number = e.calls
	e.calls++
	w := e.begin(len(head.ID) + len(name) + 96)
	w.array("tool_calls")
	w.open('{')
	w.int("index", int64(b.number))
	w.text("id", head.ID)
	if b.custom {
		w.b = append(w.b, `,"type":"custom"`...)
		w.object("custom")
		w.text("name", name)
		w.b = append(w.b, `,"input":""}`...)
	} else {
		w.b = append(w.b, `,"type":"function"`...)
		w.object("function")
		w.text("name", name)
		w.b = append(w.b, `,"arguments":""}`...)
	}
	var signed []byte
	if e.signature != nil && e.signedCall == head.ID {
		signed, e.signature = e.signature, nil
		w.raw("extra_content", signed)
	}
	w.b = append(w.b, `}]}`...)
	e.end(&w, translate.OutOutput, nil)
	if e.whole != nil {
		e.whole.calls = append(e.whole.calls, &wholeCall{id: head.ID, name: name, custom: b.custom, signed: signed})
	}
}

func (e *answerEncoder) delta(b *downBlock, ev *translate.Event) {
	switch b.kind {
	case translate.Text:
		if ev.Text != "" || ev.Logprobs != nil {
			e.text(b, ev)
		}
	case translate.Refusal:
		e.refuse(translate.OutOutput, ev.Text)
	case translate.Think:
		e.thought(b, ev)
	case translate.Call:
		text := ev.Text
		if b.unwrap != nil {
			text = b.unwrap.Push(text)
		}
		e.arguments(b, text)
	}
}

func (e *answerEncoder) text(b *downBlock, ev *translate.Event) {
	text := ev.Text
	if b.apart && text != "" {
		text = "\n\n" + text
		b.apart = false
	}
	e.texts.any, e.texts.between = e.texts.any || text != "", false
	w := e.begin(len(text) + 16)
	w.text("content", text)
	w.shut('}')
	e.end(&w, translate.OutOutput, ev.Logprobs)
	if e.whole != nil {
		e.whole.text.WriteString(text)
		e.whole.keepTokens(ev.Logprobs)
	}
}

func (e *answerEncoder) refuse(class translate.OutClass, text string) {
	if text == "" {
		return
	}
	e.refused = true
	w := e.begin(len(text) + 16)
	w.text("refusal", text)
	w.shut('}')
	e.end(&w, class, nil)
	if e.whole != nil {
		e.whole.refusal.WriteString(text)
	}
}

// thought shows reasoning: of one block the full text or its summary, whichever
// comes first, so that nothing is said twice.
func (e *answerEncoder) thought(b *downBlock, ev *translate.Event) {
	if !e.thoughts || ev.Text == "" || b.started && b.part != ev.Part {
		return
	}
	text := ev.Text
	if b.apart || b.started && ev.Paragraph != b.para {
		text = "\n\n" + text
	}
	b.started, b.part, b.para, b.apart = true, ev.Part, ev.Paragraph, false
	e.reasoned.any = true
	w := e.begin(len(text) + 32)
	w.text("reasoning_content", text)
	w.shut('}')
	e.end(&w, translate.OutOutput, nil)
	if e.whole != nil {
		e.whole.reasoning.WriteString(text)
	}
}

// arguments passes on a piece of a call's input as it is.
func (e *answerEncoder) arguments(b *downBlock, text string) {
	if text == "" {
		return
	}
	w := e.begin(len(text) + len(text)/8 + 64)
	w.array("tool_calls")
	w.open('{')
	w.int("index", int64(b.number))
	if b.custom {
		w.object("custom")
		w.text("input", text)
	} else {
		w.object("function")
		w.text("arguments", text)
	}
	w.b = append(w.b, `}}]}`...)
	e.end(&w, translate.OutOutput, nil)
	if e.whole != nil {
		e.whole.calls[b.number].input.WriteString(text)
	}
}

// sealed gives a client that keeps them what its maker sealed.
func (e *answerEncoder) sealed(ev *translate.Event) {
	s := ev.Seal
	own := jsonscan.KindOf([]byte(s.Data)) == jsonscan.KindObject
	if s.Kind == translate.Thought && own {
		e.signature = []byte(s.Data)
		return
	}
	if !e.seals {
		return
	}
	var item writer
	if s.Kind == translate.Detail && own {
		item.writeDetail(&translate.Block{Seal: s})
	} else {
		item.writeCarrier(s)
	}
	w := e.begin(len(item.b) + 32)
	w.array("reasoning_details")
	w.b = append(append(w.b, item.b...), `]}`...)
	e.end(&w, translate.OutOutput, nil)
	if e.whole != nil {
		e.whole.details = append(e.whole.details, item.b)
	}
}

// shut ends a block: what an unwrapped input still owes comes now.
func (e *answerEncoder) shut(b *downBlock) {
	if b.unwrap != nil {
		rest, _ := b.unwrap.End()
		e.arguments(b, rest)
		b.unwrap = nil
	}
	if b.kind == translate.Think && e.signature != nil && e.signedCall == "" {
		w := e.begin(len(e.signature) + 32)
		w.raw("extra_content", e.signature)
		w.shut('}')
		e.end(&w, translate.OutOutput, nil)
		if e.whole != nil {
			e.whole.signed = e.signature
		}
		e.signature = nil
	}
}

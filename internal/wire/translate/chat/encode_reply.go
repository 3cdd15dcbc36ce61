package chat

import (
	"rubicon/internal/wire/translate"
)

// reply is a turn of the assistant in the parts of a message.
type reply struct {
	text, refusal string
	thoughts      []*translate.Block
	calls         []*translate.Block
	signatures    map[string]*translate.Block // by call; "" the message's own

	item    string // of the last text
	between bool   // something stood behind it
}

// say adds a text. Texts of one item follow each other directly; others are
// paragraphs.
func (r *reply) say(b *translate.Block) {
	if r.text != "" && (r.between || r.item != itemOf(b.Path)) {
		r.text += "\n\n"
	}
	r.text, r.item, r.between = r.text+b.Text, itemOf(b.Path), false
}

func (e *encoder) reply(blocks []translate.Block) *reply {
	r := &reply{signatures: map[string]*translate.Block{}}
	for i := range blocks {
		b := &blocks[i]
		r.between = r.between || b.Kind != translate.Text
		switch b.Kind {
		case translate.Text:
			r.say(b)
			if b.Citations != nil {
				e.rep.Take(translate.FeatureCitations, b.Path, "")
			}
		case translate.Refusal:
			r.refusal += b.Text
		case translate.Think:
			if b.Seal != nil && b.Seal.Kind == translate.Thought {
				r.signatures[b.ID] = b
			} else {
				r.thoughts = append(r.thoughts, b)
			}
		case translate.Call:
			r.calls = append(r.calls, b)
		case translate.Image, translate.File, translate.Audio:
			e.rep.Take(translate.FeatureFileOfReply, b.Path, "")
		default:
			e.foreign(b)
		}
	}
	return r
}

// assistant writes one message of the assistant: reasoning, text, calls.
func (e *encoder) assistant(blocks []translate.Block) {
	r := e.reply(blocks)
	e.w.element()
	e.w.open('{')
	e.w.text("role", "assistant")
	e.thoughts(r.thoughts)
	if r.text != "" || r.refusal == "" && len(r.calls) == 0 {
		e.w.text("content", r.text)
	} else {
		e.w.raw("content", []byte("null"))
	}
	if r.refusal != "" {
		e.w.text("refusal", r.refusal)
	}
	e.calls(r.calls, r.signatures)
	if b := r.signatures[""]; b != nil {
		e.w.raw("extra_content", []byte(b.Seal.Data))
	}
	e.w.shut('}')
}

func (e *encoder) thoughts(blocks []*translate.Block) {
	if len(blocks) == 0 {
		return
	}
	if e.detailed() {
		e.w.array("reasoning_details")
		for _, b := range blocks {
			e.w.writeDetail(b)
		}
		e.w.shut(']')
		return
	}
	text := ""
	for i, b := range blocks {
		if i > 0 {
			text += "\n\n"
		}
		text += b.Reasoned()
	}
	e.w.text(e.reasoningField(), text)
}

func (e *encoder) calls(calls []*translate.Block, signatures map[string]*translate.Block) {
	if len(calls) == 0 {
		return
	}
	e.w.array("tool_calls")
	for _, b := range calls {
		e.w.element()
		e.call(b, signatures[b.ID])
	}
	e.w.shut(']')
}

func (e *encoder) call(b, signed *translate.Block) {
	id := translate.CallID(translate.Chat, b.ID)
	if id != b.ID {
		e.rep.Note(translate.Changed, translate.FeatureCallID, b.Path, "", "")
	}
	name, input, typ := e.offers.Names.Wire(b.Namespace, b.Name), b.Input, "function"
	if how, _ := e.rep.How(translate.FeatureCustomTool); b.Custom && how == translate.Carried {
		typ = "custom"
	} else if b.Custom {
		input = translate.WrapInput(input)
		if _, offered := e.offers.Names.Restore("", name); !offered { // else its tool tells it
			e.rep.Take(translate.FeatureCustomTool, b.Path, b.Name)
		}
	}
	e.w.open('{')
	e.w.text("id", id)
	e.w.text("type", typ)
	e.w.object(typ)
	e.w.text("name", name)
	if typ == "custom" {
		e.w.text("input", input)
	} else {
		e.w.text("arguments", input)
	}
	e.w.shut('}')
	if signed != nil {
		e.w.raw("extra_content", []byte(signed.Seal.Data))
	}
	e.w.shut('}')
}

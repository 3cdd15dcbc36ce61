package chat

import (
	"slices"

	"rubicon/internal/wire/translate"
)

func (e *encoder) messages() {
	e.w.array("messages")
	e.system()
	for i := range e.turns {
		t := &e.turns[i]
		switch t.Role {
		case translate.System:
			for j := range t.Blocks {
				e.systemMessage(t.Blocks[j : j+1])
			}
		case translate.Assistant:
			e.assistant(t.Blocks)
		default:
			e.user(t.Blocks)
		}
	}
	e.w.shut(']')
}

// system writes the system text in front: a message for each block, or one for
// all where the model takes no more.
func (e *encoder) system() {
	blocks := e.heading
	if e.f.SingleSystem {
		e.systemMessage(blocks)
		return
	}
	for i := range blocks {
		e.systemMessage(blocks[i : i+1])
	}
}

func (e *encoder) systemMessage(blocks []translate.Block) {
	if len(blocks) == 0 {
		return
	}
	for i := range blocks {
		if b := &blocks[i]; b.Kind != translate.Text {
			e.rep.ExcludeBecause(translate.FeatureUnknownContent, b.Path, "system text holds text alone there", "send it in a message of the user")
			return
		}
	}
	e.w.element()
	e.w.open('{')
	e.w.text("role", e.systemRole())
	e.content(blocks, "\n\n")
	e.w.shut('}')
}

// content writes blocks as text where they are text alone, joined, else as
// parts. A cache point needs a part to stand on.
func (e *encoder) content(blocks []translate.Block, between string) {
	marked := slices.ContainsFunc(blocks, func(b translate.Block) bool { return b.Cache != nil })
	if marked || between == "" && len(blocks) > 1 || len(blocks) > 0 && blocks[0].Kind != translate.Text {
		e.w.array("content")
		for i := range blocks {
			e.part(&blocks[i])
		}
		e.w.shut(']')
		return
	}
	text := ""
	for i := range blocks {
		if i > 0 {
			text += between
		}
		text += blocks[i].Text
	}
	e.w.text("content", text)
}

// user writes the results of a turn, then what they hold beside text, then what
// the user says.
func (e *encoder) user(blocks []translate.Block) {
	var said, moved []translate.Block
	for i := range blocks {
		if b := &blocks[i]; b.Kind == translate.Result {
			moved = append(moved, e.result(b)...)
		} else {
			said = append(said, *b)
		}
	}
	if said = append(moved, said...); len(said) == 0 {
		return
	}
	e.w.element()
	e.w.open('{')
	e.w.text("role", "user")
	e.content(said, "")
	e.w.shut('}')
}

// result writes a result as text, and gives what of it has to stand elsewhere.
func (e *encoder) result(b *translate.Block) (moved []translate.Block) {
	id := translate.CallID(translate.Chat, b.ID)
	var inner []translate.Block
	for _, in := range b.Inner {
		switch {
		case in.Kind == translate.Text && in.Text == "":
		case in.Kind == translate.Text, e.f.ResultImages && in.Kind == translate.Image:
			inner = append(inner, in)
		case in.Kind == translate.Image || in.Kind == translate.File || in.Kind == translate.Audio:
			e.rep.Take(translate.FeatureResultImage, in.Path, "")
			moved = append(moved, in)
		default:
			e.foreign(&in)
		}
	}
	if b.Failed {
		e.rep.Take(translate.FeatureResultError, b.Path, "")
		if len(inner) == 0 {
			inner = []translate.Block{{Kind: translate.Text, Text: "Error"}}
		}
	}
	e.w.element()
	e.w.open('{')
	e.w.text("role", "tool")
	e.w.text("tool_call_id", id)
	e.resultContent(inner)
	e.w.shut('}')
	if len(moved) > 0 {
		moved = append([]translate.Block{{Kind: translate.Text, Text: "From the result of the call " + id + ":"}}, moved...)
	}
	return moved
}

func (e *encoder) resultContent(inner []translate.Block) {
	for i := range inner {
		if inner[i].Kind != translate.Text {
			e.w.array("content")
			for j := range inner {
				e.part(&inner[j])
			}
			e.w.shut(']')
			return
		}
	}
	e.content(inner, "\n")
}

// foreign tells content that has no place in this format.
func (e *encoder) foreign(b *translate.Block) {
	switch b.Kind {
	case translate.Hosted:
		e.rep.Exclude(translate.FeatureHostedHistory, b.Path)
	default:
		e.rep.Exclude(translate.FeatureUnknownContent, b.Path)
	}
}

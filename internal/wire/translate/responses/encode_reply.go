package responses

import (
	"strconv"
	"strings"

	"rubicon/internal/wire/translate"
)

// reply writes a turn of the assistant: each piece is an item of its own.
func (e *encoder) reply(blocks []translate.Block) {
	for i := 0; i < len(blocks); i++ {
		b := &blocks[i]
		switch b.Kind {
		case translate.Think:
			e.thought(b)
		case translate.Call:
			e.call(b)
		case translate.Text, translate.Refusal:
			n := i + 1
			for n < len(blocks) && said(&blocks[n]) && together(b, &blocks[n]) {
				n++
			}
			e.message(blocks[i:n], "assistant")
			i = n - 1
		case translate.Image, translate.File, translate.Audio:
			e.rep.Exclude(translate.FeatureFileOfReply, b.Path)
		default:
			e.foreign(b)
		}
	}
}

func said(b *translate.Block) bool { return b.Kind == translate.Text || b.Kind == translate.Refusal }

func (e *encoder) thought(b *translate.Block) {
	summary, content := b.Summary, ""
	switch {
	case e.native() || b.Seal == nil:
		content = b.Text
	case b.Text != "":
		summary = []string{b.Text} // what another format showed of it
	}
	e.w.begin("reasoning")
	e.w.array("summary")
	for _, paragraph := range summary {
		e.w.begin("summary_text")
		e.w.text("text", paragraph)
		e.w.shut('}')
	}
	e.w.shut(']')
	if content != "" {
		e.w.array("content")
		e.w.begin("reasoning_text")
		e.w.text("text", content)
		e.w.shut('}')
		e.w.shut(']')
	}
	if b.Seal != nil {
		e.w.text("encrypted_content", b.Seal.Data)
	}
	e.w.shut('}')
}

func (e *encoder) call(b *translate.Block) {
	typ, member := "function_call", "arguments"
	if b.Custom {
		typ, member = "custom_tool_call", "input"
	}
	id := e.ids.Call(b.ID)
	if id != b.ID {
		e.rep.Note(translate.Changed, translate.FeatureCallID, b.Path, "", "")
	}
	e.w.begin(typ)
	e.w.text("call_id", id)
	e.w.text("name", e.offers.Names.Wire(b.Namespace, b.Name))
	if b.Namespace != "" {
		e.w.text("namespace", b.Namespace)
	}
	e.w.text(member, b.Input)
	e.w.shut('}')
}

// user writes the results of a turn, then what they hold and cannot keep, then
// what the user says.
func (e *encoder) user(blocks []translate.Block) {
	var moved, rest []translate.Block
	for i := range blocks {
		switch b := &blocks[i]; b.Kind {
		case translate.Result:
			moved = append(moved, e.result(b)...)
		case translate.Hosted, translate.Unknown:
			if b.Origin == translate.Responses && e.native() && strings.HasSuffix(b.Path, "]") && strings.Count(b.Path, "[") == 1 {
				e.foreign(b) // an item, and no part of a message
				continue
			}
			rest = append(rest, *b)
		default:
			rest = append(rest, *b)
		}
	}
	if len(moved) > 0 {
		e.message(moved, "user")
	}
	e.messages(rest, "user")
}

// result writes a result, and gives what of it has to stand elsewhere.
func (e *encoder) result(b *translate.Block) (moved []translate.Block) {
	id := e.ids.Result(b.ID)
	var inner []translate.Block
	for _, in := range b.Inner {
		switch {
		case in.Kind == translate.Text && in.Text == "":
		case e.f.ResultImages, in.Kind == translate.Text, in.Kind != translate.Image && in.Kind != translate.File:
			inner = append(inner, in)
		default:
			e.rep.NoteBecause(translate.Moved, translate.FeatureResultImage, in.Path, "", "", "results are text there; it stands in a user message behind them")
			moved = append(moved, in)
		}
	}
	if b.Failed {
		e.rep.Take(translate.FeatureResultError, b.Path, "")
		if len(inner) == 0 {
			inner = []translate.Block{{Kind: translate.Text, Text: "Error"}}
		}
	}
	typ := "function_call_output"
	if b.Custom {
		typ = "custom_tool_call_output"
	}
	e.w.begin(typ)
	e.w.text("call_id", id)
	e.output(inner)
	e.w.shut('}')
	if len(moved) > 0 {
		moved = append([]translate.Block{{Kind: translate.Text, Text: "From the result of the call " + id + ":"}}, moved...)
	}
	return moved
}

// output writes what a result holds: a text where it is one.
func (e *encoder) output(inner []translate.Block) {
	switch {
	case len(inner) == 0:
		e.w.text("output", "")
	case len(inner) == 1 && inner[0].Kind == translate.Text && inner[0].Cache == nil:
		e.w.text("output", inner[0].Text)
	default:
		e.w.array("output")
		for i := range inner {
			e.part(&inner[i], "user")
		}
		e.w.shut(']')
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

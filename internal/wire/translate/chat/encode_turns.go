package chat

import (
	"slices"

	"rubicon/internal/wire/translate"
)

// systemRole is the word for system text.
func (e *encoder) systemRole() string {
	if e.f.DeveloperRole {
		return "developer"
	}
	return "system"
}

// arrange gives the turns as they are written: without what is dropped, results
// behind their calls.
func (e *encoder) arrange() []translate.Turn {
	var turns []translate.Turn
	for _, t := range e.r.Turns {
		if t.Phase != "" {
			e.rep.Take(translate.FeaturePhase, t.Path, t.Phase)
			t.Phase = ""
		}
		t.Blocks = e.filter(&t)
		if t.Role == translate.System && e.f.SingleSystem && len(t.Blocks) > 0 {
			t = e.tagged(t)
		}
		turns = append(turns, t)
	}
	turns = translate.Arrange(turns, e.rep)
	if translate.EndsWithReply(turns) && !e.native() {
		e.rep.Take(translate.FeaturePrefill, turns[len(turns)-1].Path, "")
	}
	return turns
}

// filter leaves out what says nothing and what has no place.
func (e *encoder) filter(t *translate.Turn) (kept []translate.Block) {
	for _, b := range t.Blocks {
		switch {
		case b.Kind == translate.Text && b.Text == "":
			if n := len(kept); b.Cache != nil && n > 0 && kept[n-1].Cache == nil {
				kept[n-1].Cache = b.Cache // the same place of the prompt
			}
			continue
		case b.Kind == translate.Think && !e.keepsThought(&b):
			continue
		case b.Kind == translate.Result && t.Role != translate.User:
			e.rep.ExcludeBecause(translate.FeaturePairs, b.Path, "a result belongs to a turn of the user", "send it as one")
			continue
		case b.Kind == translate.Call && t.Role != translate.Assistant:
			e.rep.ExcludeBecause(translate.FeaturePairs, b.Path, "a call belongs to a turn of the assistant", "send it as one")
			continue
		}
		kept = append(kept, b)
	}
	return kept
}

// keepsThought tells whether reasoning goes back: to a model that wants it, as
// text; and what its maker sealed in this format. The seals of other formats
// are never sent.
func (e *encoder) keepsThought(b *translate.Block) bool {
	if b.Seal != nil && b.Seal.Kind != translate.Detail && b.Seal.Kind != translate.Thought {
		e.rep.Take(translate.FeatureSeal, b.Path, "")
		b.Seal = nil
	}
	switch {
	case b.Seal != nil && b.Seal.Kind == translate.Thought, e.detailed() && b.Seal != nil:
		return true
	case b.Seal != nil:
		e.rep.Take(translate.FeatureSeal, b.Path, "")
		b.Seal = nil
	}
	if b.Reasoned() == "" {
		return false
	}
	if e.native() || e.f.ReasoningBack && e.reasoningField() != "" {
		return true
	}
	e.rep.NoteBecause(translate.Dropped, translate.FeatureReasoning, b.Path, "", "", "the model does not take its reasoning back")
	return false
}

// detailed tells whether reasoning travels as items that can hold seals.
func (e *encoder) detailed() bool { return e.reasoningField() == "reasoning_details" }

// reasoningField is the member of a message that holds its reasoning.
func (e *encoder) reasoningField() string {
	switch e.f.ReasoningField {
	case "none", "":
		if e.native() {
			return "reasoning_details"
		}
		return ""
	}
	return e.f.ReasoningField
}

// tagged keeps system text in its place for a model that takes one system
// message only.
func (e *encoder) tagged(t translate.Turn) translate.Turn {
	e.rep.NoteBecause(translate.Changed, translate.FeatureMidSystem, t.Path, "system_role", "", "it stands in its place inside a tag, because the model takes one system message only")
	t.Role, t.Blocks = translate.User, slices.Clone(t.Blocks)
	for i := range t.Blocks {
		if b := &t.Blocks[i]; b.Kind == translate.Text {
			b.Text = translate.TagSystem(b.Text)
		}
	}
	return t
}

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

// foreign tells content that has no place in this format.
func (e *encoder) foreign(b *translate.Block) {
	switch b.Kind {
	case translate.Hosted:
		e.rep.Exclude(translate.FeatureHostedHistory, b.Path)
	default:
		e.rep.Exclude(translate.FeatureUnknownContent, b.Path)
	}
}

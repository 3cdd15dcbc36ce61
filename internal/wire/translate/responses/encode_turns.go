package responses

import (
	"strings"

	"rubicon/internal/wire/translate"
)

// arrange gives the turns as they are written: without what is dropped, results
// behind their calls.
func (e *encoder) arrange() []translate.Turn {
	var turns []translate.Turn
	for _, t := range e.r.Turns {
		t.Blocks = e.filter(&t)
		turns = append(turns, t)
	}
	turns = translate.Arrange(turns, e.rep)
	if translate.EndsWithReply(turns) && !e.native() {
		e.rep.Take(translate.FeaturePrefill, turns[len(turns)-1].Path, "")
	}
	return turns
}

// filter leaves out what says nothing and what has no place. The blocks are the
// encoder's own: cache points move in them.
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

// keepsThought tells whether reasoning goes back: what was sealed in this
// format, and open text to a model that wants it. The seals of other formats are
// never sent.
func (e *encoder) keepsThought(b *translate.Block) bool {
	switch {
	case b.Seal != nil && b.Seal.Kind == translate.Encrypted:
		return true
	case b.Seal != nil:
		e.rep.Take(translate.FeatureSeal, b.Path, "")
		b.Seal = nil
	}
	if b.Reasoned() == "" {
		return false
	}
	if e.native() || e.f.ReasoningBack {
		return true
	}
	e.rep.NoteBecause(translate.Dropped, translate.FeatureReasoning, b.Path, "", "", "the model does not take reasoning back that it did not seal")
	return false
}

// systemRole is the word for system text.
func (e *encoder) systemRole() string {
	if e.f.DeveloperRole {
		return "developer"
	}
	return "system"
}

// input writes all turns as items. They carry no ids: those live where they were
// made.
func (e *encoder) input() {
	blocks := e.heading
	if n := e.instructions(blocks); n > 0 {
		blocks = blocks[n:]
	}
	e.w.array("input")
	e.messages(blocks, e.systemRole())
	for i := range e.turns {
		t := &e.turns[i]
		switch t.Role {
		case translate.System:
			e.messages(t.Blocks, e.systemRole())
		case translate.Assistant:
			e.reply(t.Blocks)
		default:
			e.user(t.Blocks)
		}
	}
	e.w.shut(']')
	if len(e.turns) == 0 && len(e.heading) == 0 {
		e.rep.Take(translate.FeatureNoTurns, "", "")
	}
}

// instructions writes what stood in a client's instructions, and tells how much
// of the system text that was. All other system text stays in the input, where
// its cache points have a place.
func (e *encoder) instructions(blocks []translate.Block) (n int) {
	var texts []string
	for n < len(blocks) && e.native() && strings.HasPrefix(blocks[n].Path, "instructions") && blocks[n].Kind == translate.Text {
		texts = append(texts, blocks[n].Text)
		n++
	}
	if n > 0 {
		e.w.text("instructions", strings.Join(texts, "\n\n"))
	}
	return n
}

// messages writes blocks as messages of one role: those of one message of the
// client's as one.
func (e *encoder) messages(blocks []translate.Block, role string) {
	for len(blocks) > 0 {
		n := 1
		for n < len(blocks) && together(&blocks[0], &blocks[n]) {
			n++
		}
		e.message(blocks[:n], role)
		blocks = blocks[n:]
	}
}

// together tells whether two blocks stood in one message of the client's.
func together(a, b *translate.Block) bool {
	return itemOf(a.Path) == itemOf(b.Path) && a.Phase == b.Phase
}

// itemOf is the message, or the item, that a path is in.
func itemOf(path string) string {
	if end := strings.IndexByte(path, ']'); end >= 0 {
		return path[:end]
	}
	return path
}

func (e *encoder) message(blocks []translate.Block, role string) {
	e.w.begin("message")
	e.w.text("role", role)
	e.w.array("content")
	for i := range blocks {
		e.part(&blocks[i], role)
	}
	e.w.shut(']')
	if phase := blocks[0].Phase; phase != "" {
		e.w.text("phase", phase)
	}
	e.w.shut('}')
}

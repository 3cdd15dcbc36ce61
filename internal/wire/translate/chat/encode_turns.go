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

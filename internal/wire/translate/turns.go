package translate

import (
	"reflect"
	"slices"
)

// Arrange orders turns as every upstream wants them: turns of one side that
// follow each other are one, turns without blocks are left out, and the results
// of a turn's calls stand first in the turn of the user right behind it. It
// reports calls without a result, results without a call, and second results
// that differ from the first; equal ones are one. Each result learns the name
// and the kind of its call.
func Arrange(turns []Turn, rep *Reporter) []Turn {
	a := arranger{rep: rep, latest: map[string]*pair{}}
	for i := range turns {
		a.turn(&turns[i])
	}
	return a.finish()
}

// EndsWithReply tells whether the last turn is the assistant's, which asks the
// model to go on with it.
func EndsWithReply(turns []Turn) bool {
	return len(turns) > 0 && turns[len(turns)-1].Role == Assistant
}

// pair is a call with its result.
type pair struct {
	call   *Block
	result *Block
}

type arranger struct {
	rep    *Reporter
	out    []Turn
	calls  [][]*pair // by turn of out
	latest map[string]*pair
}

func (a *arranger) turn(t *Turn) {
	if len(t.Blocks) == 0 {
		return
	}
	at := a.open(t)
	for i := range t.Blocks {
		b := t.Blocks[i]
		if b.Kind == Result && t.Role == User {
			a.result(b)
			continue
		}
		a.out[at].Blocks = append(a.out[at].Blocks, b)
		if b.Kind == Call {
			a.call(at, b)
		}
	}
}

// open gives the turn that t belongs to: the last one if it is of the same side.
func (a *arranger) open(t *Turn) int {
	last := len(a.out) - 1
	if last >= 0 && a.out[last].Role == t.Role {
		if a.out[last].Phase != t.Phase {
			a.out[last].Phase = ""
		}
		return last
	}
	fresh := *t
	fresh.Blocks = nil
	a.out, a.calls = append(a.out, fresh), append(a.calls, nil)
	return last + 1
}

func (a *arranger) call(at int, b Block) {
	if slices.ContainsFunc(a.calls[at], func(p *pair) bool { return p.call.ID == b.ID }) {
		a.rep.ExcludeBecause(FeaturePairs, b.Path, "the call id "+quote(b.ID)+" stands twice in one turn", "give each call an id of its own")
		return
	}
	p := &pair{call: &b}
	a.calls[at] = append(a.calls[at], p)
	a.latest[b.ID] = p
}

func (a *arranger) result(b Block) {
	p := a.latest[b.ID]
	switch {
	case p == nil:
		a.rep.ExcludeBecause(FeaturePairs, b.Path, "no call in front of it has the id "+quote(b.ID), "send the call, too, or leave out its result")
	case p.result == nil:
		b.Name, b.Namespace, b.Custom = p.call.Name, p.call.Namespace, p.call.Custom
		p.result = &b
	case !sameResult(*p.result, b):
		a.rep.ExcludeBecause(FeaturePairs, b.Path, "the call "+quote(b.ID)+" has two different results", "send one result for each call")
	}
}

// finish puts the results behind their calls and joins what then stands side by
// side.
func (a *arranger) finish() []Turn {
	var joined []Turn
	for i := range a.out {
		joined = join(joined, a.out[i])
		if results := a.results(i); len(results) > 0 {
			joined = join(joined, Turn{Role: User, Blocks: results, Path: results[0].Path})
		}
	}
	return joined
}

func (a *arranger) results(turn int) (blocks []Block) {
	for _, p := range a.calls[turn] {
		if p.result == nil {
			a.rep.ExcludeBecause(FeaturePairs, p.call.Path, "the call "+quote(p.call.ID)+" has no result", "send its result, or leave out the call")
			continue
		}
		blocks = append(blocks, *p.result)
	}
	return blocks
}

func join(turns []Turn, t Turn) []Turn {
	if len(t.Blocks) == 0 {
		return turns
	}
	last := len(turns) - 1
	if last < 0 || turns[last].Role != t.Role {
		return append(turns, t)
	}
	if turns[last].Phase != t.Phase {
		turns[last].Phase = ""
	}
	turns[last].Blocks = append(slices.Clip(turns[last].Blocks), t.Blocks...)
	return turns
}

// sameResult compares what two results say.
func sameResult(a, b Block) bool {
	return a.Failed == b.Failed && reflect.DeepEqual(unplaced(a.Inner), unplaced(b.Inner))
}

// unplaced is blocks without their paths and cache points.
func unplaced(blocks []Block) []Block {
	out := slices.Clone(blocks)
	for i := range out {
		out[i].Path, out[i].Cache = "", nil
	}
	return out
}

// quote shows a client's id in a message, bounded.
func quote(id string) string {
	if len(id) > 80 {
		id = id[:80] + "…"
	}
	return `"` + id + `"`
}

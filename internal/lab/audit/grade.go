package audit

import (
	"fmt"
	"net/http"
	"slices"
)

// grade judges one request of the crash test. Fails come first: whatever else
// was good, these undo it.
func (w want) grade(t *observation, s *auditCase, o Options) []Finding {
	g := &grader{findings{t: t, s: s, c: t.client, whole: wantedText(s, t.ask)}}
	if g.lost() {
		return g.found
	}
	g.never()
	switch {
	case w.answer == mustFail:
		g.refusal(w)
	case g.c.whole(g.whole):
		g.answered(w, o)
	case !g.c.finished():
		g.honest(w)
	}
	return g.found
}

// grader is a judgement with more than one way to be wrong.
type grader struct{ findings }

func (g *grader) down(to Grade, c Check, format string, args ...any) {
	g.found = append(g.found, Finding{Check: c, Grade: to, Text: fmt.Sprintf(format, args...)})
}

// never: what makes any case a failure.
func (g *grader) never() {
	c := g.c
	if n := g.t.burst(hammerWindow); n > hammerCalls {
		g.down(Fail, Hammering, "%d tries within %s", n, hammerWindow)
	}
	if c.hasDuplicate() {
		g.down(Fail, DuplicateOutput, "%d words, %d openings, %d answers' ids", c.words(), c.openings, len(c.ids))
	}
	if c.finished() && c.text.String() != g.whole {
		g.down(Fail, FalseFinish, "%d of %d words, and it looks like an answer", c.words(), g.s.words)
	}
	if !c.finished() && !g.c.inOrder(g.whole) {
		g.down(Fail, DuplicateOutput, "the text is no beginning of the answer")
	}
	if c.after > 0 {
		g.down(Partial, Ending, "%d events behind the ending", c.after)
	}
	if c.unread > 0 {
		g.down(Partial, Unreadable, "%d events that are no JSON reached the client", c.unread)
	}
}

// answered: the whole answer, once. Was it in time and rightly counted?
func (g *grader) answered(w want, o Options) {
	if w.first > 0 && g.c.firstOutput > o.scale(w.first) {
		g.down(Partial, FirstEvent, "first token after %s, a second channel could have given it within %s", short(g.c.firstOutput), short(o.scale(w.first)))
	}
	if g.s.name == "accounting" {
		g.accounts()
	}
}

// accounts: the tokens of the answer that was delivered, and only those.
func (g *grader) accounts() {
	if g.c.usage == nil {
		g.down(Partial, Usage, "no usage was told, though it was asked for")
		return
	}
	before := len(g.found)
	g.usage()
	for i := range g.found[before:] {
		g.found[before+i].Grade = Fail
	}
}

// refusal: a request that no provider takes is refused, with the reason and
// without trying around.
func (g *grader) refusal(w want) {
	c := g.c
	if c.finished() {
		g.down(Fail, Status, "an answer, where upstream refused")
		return
	}
	f := failureSeen{}
	if len(c.failures) > 0 {
		f = c.failures[len(c.failures)-1]
	}
	switch {
	case c.status >= 400 && !slices.Contains(w.status, c.status):
		g.down(Fail, Status, "status %d for a request that can never succeed; right is %s", c.status, oneOf(w.status))
	case !slices.Contains(w.codes, f.code) && !slices.Contains(w.codes, f.kind):
		g.down(Partial, Status, "code %q; right is %s", f.name(), oneOf(w.codes))
	}
	if n := g.t.all(); n > w.calls {
		g.down(Partial, UpstreamCalls, "%d calls for a request that can never succeed", n)
	}
}

// honest: no whole answer, but the client knows.
func (g *grader) honest(w want) {
	c := g.c
	switch {
	case !c.hasFailure() && c.end == endBroken:
		g.down(Safe, Ending, "the connection broke off; only the transport tells the client")
	case c.status >= 400 && c.status < 500 && c.status != http.StatusTooManyRequests && c.status != http.StatusRequestTimeout:
		g.down(Fail, Status, "status %d blames the client for upstream's failure", c.status)
	case noTerminal(g):
		// Without its terminal event an answer of these protocols is a cut: an
		// error is right.
	default:
		g.down(Safe, NoAnswer, "no whole answer, and the client is told so")
	}
}

// noTerminal: the case of the missing end, on a protocol where nothing else
// says that the answer is complete.
func noTerminal(g *grader) bool {
	return g.s.name == "no-done" && g.c.words() == g.s.words && g.c.hasFailure()
}

// series judges many requests of one case: every one answered is a pass, nine
// of ten and the rest honest is partial, all honest is safe.
func series(all [][]Finding, requests int) []Finding {
	var out []Finding
	answered := 0
	for _, found := range all {
		worst := Pass
		for _, f := range found {
			if !f.Grade.AtLeast(worst) {
				worst = f.Grade
			}
			if f.Grade == Fail && len(out) < 5 {
				out = append(out, f)
			}
		}
		if worst.AtLeast(Partial) {
			answered++
		}
	}
	switch missed := requests - answered; {
	case len(out) > 0 || missed == 0:
	case missed*10 <= requests:
		out = append(out, Finding{NoAnswer, Partial, fmt.Sprintf("%d of %d requests failed, honestly", missed, requests)})
	default:
		out = append(out, Finding{NoAnswer, Safe, fmt.Sprintf("%d of %d requests failed, honestly", missed, requests)})
	}
	return out
}

package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rubicon/internal/lab/sim"
)

// auditCase is one case as data: what the providers do, what the client asks, and
// what must come of it. Durations are those of a full run; Fast divides them.
type auditCase struct {
	name, row, about string
	surfaces         []Surface // where it applies; nil: everywhere
	primary          providerPart
	fallback         providerPart
	requests         []clientRequest // one after the other; nil: one plain stream
	every, during    time.Duration   // the first ask again and again, so often and so long
	limit            time.Duration   // longer is a hang; 0: usualLimit
	ownChannels      bool            // its failure strikes a credential: it needs channels of its own
	words            int             // of the whole answer
	want             want
}

// defaultLimit is when a request without an end counts as hanging: longer than
// the profile's longest timer.
const defaultLimit = 100 * time.Second

// applies reports whether the case exists on a surface.
func (s *auditCase) applies(to Surface) bool {
	return s.surfaces == nil || slices.Contains(s.surfaces, to)
}

// providerPart is what one provider does in a case.
type providerPart struct {
	calls  [][]sim.Step
	choose func(callInfo) string // the name of other steps; "" or nil: calls
	other  func(name string) []sim.Step
}

// callInfo is one call to a provider, as far as a part may depend on it.
type callInfo struct {
	body  []byte
	since time.Duration // the case began, in the time of a full run
}

// clientRequest is one request of the client.
type clientRequest struct {
	whole     bool // not streamed
	stored    bool // kept upstream
	continues bool // continues the answer to the ask before
	unknown   bool // continues an answer that nobody gave
	tool      bool // offers a function
	hosted    bool // offers a tool that upstream runs by itself
	leaves    bool // the client leaves after its first output
}

// again is a part that does the same at every call.
func again(steps ...sim.Step) providerPart { return providerPart{calls: [][]sim.Step{steps}} }

// turns is a part whose calls differ; the last repeats.
func turns(calls ...[]sim.Step) providerPart { return providerPart{calls: calls} }

// always gives the same other steps, whatever the name.
func always(steps ...sim.Step) func(string) []sim.Step {
	return func(string) []sim.Step { return steps }
}

// gap is the time between two words of an answer.
const gap = 20 * time.Millisecond

// word is the n-th word of every answer. All are different and equally long, so
// that a cut, a repetition and a hole can be told from the text alone.
func word(n int) string { return fmt.Sprintf("w%02d ", n) }

// answerText is the whole answer of n words.
func answerText(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(word(i + 1))
	}
	return b.String()
}

// answer is the whole answer of n words. Input tokens tell the providers apart.
func answer(n int, input int64) sim.Step {
	s := sim.Answer(answerText(n), sim.Tokens(input, 0, int64(n)))
	s.Pieces, s.For = n, gap
	return s
}

// Input tokens that the providers report.
const (
	primaryInput  = 20
	fallbackInput = 30
)

// openingSteps is a stream up to its first words.
func openingSteps(words int) []sim.Step {
	steps := []sim.Step{sim.Created(), sim.InProgress()}
	if words == 0 {
		return steps
	}
	return append(append(steps, sim.Item("message"), sim.Part()), wordSteps(1, words)...)
}

// wordSteps are the words from one to another.
func wordSteps(from, to int) []sim.Step {
	var steps []sim.Step
	for i := from; i <= to; i++ {
		steps = append(steps, sim.Text(word(i)), sim.Wait(gap))
	}
	return steps
}

// closingSteps ends a text that was opened.
func closingSteps(end ...sim.Step) []sim.Step {
	return append([]sim.Step{sim.TextDone(), sim.PartDone(), sim.ItemDone()}, end...)
}

// steps joins lists.
func steps(lists ...[]sim.Step) []sim.Step { return slices.Concat(lists...) }

// scaled divides the waits of a list.
func scaled(list []sim.Step, by func(time.Duration) time.Duration) []sim.Step {
	out := slices.Clone(list)
	for i := range out {
		out[i].For = by(out[i].For)
	}
	return out
}

package sim

import (
	"fmt"
	"strings"
	"time"
)

// protocolWriter says the words of the language in one protocol. It keeps what was said, so that later events and the final
// object agree with the earlier ones.
type protocolWriter interface {
	// event gives the frames of one event word, none where the protocol has no counterpart. For words that end the
	// answer it also gives what makes the whole answer that a request without stream gets.
	event(s Step) ([]frame, func() reply)
	// expand turns an answer step into the event words that it is made of.
	expand(s Step) []Step
	// failure is the JSON error answer of a fail step.
	failure(s Step) reply
}

// callContext is what every voice knows of its call.
type callContext struct {
	q     request
	ids   *ids
	style *style
	now   time.Time
	usage *Usage // the first usage that a later step reports: openings are consistent with it
}

// ids makes ids up: prefix, the provider's seed, the call's number, and a count inside the call.
type ids struct {
	seed string
	call int
	n    int
}

// next gives ids like resp_a000012 and, later in the same call, msg_a0000120001.
func (i *ids) next(prefix string) string {
	i.n++
	if i.n == 1 {
		return fmt.Sprintf("%s_%s%06d", prefix, i.seed, i.call)
	}
	return fmt.Sprintf("%s_%s%06d%04d", prefix, i.seed, i.call, i.n-1)
}

// or gives the id that a step names, or makes one up.
func (i *ids) or(given, prefix string) string {
	if given != "" {
		return given
	}
	return i.next(prefix)
}

// withChanges lays the step's own changes over an event.
func (c callContext) withChanges(s Step, event object) string {
	return string(jsonText(event.merge(c.changes(s))))
}

// changes is the step's set.
func (c callContext) changes(s Step) object {
	if s.Set == nil {
		return nil
	}
	tree, _ := parseOrdered(s.Set)
	over, _ := tree.(object) // Check has refused anything else
	return over
}

// sized is the text of a delta: what the step says, or for huge as much as makes the event that size.
func (c callContext) sized(s Step, build func(text string) frame) string {
	if s.Do != "huge" {
		return s.Text
	}
	return strings.Repeat("x", max(0, s.Bytes-len(c.style.encode(build("")))))
}

// modelName is the model that answers.
func (c callContext) modelName(s Step) string {
	if s.Model != "" {
		return s.Model
	}
	return c.q.model
}

// pieces cuts a text into n deltas of about the same size, never inside a character.
func pieces(text string, n int) []string {
	if n <= 0 {
		n = 2
	}
	r := []rune(text)
	n = min(n, len(r))
	out := make([]string, 0, n)
	for i := range n {
		out = append(out, string(r[i*len(r)/n:(i+1)*len(r)/n]))
	}
	return out
}

package audit

import (
	"fmt"
	"slices"
	"strings"
)

// The checks of the contract suite; docs/audit.md tells what each asks.
const (
	NoAnswer        Check = "answer"             // the whole answer was to be had, and did not come
	DuplicateOutput Check = "duplicated_output"  // text or an opening twice, or events of two answers
	RepeatedTool    Check = "repeated_tool_call" // one call asked for, two told
	FalseFinish     Check = "false_finish"       // a cut that looks finished
	ReplayStateful  Check = "replay_stateful"    // a stored or continued request ran again
	ReplayTimeout   Check = "replay_timeout"     // ran again after a timeout, where it must not
	ReplayEffects   Check = "replay_effects"     // ran again although a hosted tool, usage or output was seen
	UpstreamCalls   Check = "upstream_calls"     // more or fewer calls than docs/contract.md#s3-budgets allows
	Status          Check = "status"             // another status or code than docs/contract.md#s5 wants
	ErrorShape      Check = "error_shape"        // no error as the protocol writes it
	RetryAdvice     Check = "retry_advice"       // SDKs would repeat what must not be repeated
	Ending          Check = "ending"             // not exactly one ending
	Hang            Check = "hang"               // no end in time
	FirstEvent      Check = "first_event"        // output was kept back
	Leak            Check = "leak"               // an upstream's address, key or account
	Unreadable      Check = "unreadable"         // events that are no JSON
	Cancelled       Check = "cancelled"          // the client left and upstream went on
	Usage           Check = "usage"              // other tokens than the delivered answer's
	Hammering       Check = "hammering"          // too many tries in too short a time
)

// Checks lists all of them, in the order of a report.
func Checks() []Check {
	return []Check{NoAnswer, DuplicateOutput, RepeatedTool, FalseFinish, ReplayStateful, ReplayTimeout, ReplayEffects, UpstreamCalls, Status,
		ErrorShape, RetryAdvice, Ending, Hang, FirstEvent, Leak, Unreadable, Cancelled, Usage, Hammering}
}

// check holds against a request what was not as it must be.
func (w want) check(t *observation, s *auditCase, o Options) []Finding {
	j := &findings{t: t, s: s, c: t.client, whole: wantedText(s, t.ask)}
	if j.lost() {
		return j.found
	}
	j.wire()
	j.output()
	j.calls(w)
	j.came(w)
	if w.first > 0 && (j.c.firstOutput == 0 || j.c.firstOutput > o.scale(w.first)) {
		j.add(FirstEvent, "first output after %s; upstream had sent it at once", short(j.c.firstOutput))
	}
	return j.found
}

// wantedText is the whole answer's text.
func wantedText(s *auditCase, a clientRequest) string {
	if a.tool {
		return ""
	}
	return answerText(s.words)
}

// findings gathers what is held against one request.
type findings struct {
	t     *observation
	s     *auditCase
	c     *clientView
	whole string
	found []Finding
}

func (j *findings) add(c Check, format string, args ...any) {
	j.found = append(j.found, Finding{Check: c, Grade: Fail, Text: fmt.Sprintf(format, args...)})
}

// lost: there is nothing to judge.
func (j *findings) lost() bool {
	switch {
	case j.c.end == endHung:
		j.add(Hang, "no end after %s: %s", short(j.c.total), j.c)
	case j.c.end == endRefused:
		j.add(NoAnswer, "no answer at all: %s", j.c.problem)
	default:
		return false
	}
	return true
}

// wire: how it ended, and what must never be on it.
func (j *findings) wire() {
	c := j.c
	if leaks := j.t.leaks(); len(leaks) > 0 {
		j.add(Leak, "the client was told %s", strings.Join(leaks, ", "))
	}
	if c.unread > 0 {
		j.add(Unreadable, "%d events that are no JSON", c.unread)
	}
	switch {
	case c.end == endClientLeft:
		if j.t.running > 0 {
			j.add(Cancelled, "%d upstream calls went on for more than a second after the client had left", j.t.running)
		}
	case c.end == endBroken:
		j.add(Ending, "the connection broke off without a word")
	case c.silent():
		j.add(Ending, "the stream was just closed")
	case c.endings() != 1:
		j.add(Ending, "%d endings", c.endings())
	case c.after > 0:
		j.add(Ending, "%d events behind the ending", c.after)
	}
	if n := j.t.burst(hammerWindow); n > hammerCalls {
		j.add(Hammering, "%d calls within %s", n, hammerWindow)
	}
}

// output: nothing twice, nothing falsely finished.
func (j *findings) output() {
	c := j.c
	if c.hasDuplicate() {
		j.add(DuplicateOutput, "%d words, %d openings, %d answers' ids", c.words(), c.openings, len(c.ids))
	}
	if len(c.tools) > 1 {
		j.add(RepeatedTool, "%d calls, upstream made one", len(c.tools))
	}
	if c.finished() && c.end != endClientLeft && !j.complete() {
		j.add(FalseFinish, "%s; the whole answer has %d words", c, j.s.words)
	}
}

// complete reports whether everything was said.
func (j *findings) complete() bool {
	if j.t.ask.tool {
		return len(j.c.tools) > 0 && j.c.tools[0].name == toolName && sameJSON(j.c.tools[0].args, toolArgs)
	}
	return j.c.text.String() == j.whole
}

func (j *findings) calls(w want) {
	n, most := j.t.all(), w.calls
	if most == 0 || w.answer == mayAnswer && j.complete() {
		most = maxCalls
	}
	check := w.replay
	if check == "" {
		check = UpstreamCalls
	}
	fewest := max(w.fewest, 1)
	if w.fewest < 0 {
		fewest, most = 0, 0
	}
	switch {
	case n > most:
		j.add(check, "%d calls (%d primary, %d fallback), at most %d are right", n, len(j.t.calls[primary]), len(j.t.calls[fallback]), most)
	case n < fewest:
		j.add(UpstreamCalls, "%d calls, at least %d were to be seen", n, fewest)
	}
}

// came: the answer, or the right failure.
func (j *findings) came(w want) {
	c := j.c
	good := c.finished() && j.complete()
	switch {
	case c.end == endClientLeft:
		return
	case good && w.answer == mustFail:
		j.add(Status, "the answer came, where the failure was to be told")
	case good:
		j.usage()
		return
	case w.answer == mustAnswer && !c.finished():
		j.add(NoAnswer, "%s, though an answer was to be had", c)
	}
	if c.hasFailure() {
		j.failure(w)
	}
}

// usage: the delivered answer's tokens, and no other attempt's.
func (j *findings) usage() {
	input := int64(primaryInput)
	if j.t.answeredBy() == fallback {
		input = fallbackInput
	}
	want := usageSeen{input, int64(j.s.words)}
	for _, x := range [...]struct {
		who string
		*usageSeen
	}{{"the client was told", j.c.usage}, {"the gateway's record has", j.t.recorded}} {
		if x.usageSeen != nil && *x.usageSeen != want {
			j.add(Usage, "%s %d input and %d output tokens; the answer has %d and %d", x.who, x.input, x.usageSeen.output, want.input, want.output)
		}
	}
}

// failure: status, code, shape, and what SDKs make of it.
func (j *findings) failure(w want) {
	c := j.c
	f := failureSeen{}
	if len(c.failures) > 0 {
		f = c.failures[len(c.failures)-1]
	}
	if len(w.status) > 0 && c.status >= 400 && !slices.Contains(w.status, c.status) {
		j.add(Status, "status %d, right is %s", c.status, oneOf(w.status))
	}
	if len(w.codes) > 0 && !slices.Contains(w.codes, f.code) && !slices.Contains(w.codes, f.kind) {
		j.add(Status, "code %q, right is %s", f.name(), oneOf(w.codes))
	}
	if !f.jsonBody || f.message == "" || f.code == "" && f.kind == "" {
		j.add(ErrorShape, "the error has no message and type as the protocol writes them")
	}
	if c.status < 400 {
		return
	}
	if w.advice && !c.socket && retried(c.status) && c.header.Get("X-Should-Retry") != "false" {
		j.add(RetryAdvice, "status %d without x-should-retry: false; SDKs send it again by themselves", c.status)
	}
	if w.delayed && c.header.Get("Retry-After") == "" {
		j.add(RetryAdvice, "status %d without retry-after", c.status)
	}
}

// retried are the statuses after which the usual SDKs repeat a request.
func retried(status int) bool {
	return status == 408 || status == 409 || status == 429 || status >= 500
}

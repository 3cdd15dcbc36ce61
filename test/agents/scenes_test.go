package agents

import (
	"strings"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
)

// agentCase is what the providers do, and what must come of it.
type agentCase struct {
	name, what string
	prompts    int // 1 unless set
	poor       bool
	direct     bool // played without the gateway too, to compare
	lasting    bool // the failure never ends: an agent may give up its socket
	// a and b are what the first and the second channel do about prompts and
	// about the shell's output.
	a, b  func(t tool) (starts, afters sim.Script)
	check func(t *testing.T, a agent, o outcome)
}

// good answers everything.
func good(tool) (sim.Script, sim.Script) {
	return sim.Calls(says(hello), says(again)), sim.Play(says(concluded)...)
}

// loop calls the shell and answers its output.
func loop(t tool) (sim.Script, sim.Script) {
	return sim.Play(calls(t)...), sim.Play(says(concluded)...)
}

// resumed is a loop, and an answer to the second prompt.
func resumed(t tool) (sim.Script, sim.Script) {
	return sim.Calls(calls(t), says(again)), sim.Play(says(concluded)...)
}

// always does the same at every call.
func always(steps []sim.Step) func(tool) (sim.Script, sim.Script) {
	return func(tool) (sim.Script, sim.Script) { return sim.Play(steps...), sim.Play(steps...) }
}

// firstly fails the first prompt and is good from then on.
func firstly(steps []sim.Step) func(tool) (sim.Script, sim.Script) {
	return func(tool) (sim.Script, sim.Script) {
		return sim.Calls(steps, says(hello)), sim.Play(says(concluded)...)
	}
}

var scenes = []agentCase{
	{name: "answer", what: "A good answer.", a: good, b: good,
		check: func(t *testing.T, a agent, o outcome) {
			o.ends(t, hello)
			o.turns(t, journal.OutcomeCompleted)
			o.upstream(t, 1, 0)
		}},
	{name: "tools", what: "The model calls the agent's shell once, reads its output and answers.", a: loop, b: loop,
		check: func(t *testing.T, a agent, o outcome) {
			o.ends(t, concluded)
			o.turns(t, journal.OutcomeCompleted, journal.OutcomeCompleted)
			o.upstream(t, 2, 0)
			o.neverStopped(t)
			o.continued(t, a, 1)
		}},
	{name: "resumed", what: "A second prompt, in a new process, continues a session in which the shell was called.", prompts: 2, a: resumed, b: resumed,
		check: func(t *testing.T, a agent, o outcome) {
			o.ends(t, again)
			o.turns(t, journal.OutcomeCompleted, journal.OutcomeCompleted, journal.OutcomeCompleted)
			o.upstream(t, 3, 0)
			o.neverStopped(t)
			o.continued(t, a, 1)
			if last := o.calls[len(o.calls)-1].Body; !strings.Contains(last, concluded) {
				t.Errorf("the second prompt was not sent with the first answer: %s", last)
			}
		}},
	{name: "sealed reasoning", what: "A tool loop whose reasoning is sealed (encrypted content, a signature). The first channel answers the prompt with 500, " +
		"so the second one makes it, and the shell's output must go there too, although the first has priority. (Chat seals nothing.)",
		a: func(tool) (sim.Script, sim.Script) {
			return sim.Play(sim.ReplyError(500, "server_error")), sim.Play(says(concluded)...)
		},
		b: func(x tool) (sim.Script, sim.Script) { return sim.Play(sealed(x)...), sim.Play(says(concluded)...) },
		check: func(t *testing.T, a agent, o outcome) {
			o.ends(t, concluded)
			o.turns(t, journal.OutcomeCompleted, journal.OutcomeCompleted)
			o.neverStopped(t)
			o.continued(t, a, 1)
			if last := o.calls[len(o.calls)-1]; a.channel != "chat" && (last.by != "b" || !strings.Contains(last.Body, seal)) {
				t.Errorf("what b sealed went to %s: %s", last.by, last.Body)
			}
		}},
	{name: "failed event before output", what: "A tool loop; the first channel fails every time before output (a failure event), the second is good.",
		a: always(failsEarly()), b: loop, check: hidden},
	{name: "broken before output", what: "The same; the first channel breaks off every time before any event.",
		a: always(breaksEarly()), b: loop, check: hidden},
	{name: "server error before output", what: "The same; the first channel answers 500 every time.",
		a: always([]sim.Step{sim.ReplyError(500, "server_error")}), b: loop, check: hidden},
	{name: "cut after output, once", what: "The first answer breaks in the middle of its text; later ones are good.", direct: true,
		a: firstly(cutInText()), b: good,
		check: func(t *testing.T, a agent, o outcome) {
			o.recovers(t, hello)
			o.cut(t, 1)
			o.upstreamOf(t, "b", 0)
			o.noMoreTries(t)
		}},
	{name: "cut after output, always", what: "Every answer of both channels breaks in the middle of its text.", direct: true, lasting: true,
		a: always(cutInText()), b: always(cutInText()),
		check: func(t *testing.T, a agent, o outcome) {
			o.fails(t)
			o.cut(t, o.streams())
			o.noMoreTries(t)
		}},
	{name: "cut in a tool call, once", what: "The first answer breaks off when its call of the shell is whole, but not its end; later ones are good.", direct: true,
		a: func(x tool) (sim.Script, sim.Script) {
			return sim.Calls(cutInCall(x), calls(x), says(hello)), sim.Play(says(concluded)...)
		}, b: good,
		check: func(t *testing.T, a agent, o outcome) {
			o.recovers(t, concluded)
			o.cut(t, 1)
			o.upstreamOf(t, "b", 0)
			o.noMoreTries(t)
			if said := o.callsOf(prompted); o.ran > said {
				t.Errorf("the command ran %d times, the providers called it %d times", o.ran, said)
			}
		}},
	{name: "failing for good before output", what: "Both channels fail every time before output (a failure event).", direct: true, lasting: true,
		a: always(failsEarly()), b: always(failsEarly()),
		check: func(t *testing.T, a agent, o outcome) {
			o.fails(t)
			o.noMoreTries(t)
			for _, r := range o.records {
				if r.Outcome != journal.OutcomeFailed || r.Charge != 0 || len(r.Attempts) != 2 {
					t.Errorf("not failed free of charge after two attempts: %+v", r)
				}
			}
		}},
	{name: "429 with Retry-After", what: "Both channels answer the first prompt with 429 and `Retry-After: 2`; later they are good.", direct: true,
		a: firstly(limited(2)), b: firstly(limited(2)),
		check: func(t *testing.T, a agent, o outcome) {
			o.ends(t, hello)
			o.upstreamOf(t, "b", 1)
			if gap := o.gap(); gap < 1500*time.Millisecond {
				t.Errorf("the agent came back after %v, asked to wait 2 s", gap)
			}
		}},
	{name: "insufficient balance", what: "The customer has no credit: 402.", poor: true, lasting: true, a: good, b: good,
		check: func(t *testing.T, a agent, o outcome) {
			o.fails(t)
			o.upstream(t, 0, 0)
			for _, r := range o.records {
				if r.Outcome != journal.OutcomeRejected || r.Error == nil || r.Error.Code != "insufficient_balance" {
					t.Errorf("not rejected for want of balance: %+v", r)
				}
			}
		}},
}

// hidden: the agent never learns of the first channel's failures.
func hidden(t *testing.T, a agent, o outcome) {
	o.ends(t, concluded)
	o.turns(t, journal.OutcomeCompleted, journal.OutcomeCompleted)
	o.upstream(t, 2, 2)
	o.neverStopped(t)
	o.continued(t, a, 1)
	if failures := o.last().failures; len(failures) > 0 {
		t.Errorf("the agent told of failures: %q", failures)
	}
}

package replay

import "rubicon/internal/wire/classify"

// Row is one line of the documentation: a class of failure and what it does.
type Row struct {
	Row     string // of the table docs/contract.md#s3
	Failure classify.Failure
	What    string
	Action  Action // Deliver: never runs again
	Reason  Reason // of running again; "" if it never does
	Refusal Reason // the class's own reason of not running again; "" if it has none
	Limited string // under which conditions it runs again, beyond the refusals
}

// Refusal is one line of the documentation: a reason not to run again.
type Refusal struct {
	Reason  Reason
	Row     string
	What    string
	Replay  bool // it forbids a replay
	Switch  bool // it forbids a switch
	ByClass bool // it is a class's own: the class alone is the reason
}

// Table gives what each class of failure does, in the order of docs/contract.md#s3.
func Table() []Row {
	out := make([]Row, 0, len(rules))
	for _, r := range rules {
		row := Row{Row: r.row, Failure: r.failure, What: r.what, Action: r.again, Reason: r.reason, Refusal: r.no}
		switch {
		case r.eventTimeout:
			row.Limited = "Chat Completions and Messages streams, as often as switch.on_timeout allows, stateless, before any replay"
		case r.timeout:
			row.Limited = "as often as switch.on_timeout allows, stateless, before any replay"
		case r.failure == classify.ReadError:
			row.Limited, row.Refusal = "streaming after an event only with replay.after_lifecycle", ReadErrorAfterLifecycle
		case r.failure == classify.Balance || r.failure == classify.RateLimited:
			row.Limited = "as an event it counts as row 1"
		}
		if r.atomic {
			row.Limited = join(row.Limited, "atomic delivery: also after output that was not released ("+string(ReplayAtomic)+", row 11a)")
		}
		out = append(out, row)
	}
	return out
}

// Refusals gives the reasons of not running again, in their order of
// precedence.
func Refusals() []Refusal {
	out := make([]Refusal, 0, len(precedence))
	for _, p := range precedence {
		r := Refusal{Reason: p.reason, Row: p.row, What: p.what, Replay: p.reason != SwitchBudgetSpent, Switch: !p.doesNotForbid}
		if p.what == "" {
			of := ruleWith(p.reason)
			r.Row, r.What, r.ByClass = of.row, of.what, true
			r.Replay, r.Switch = !of.timeout, of.timeout
		}
		out = append(out, r)
	}
	return out
}

// ruleWith finds the class whose own refusal it is.
func ruleWith(no Reason) rule {
	for _, r := range rules {
		if r.no == no {
			return r
		}
	}
	return rule{}
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

package main

import "rubicon/internal/engine/replay"

func replayPage() string {
	return generated + `# May it run again?

After a failed attempt one pure function of facts decides what follows; the record (` + "`rubicon explain REQUEST_ID`" + `) shows its verdict and reason for every attempt.

- **replay**: a second execution, after one that may have executed upstream. At most one per request, and none that was stored, continues state, used hosted tools, or reported usage.
- **switch**: the next attempt after one that certainly executed nothing, or after a timeout where that is allowed. At most two per request.
- **deliver**: the failure goes to the client.

Once something was handed to the client nothing runs again.

## By class of failure

The row is the one of [the contract's table](contract.md#s3). A class runs again for its reason unless something below forbids it.

` + classes() + `## Reasons not to run again

When several apply, the first of this list is given. A reason counts only if it forbids the action at hand.

` + refusals()
}

func classes() string {
	var rows [][]string
	for _, r := range replay.Table() {
		again := code(r.Action)
		if r.Action == replay.Deliver {
			again = "no"
		}
		rows = append(rows, []string{contractRows(r.Row), code(r.Failure), r.What, again, code(r.Reason), code(r.Refusal), r.Limited})
	}
	return table([]string{"row", "failure", "what happened", "again", "reason", "own refusal", "conditions"}, rows)
}

func refusals() string {
	var rows [][]string
	for _, r := range replay.Refusals() {
		forbids := "replay and switch"
		switch {
		case !r.Switch:
			forbids = "replay"
		case !r.Replay:
			forbids = "switch"
		}
		if r.ByClass {
			forbids = "its own class"
		}
		rows = append(rows, []string{code(r.Reason), contractRows(r.Row), r.What, forbids})
	}
	return table([]string{"reason", "row", "when", "forbids"}, rows)
}

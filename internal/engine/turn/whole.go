package turn

import (
	"maps"

	"rubicon/internal/engine/meter"
	"rubicon/internal/wire/protocol"
)

// noteWhole is called before the event that was read last is handed over. A client
// that has all content and the reason why the answer ended has the whole answer, even
// though the stream goes on for a moment (Chat Completions: usage and [DONE]). That
// is recorded durably before the event is shown: after a crash in between, the answer
// is charged as one that was delivered in whole.
//
// shown means that the event is sent now. Otherwise more has arrived together with
// it, mostly the end itself, and the settlement records everything.
func (t *turn) noteWhole(a *attempt, shown bool) {
	whole := a.reader.Stage() == protocol.Finishing && a.seen.Failure == nil && a.seen.OutputEvents > 0
	first := whole && !a.whole
	switch {
	case !whole && !a.whole || t.gate.withholdsOutput():
		a.unnoted = false
		return
	case !shown:
		if first && !a.unnoted {
			t.gate.Flush() // earlier events do not wait
		}
		a.unnoted = first
		return
	}
	t.noteDelivered(a)
	t.live.Whole(a.told(whole))
	reopened := !whole // another choice began only now
	a.whole, a.unnoted = whole, false
	if first || reopened {
		ctx, done := t.detached()
		defer done()
		t.engine.Bookkeeper.NoteNow(ctx, t.live)
	}
}

// told is what the answer has reported so far; nil if it is not whole.
func (a *attempt) told(whole bool) *meter.LiveWhole {
	if !whole {
		return nil
	}
	u := a.seen.Usage
	u.Tools, u.Tier = maps.Clone(a.seen.Hosted), a.seen.Tier
	return &meter.LiveWhole{ResponseID: a.seen.ResponseID, Usage: u, Reported: a.seen.Reported, Opening: a.seen.OpeningUsage}
}

package turn

import (
	"maps"

	"rubicon/internal/engine/meter"
	"rubicon/internal/wire/protocol"
)

// noteWhole comes before the event that was read last is handed over. A client
// that has every word and the reason why the answer ended has the answer, though
// the stream runs on for a moment (Chat Completions: usage and [DONE]). That is
// the end, and it is durable before it is shown: a gateway that dies in between
// charges the answer as one that was delivered in whole.
//
// shown tells that the event goes out now. Otherwise more has arrived with it:
// mostly the end itself, whose settlement then says it all.
func (t *turn) noteWhole(a *attempt, shown bool) {
	whole := a.reader.Stage() == protocol.Finishing && a.seen.Failure == nil && a.seen.OutputEvents > 0
	first := whole && !a.whole
	switch {
	case !whole && !a.whole || t.gate.withholdsOutput():
		a.unnoted = false
		return
	case !shown:
		if first && !a.unnoted {
			t.gate.Flush() // what came before it does not wait
		}
		a.unnoted = first
		return
	}
	t.noteDelivered(a)
	t.live.Whole(a.told(whole))
	reopened := !whole // a choice showed only now
	a.whole, a.unnoted = whole, false
	if first || reopened {
		ctx, done := t.detached()
		defer done()
		t.engine.Bookkeeper.NoteNow(ctx, t.live)
	}
}

// told is what the answer has told of itself so far; nil if it is not whole.
func (a *attempt) told(whole bool) *meter.LiveWhole {
	if !whole {
		return nil
	}
	u := a.seen.Usage
	u.Tools, u.Tier = maps.Clone(a.seen.Hosted), a.seen.Tier
	return &meter.LiveWhole{ResponseID: a.seen.ResponseID, Usage: u, Reported: a.seen.Reported, Opening: a.seen.OpeningUsage}
}

package turn

import (
	"fmt"
	"runtime/debug"

	"rubicon/internal/books/journal"
	"rubicon/internal/engine/billing"
	"rubicon/internal/engine/meter"
	"rubicon/internal/engine/replay"
	"rubicon/internal/health"
	"rubicon/internal/wire/fault"
)

// resolveAfterPanic brings money and record to an end when the gateway itself panicked
// between the hold and the settlement. This process goes on, so no start of the
// gateway would resolve them. The panic goes on to the transport, which sends the
// client an error.
func (t *turn) resolveAfterPanic() {
	p := recover()
	if p == nil {
		return
	}
	if t.opened && !t.closed {
		t.writeAfterPanic(fmt.Errorf("panic: %v", p))
	}
	panic(p)
}

// writeAfterPanic settles for what was delivered, as after any other fault of the
// gateway. The settlement may panic too: then the next start resolves the hold.
func (t *turn) writeAfterPanic(cause error) {
	defer func() {
		if p := recover(); p != nil {
			t.engine.Log.Error("panic while settling after a panic; the next start resolves the hold", "request_id", t.req.ID, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	t.rec.Outcome, t.rec.Error = journal.OutcomeFailed, &journal.Error{Code: fault.InternalError, Type: t.typeOf(fault.New(fault.InternalError, ""))}
	if len(t.attempts) == 0 {
		t.setTimes()
		_ = t.finish(meter.RequestEnd{Record: t.rec, Bill: billing.Bill{Usage: t.rec.Usage}, Uncharged: t.req.Uncharged, Reason: string(replay.GatewayFault)})
		return
	}
	a := t.attempts[len(t.attempts)-1]
	if a.failed == nil {
		a.failed = gatewayFault(cause)
		a.failed.Executed = true
	}
	a.verdict = replay.Verdict{Action: replay.Deliver, Reason: replay.GatewayFault}
	a.report(health.Result{Aborted: true})
	handed, _ := t.gate.state()
	if handed == replay.OutputHanded {
		t.rec.Outcome, t.rec.AfterOutput = journal.OutcomePartial, true
	}
	_ = t.finish(t.bills(a, handed)) // which is logged
}

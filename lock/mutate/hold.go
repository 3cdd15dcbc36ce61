package main

// holdMutants breaks the rules of the event hold (docs/contract.md#s4) and of what the client
// sees of it (docs/contract.md#s5).
func holdMutants() []mutant {
	const (
		gate   = "internal/engine/turn/gate.go"
		admit  = "internal/engine/turn/admit.go"
		ending = "internal/engine/turn/shown.go"
		finish = "internal/engine/turn/conclude.go"
		frames = "internal/engine/turn/attempt.go"
		words  = "internal/engine/wording/failure.go"
	)
	return []mutant{
		{name: "commit on lifecycle", breaks: []string{"hold: lifecycle events are held"}, caught: []string{"hold-output-early", "row-01-failed-event"}, small: true, edits: []edit{
			in(gate, `case ev.Class == protocol.Lifecycle && g.handed == replay.NothingHanded && g.deadline != deadlinePassed && g.hold > 0 || g.delivery == deliverAtomic:`, `case g.delivery == deliverAtomic:`)}},
		{name: "hold what follows the first output too", breaks: []string{"hold: output ends it at once"}, caught: []string{"hold-output-early"}, edits: []edit{
			in(gate, "	default:\n		g.release(replay.OutputHanded)\n		g.write(ev)\n", "	default:\n		return g.holdEvent(ev)\n")}},
		{name: "lose what was held", breaks: []string{"hold: in order and unchanged"}, caught: []string{"hold-output-early"}, edits: []edit{
			in(gate, "	for _, ev := range g.held {\n		g.write(ev)\n	}\n", "")}},
		{name: "flush nothing at the deadline", breaks: []string{"hold: the deadline commits"}, caught: []string{"hold-deadline-then-output"}, edits: []edit{
			in(gate, "	if g.heldAs == replay.LifecycleHanded && !g.deciding {\n", "	if false {\n")}},
		{name: "forget the deadline", breaks: []string{"hold: the deadline commits"}, caught: []string{"hold-deadline-then-output"}, edits: []edit{
			in(gate, `g.timer = time.AfterFunc(g.hold, g.expire)`, `g.timer = time.AfterFunc(2*g.hold, g.expire)`)}},
		{name: "commit at the deadline with nothing held", breaks: []string{"hold: the deadline commits"}, caught: []string{"hold-deadline-between-attempts"}, edits: []edit{
			in(gate, "	if g.heldAs == replay.LifecycleHanded && !g.deciding {\n", "	if !g.deciding {\n")}},
		{name: "begin the hold with the request", breaks: []string{"hold: counted from the first held event"}, caught: []string{"hold-counts-from-first-event"}, edits: []edit{
			in(gate, "	g.firstOutput = time.Time{}\n", "	g.firstOutput = time.Time{}\n	g.arm()\n")}},
		{name: "restart the deadline with a replay", breaks: []string{"hold: a replay does not restart it"}, caught: []string{"hold-across-replay"}, edits: []edit{
			in(gate, "		g.deadline = deadlinePassed\n	}\n	g.clearHeld()\n", "	}\n	g.start = time.Time{}\n	if g.timer != nil {\n		g.timer.Stop()\n	}\n	g.clearHeld()\n")}},
		{name: "hold again after the deadline", breaks: []string{"hold: past the deadline lifecycle goes out at once"}, caught: []string{"hold-lifecycle-after-deadline", "hold-deadline-between-attempts"}, edits: []edit{
			in(gate, ` && g.deadline != deadlinePassed && g.hold > 0`, ` && g.hold > 0`)}},
		{name: "begin the answer while events are held", breaks: []string{"hold: no status line"}, caught: []string{"hold-no-status", "row-05-429"}, edits: []edit{
			in(gate, "	g.contentType = s\n", "	g.contentType = s\n	g.open()\n	_ = g.sink.Flush()\n")}},
		{name: "show the lost attempt's events", breaks: []string{"hold: a discarded attempt is never seen"}, caught: []string{"row-01-failed-event"}, edits: []edit{
			in(gate, "		g.deadline = deadlinePassed\n	}\n	g.clearHeld()\n", "		g.deadline = deadlinePassed\n	}\n")}},
		{name: "never overflow", breaks: []string{"hold: its bound"}, caught: []string{"row-14-held-too-much"}, edits: []edit{
			in(gate, `if g.heldBytes <= g.limit {`, `if true {`)}},
		{name: "let the bound not grow with the request", breaks: []string{"hold: its bound"}, caught: []string{"row-14-held-echo"}, edits: []edit{
			in(admit, `rules.limit = t.cfg.Limits.HeldBytes + 2*int64(len(t.req.Body))`, `rules.limit = t.cfg.Limits.HeldBytes`)}},
		{name: "send heartbeats during the hold", breaks: []string{"hold: no bytes go out"}, caught: []string{"hold-heartbeats-only"}, edits: []edit{
			in(gate, "	case ev.Class == protocol.Heartbeat && g.handed == replay.NothingHanded:\n		return g.holdEvent(ev)\n", "	case ev.Class == protocol.Heartbeat && g.handed == replay.NothingHanded:\n		g.write(ev)\n")}},
		{name: "let heartbeats start the clock", breaks: []string{"hold: heartbeats start no clock"}, caught: []string{"hold-heartbeats-only", "hold-heartbeats-keep-their-place", "hold-heartbeats-before-created"}, edits: []edit{
			in(gate, "	case protocol.Heartbeat:\n	default:\n", "	case protocol.Heartbeat:\n		g.arm()\n	default:\n")}},
		{name: "drop heartbeats of the hold", breaks: []string{"hold: heartbeats keep their place"}, caught: []string{"hold-heartbeats-keep-their-place"}, edits: []edit{
			in(gate, "	case ev.Class == protocol.Heartbeat && g.handed == replay.NothingHanded:\n		return g.holdEvent(ev)\n", "	case ev.Class == protocol.Heartbeat && g.handed == replay.NothingHanded:\n")}},
		{name: "never break a silence", breaks: []string{"hold: keep-alive after commitment"}, caught: []string{"hold-keepalive"}, edits: []edit{
			in(gate, `if g.keepalive > 0 && g.keepAliveTimer == nil && g.phase != gateClosed {`, `if false {`)}},
		{name: "do not measure the hold", breaks: []string{"hold: its length is measured"}, caught: []string{"hold-deadline-then-output"}, edits: []edit{
			in(gate, `g.measured = time.Since(g.start)`, `g.measured = 0`)}},
		{name: "let the deadline win a tie", breaks: []string{"hold: first_output wins a tie"}, caught: []string{"hold-tie-with-first-output"}, edits: []edit{
			in(gate, `if !g.firstOutput.IsZero() && !time.Now().Before(g.firstOutput) {`, `if false {`)}},
		{name: "deliver atomic answers as a stream", breaks: []string{"hold: atomic delivery"}, caught: []string{"atomic-good"}, edits: []edit{
			in(admit, `atomic := t.req.Parsed.Stream && t.atomic()`, `atomic := false`)}},
		{name: "give atomic delivery the deadline", breaks: []string{"hold: atomic delivery"}, caught: []string{"atomic-good"}, edits: []edit{
			in(gate, `if g.delivery != deliverAtomic && g.hold > 0 {`, `if g.hold > 0 {`)}},
		{name: "fail where an atomic answer is over its bound", breaks: []string{"hold: atomic delivery"}, caught: []string{"atomic-too-long"}, edits: []edit{
			in(gate, `if g.delivery == deliverAtomic && g.heldAs == replay.OutputHanded {`, `if false {`)}},
		{name: "ignore the header for atomic delivery", breaks: []string{"hold: atomic delivery"}, caught: []string{"atomic-header"}, edits: []edit{
			in(admit, `if d := t.req.Delivery; d != "" {`, `if d := t.req.Delivery; false {`)}},
		{name: "ignore a key's delivery", breaks: []string{"hold: atomic delivery"}, caught: []string{"atomic-key"}, edits: []edit{
			in(admit, `if d := t.req.Principal.Key.Delivery; d != "" {`, `if d := t.req.Principal.Key.Delivery; false {`)}},

		{name: "close a broken stream as if it were well", breaks: []string{"end: a cut never looks finished"}, caught: []string{"row-11-output-cut"}, edits: []edit{
			in(finish, "	if a.failed != nil {\n		t.gate.fail(e)\n		return\n	}\n", "	if a.failed != nil && a.failed.Failure != classify.ReadError {\n		t.gate.fail(e)\n		return\n	}\n")}},
		{name: "write a status where events are held", breaks: []string{"end: the form follows what happened"}, caught: []string{"row-18-cut-after-lifecycle"}, edits: []edit{
			in(ending, `case handed == replay.NothingHanded && (!p.HoldsShown || events == 0):`, `case handed == replay.NothingHanded:`)}},
		{name: "leave an upstream error without its ending", breaks: []string{"end: exactly one"}, caught: []string{"row-11-error-after-output"}, edits: []edit{
			in(finish, `e.NeedsFailedEvent = t.req.Protocol.HoldsShown && last != "response.failed"`, `e.NeedsFailedEvent = false && last != "response.failed"`)}},
		{name: "show the host of an upstream", breaks: []string{"end: nothing of the upstream leaks"}, caught: []string{"class-leaks"}, edits: []edit{
			in(frames, "	ev = wording.Event(a.secrets(), ev, fault.InFailure)\n", "	ev.Raw, ev.Data = append([]byte(nil), ev.Raw...), append([]byte(nil), ev.Data...)\n")}},
		{name: "scrub nothing but what is known of the route", breaks: []string{"end: nothing of the upstream leaks"}, caught: []string{"class-leaks"}, edits: []edit{
			in("internal/wire/fault/document.go", `if t == everything {`, `if false {`)}},
		{name: "show the channel's key in what the model wrote", breaks: []string{"end: nothing of the upstream leaks"}, caught: []string{"class-leaks-anywhere"}, edits: []edit{
			in("internal/wire/fault/document.go", `echo    = &Place{takes: known}`, `echo    = &Place{takes: nothing}`)}},
		{name: "show the host in why an answer is incomplete", breaks: []string{"end: nothing of the upstream leaks"}, caught: []string{"class-leaks-anywhere"}, edits: []edit{
			in(frames, `if a.terminal = ev; a.seen.Incomplete {`, `if a.terminal = ev; false {`)}},
		{name: "show the host in the code of a refusal", breaks: []string{"end: nothing of the upstream leaks"}, caught: []string{"class-leaks-anywhere"}, edits: []edit{
			in("internal/engine/turn/again.go", "	a.secrets().Clean(f)\n", "")}},
		{name: "leave an error frame of upstream's as it is", breaks: []string{"end: the envelope"}, caught: []string{"ws-error-alone"}, edits: []edit{
			in("internal/api/wsapi/sink.go", `f.Dress(jsonscan.Get(data, "error"))`, `jsonscan.Get(data, "error")`)}},
		{name: "call every failure harmless to repeat", breaks: []string{"end: retryable means harmless"}, caught: []string{"row-12-store-absent"}, edits: []edit{
			in("internal/engine/turn/again.go", `f.Retryable = f.Retryable && facts.ClientMayRepeat() && t.repeatIsHarmless(f.AfterOutput)`, `f.Retryable = facts.ClientMayRepeat()`)}},
		{name: "ask for a retry after a replay", breaks: []string{"end: no retry after a replay"}, caught: []string{"row-10-second-failure"}, edits: []edit{
			in("internal/engine/turn/again.go", `f.NoRetry = t.counts.Replays > 0`, `f.NoRetry = false`)}},
		{name: "name broken streams of Chat as those of Responses", breaks: []string{"end: codes of each surface"}, caught: []string{"row-11-output-cut.chat"}, edits: []edit{
			in(words, `	case p.Channel() == config.ProtocolResponses:`, `	case true:`)}},
	}
}

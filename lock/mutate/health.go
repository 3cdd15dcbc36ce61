package main

// healthMutants breaks the states of a channel (docs/contract.md#s6): the transitions of the
// breaker, cooldowns, pauses, disabled credentials, and what counts at all.
func healthMutants() []mutant {
	const (
		choose   = "internal/engine/turn/choose.go"
		comeback = "internal/health/route/comeback.go"
		repeats  = "internal/engine/turn/repeats.go"
		routes   = "internal/health/route/route.go"
		step     = "internal/health/breaker/step.go"
		table    = "internal/health/effects.go"
		cool     = "internal/health/credential.go"
		permit   = "internal/health/permit.go"
		after    = "internal/engine/upstream/retryafter.go"
		recheck  = "internal/health/recheck.go"
		order    = "internal/health/operator.go"
		again    = "internal/engine/turn/again.go"
	)
	all := []mutant{
		{name: "never open", breaks: []string{"closed → open"}, caught: []string{"health-opens"}, edits: []edit{
			in(step, `if s.down(e, now, cfg) {`, `if false {`)}},
		{name: "open one failure late", breaks: []string{"closed → open"}, caught: []string{"health-opens"}, edits: []edit{
			in(step, `return mostly && s.counted(e.Outlived, now, cfg) >= cfg.Failures`, `return mostly && s.counted(e.Outlived, now, cfg) > cfg.Failures`)}},
		{name: "open whatever the window says", breaks: []string{"closed: only if half of the window failed"}, caught: []string{"health-flaky-stays-closed"}, edits: []edit{
			in(step, `mostly := ok+failed < cfg.Samples || float64(failed) >= cfg.Rate*float64(ok+failed)`, `mostly := ok+failed >= 0`)}},
		{name: "ask a window that holds too little", breaks: []string{"closed: only if half of the window failed"}, caught: []string{"health-opens-early"}, edits: []edit{
			in(step, `mostly := ok+failed < cfg.Samples || `, `mostly := `)}},
		{name: "believe the good results of another time", breaks: []string{"closed: a long row opens"}, caught: []string{"health-dies-at-once"}, edits: []edit{
			in(step, `if s.ConsecutiveFailures >= cfg.Samples {`, `if false {`)}},
		{name: "count failures in the order in which they end", breaks: []string{"closed: a row by the order of sending"}, caught: []string{"health-quick-failures"}, edits: []edit{
			in(step, `if f.Sent.Before(outlived) {`, `if false {`)}},
		{name: "count failures outside the window", breaks: []string{"closed: the window"}, caught: []string{"health-window"}, edits: []edit{
			in(step, `if f.At.Sub(old.At) >= cfg.Window {`, `if false {`)}},
		{name: "count failures across a success", breaks: []string{"closed: a success ends the row"}, caught: []string{"health-success-between"}, edits: []edit{
			in(step, "	case e.Kind == Success:\n		s.Failures = nil\n", "	case e.Kind == Success:\n")}},
		{name: "let one customer take a channel", breaks: []string{"closed: one customer's share"}, caught: []string{"health-one-customer"}, edits: []edit{
			in(step, `if before < share || !s.othersUse(f.Customer, now, cfg.Window) {`, `if before >= 0 || share > 0 {`)}},
		{name: "send traffic through an open breaker", breaks: []string{"open: no traffic"}, caught: []string{"health-stays-open"}, edits: []edit{
			in(step, "	case Open:\n		return false\n	case HalfOpen:\n		flying", "	case Open:\n		return true\n	case HalfOpen:\n		flying"),
			in(step, "	case s.Position == Open:\n		return s\n	case s.Position == HalfOpen:\n		if len", "	case s.Position == HalfOpen:\n		if len")}},
		{name: "never let an open breaker probe", breaks: []string{"open → half-open"}, caught: []string{"health-recovers"}, edits: []edit{
			in(step, `	if s.Position == Open && !now.Before(s.Until) {`, `	if false {`),
			in(step, `	case s.Position == Open && !now.Before(s.Until):`, `	case false:`)}},
		{name: "ask after a long outage as often as before", breaks: []string{"open: open_max after two minutes"}, caught: []string{"health-probes-fail"}, edits: []edit{
			in(step, `if now.Sub(s.Outage) >= LongOutage {`, `if false {`)}},
		{name: "take every outage for a long one", breaks: []string{"open: open_max after two minutes"}, caught: []string{"health-probes-fail"}, edits: []edit{
			in(step, `if now.Sub(s.Outage) >= LongOutage {`, `if true {`)}},
		{name: "begin the outage anew with every probe", breaks: []string{"open: open_max after two minutes"}, caught: []string{"health-probes-fail"}, edits: []edit{
			in(step, `if s.Outage.IsZero() {`, `if true {`)}},
		{name: "let a failed probe pass", breaks: []string{"half-open → open"}, caught: []string{"health-probes-fail"}, edits: []edit{
			in(step, "	case s.Position == HalfOpen:\n		s = open(", "	case false:\n		s = open(")}},
		{name: "never leave half-open", breaks: []string{"half-open → closed"}, caught: []string{"health-recovers"}, small: true, edits: []edit{
			in(step, `if s.Successes >= cfg.Successes {`, `if false {`)}},
		{name: "close after one good probe", breaks: []string{"half-open → closed"}, caught: []string{"health-recovers"}, edits: []edit{
			in(step, `if s.Successes >= cfg.Successes {`, `if true {`)}},
		{name: "probe with everything at once", breaks: []string{"half-open: one probe at a time"}, caught: []string{"health-one-probe"}, edits: []edit{
			in(step, `return flying < max(cfg.Probes, 1)`, `return flying >= 0`),
			in(step, `if len(s.Probes) >= max(cfg.Probes, 1) {`, `if false {`)}},
		{name: "let a hanging probe decide nothing", breaks: []string{"half-open: a hanging probe is given up"}, caught: []string{"health-probe-hangs"}, edits: []edit{
			in(again, `Aborted: t.clientLeft() || f.Failure == classify.ClientGone}`, `Aborted: t.clientLeft() || f.Failure == classify.ClientLeft || isTimeout(f.Failure)}`)}},
		{name: "let an aborted probe close", breaks: []string{"half-open: an aborted probe decides nothing"}, caught: []string{"health-probe-aborted"}, edits: []edit{
			in(permit, "	case res.Aborted:\n", "	case res.Aborted:\n		e.Kind = breaker.Success\n")}},
		{name: "count client aborts against the breaker", breaks: []string{"effect client_gone", "half-open: an aborted probe decides nothing"}, caught: []string{"health-aborts-never-count"}, edits: []edit{
			in(permit, "	case res.Aborted:\n", "	case res.Aborted:\n		e.Kind = breaker.Failed\n")}},
		{name: "let late results of an old generation decide", breaks: []string{"results of an older generation are ignored"}, caught: []string{"health-late-result"}, edits: []edit{
			in(step, "	if t.Generation != s.Generation {\n		return false\n	}\n	return s.Position", "	return s.Position")}},
		{name: "count the success when the stream opens", breaks: []string{"success is counted at the end"}, caught: []string{"row-11-output-cut", "health-breaks-after-output"}, edits: []edit{
			in("internal/engine/turn/attempt.go", "	a.stream, a.status, a.requestID = s, s.Status(), s.RequestID()\n", "	a.stream, a.status, a.requestID = s, s.Status(), s.RequestID()\n	a.report(health.Result{OK: true})\n")}},

		{name: "cool for nothing", breaks: []string{"→ cooling"}, caught: []string{"row-05-429"}, edits: []edit{
			in(table, `classify.RateLimited:        {Row: "5", Cool: true},`, `classify.RateLimited:        {Row: "5"},`),
			in(table, `e.Breaker, e.Cool = false, true`, `e.Breaker = false`)}},
		{name: "ignore Retry-After", breaks: []string{"cooling: as long as upstream asks"}, caught: []string{"class-retry-after-seconds"}, edits: []edit{
			in(cool, `if wait <= 0 {`, `if true {`)}},
		{name: "ignore Retry-After as a date", breaks: []string{"cooling: as long as upstream asks"}, caught: []string{"class-retry-after-date"}, edits: []edit{
			in(after, `if at, err := http.ParseTime(value); err == nil && at.After(now) {`, `if at, err := http.ParseTime(value); err == nil && at.After(now) && false {`)}},
		{name: "ignore retry-after-ms", breaks: []string{"cooling: as long as upstream asks"}, caught: []string{"class-retry-after-ms"}, edits: []edit{
			in(after, `if n, ok := number(ms); ok && n > 0 {`, `if n, ok := number(ms); ok && n < 0 {`)}},
		{name: "ignore an absurd Retry-After", breaks: []string{"cooling: at most 60 s"}, caught: []string{"class-retry-after-absurd"}, edits: []edit{
			in(after, `if n, ok := number(value); ok && n > 0 {`, `if n, ok := number(value); ok && n > 0 && n < LongestWait.Seconds() {`)}},
		{name: "tell a client to come back in a year", breaks: []string{"cooling: at most 60 s"}, caught: []string{"class-retry-after-absurd"}, edits: []edit{
			in(again, `if f.RetryAfter >= upstream.LongestWait {`, `if f.RetryAfter >= upstream.LongestWait && false {`)}},
		{name: "never double a cooldown", breaks: []string{"cooling: doubling while 429s go on"}, caught: []string{"health-cooling-doubles"}, edits: []edit{
			in(cool, "		wait *= 2\n", "		wait *= 1\n")}},
		{name: "never take a step back", breaks: []string{"cooling: back by one step for each good answer"}, caught: []string{"health-cooling-doubles"}, edits: []edit{
			in(cool, `c.steps = max(c.steps-1, 0)`, `c.steps = max(c.steps-0, 0)`)}},
		{name: "forget all steps with one good answer", breaks: []string{"cooling: back by one step for each good answer"}, caught: []string{"health-cooling-doubles"}, edits: []edit{
			in(cool, `c.steps = max(c.steps-1, 0)`, `c.steps = 0`)}},
		{name: "double for each 429 of a burst", breaks: []string{"cooling: a burst is one 429"}, caught: []string{"health-cooling-burst"}, edits: []edit{
			in(cool, `if c.steps == 0 || !s.sent.Before(c.stepped) {`, `if c.steps >= 0 || !s.sent.Before(c.stepped) {`)}},
		{name: "refuse where every route cools", breaks: []string{"cooling: a request waits"}, caught: []string{"health-cooling-waits"}, edits: []edit{
			in(choose, `case !cools, !may, !t.wait(wait):`, `case true, !cools, !may, !t.wait(wait):`)}},
		{name: "wait for as long as it takes", breaks: []string{"cooling: a request waits"}, caught: []string{"health-cooling-stated", "health-cooling-first-back"}, edits: []edit{
			in(comeback, `	return min(until, left), true`, `	return until, true`),
			in(comeback, `if until > left && c.Stated {`, `if false {`)}},
		{name: "go where upstream said not to come yet", breaks: []string{"cooling: a stated time holds"}, caught: []string{"health-cooling-stated"}, edits: []edit{
			in(comeback, `if until > left && c.Stated {`, `if false {`)}},
		{name: "refuse where nobody but the gateway said how long", breaks: []string{"cooling: then the first to return"}, caught: []string{"health-cooling-first-back"}, edits: []edit{
			in(comeback, `if until > left && c.Stated {`, `if until > left {`)}},
		{name: "go to the last to return", breaks: []string{"cooling: then the first to return"}, caught: []string{"health-cooling-first-back"}, edits: []edit{
			in(comeback, `if !ok || v.Until.Before(first.At) ||`, `if !ok || v.Until.After(first.At) ||`)}},
		{name: "wait for a client that left", breaks: []string{"cooling: a request waits"}, caught: []string{"health-cooling-leaves"}, edits: []edit{
			in(choose, "	case <-t.ctx.Done():\n	case <-t.parent.Done():\n", "")}},
		{name: "hide the wait", breaks: []string{"cooling: a request waits"}, caught: []string{"health-cooling-switch-waits"}, edits: []edit{
			in(choose, `t.rec.Times.Queue += took.Milliseconds()`, `t.rec.Times.Queue += 0 * took.Milliseconds()`)}},
		{name: "refuse for want of a channel where the time was up", breaks: []string{"cooling: a request waits"}, caught: []string{"health-cooling-total"}, edits: []edit{
			in(choose, `case t.ctx.Err() != nil || t.parent.Err() != nil:`, `case t.parent.Err() != nil:`)}},
		{name: "cool as long as anybody asks", breaks: []string{"cooling: at most 60 s"}, caught: []string{"class-retry-after-absurd"}, edits: []edit{
			in(cool, `wait = min(wait, set.cooldown.Max)`, `_ = set.cooldown.Max`)}},
		{name: "shorten a cooldown", breaks: []string{"cooling: extended, never shortened"}, caught: []string{"health-cooldown-extended"}, edits: []edit{
			in(cool, `if until := now.Add(wait); until.After(c.until) {`, `if until := now.Add(wait); true {`)}},
		{name: "keep cooling", breaks: []string{"cooling →"}, caught: []string{"health-weight-returns"}, edits: []edit{
			in(cool, `k.ready(now) && !now.Before(k.cooling[model].until)`, `k.ready(now) && k.cooling[model].until.IsZero()`)}},
		{name: "keep the weight after a 429", breaks: []string{"weight: halves on 429"}, caught: []string{"health-weight-returns"}, edits: []edit{
			in(cool, `next.factor = max(c.factorAt(now, set.step)/2, set.cooldown.WeightFloor)`, `next.factor = max(c.factorAt(now, set.step), set.cooldown.WeightFloor)`)}},
		{name: "halve the weight without a floor", breaks: []string{"weight: floor 1/8"}, caught: []string{"health-weight-floor"}, edits: []edit{
			in(cool, `next.factor = max(c.factorAt(now, set.step)/2, set.cooldown.WeightFloor)`, `next.factor = c.factorAt(now, set.step) / 2`)}},
		{name: "never give the weight back", breaks: []string{"weight: doubles back"}, caught: []string{"health-weight-returns"}, edits: []edit{
			in(cool, "		f *= 2\n", "		f *= 1\n")}},

		{name: "leave an empty account in use", breaks: []string{"→ paused"}, caught: []string{"row-06-402"}, edits: []edit{
			in(table, `classify.Balance:            {Row: "6", Balance: true},`, `classify.Balance:            {Row: "6"},`)}},
		{name: "never look at an empty account again", breaks: []string{"paused → by a probe"}, caught: []string{"health-balance-returns"}, edits: []edit{
			in(cool, `return b.until.IsZero() || !now.Before(b.until) && (`, `return b.until.IsZero() || false && (`)}},
		{name: "keep an account paused that answers", breaks: []string{"paused → by a probe"}, caught: []string{"health-balance-returns"}, edits: []edit{
			in(permit, `case res.OK && probing:`, `case false:`)}},
		{name: "probe an empty account with everything at once", breaks: []string{"paused: one probe"}, caught: []string{"health-balance-one-probe"}, edits: []edit{
			in(cool, `(b.probe == nil || !now.Before(b.deadline))`, `true`)}},
		{name: "ignore an operator's pause", breaks: []string{"→ paused by an operator"}, caught: []string{"health-operator-pause"}, edits: []edit{
			in(order, `c.paused = &Order{Reason: cmp.Or(reason, ReasonOperator), Actor: actor, Since: now}`, `c.paused = nil`),
			in(order, `c.addEvent(Event{Kind: ChannelPaused, Reason: c.paused.Reason, Actor: actor})`, `c.addEvent(Event{Kind: ChannelPaused, Reason: cmp.Or(reason, ReasonOperator), Actor: actor})`)}},
		{name: "ignore an operator's resume", breaks: []string{"paused → by an operator"}, caught: []string{"health-operator-pause"}, edits: []edit{
			in(order, "		c.paused = nil\n		for", "		for")}},
		{name: "keep a refused key in use", breaks: []string{"→ disabled"}, caught: []string{"row-07-401"}, edits: []edit{
			in(table, `classify.Auth:               {Row: "7", Disable: true},`, `classify.Auth:               {Row: "7"},`)}},
		{name: "never ask about a refused key again", breaks: []string{"disabled → by a re-check"}, caught: []string{"health-recheck"}, edits: []edit{
			in(recheck, "	k.recheck = now.Add(r.recheck)\n	r.wake()\n", "	k.recheck = now.Add(1000 * r.recheck)\n	r.wake()\n")}},
		{name: "enable a key that is still refused", breaks: []string{"disabled → by a re-check"}, caught: []string{"health-recheck"}, edits: []edit{
			in(recheck, `	case accepted:`, `	case true || accepted:`)}},
		{name: "re-check what an operator disabled", breaks: []string{"→ disabled by an operator"}, caught: []string{"health-operator-disables"}, edits: []edit{
			in(order, `k.disabled, k.recheck = &Order{Reason: cmp.Or(reason, ReasonOperator), Actor: actor, Since: now}, time.Time{}`, "k.disabled, k.recheck = &Order{Reason: cmp.Or(reason, ReasonOperator), Actor: actor, Since: now}, now.Add(r.recheck)\n			r.wake()")}},
		{name: "ignore an operator's enabling", breaks: []string{"disabled → by an operator"}, caught: []string{"health-operator-disables"}, edits: []edit{
			in(order, `k.disabled, k.recheck = nil, time.Time{}`, `_ = disabled`)}},
		{name: "say nothing of an unfit channel", breaks: []string{"effect unfit"}, caught: []string{"row-07a-405"}, edits: []edit{
			in(table, `classify.Unfit:              {Row: "7a", Unfit: true},`, `classify.Unfit:              {Row: "7a"},`)}},
		{name: "count rate limits", breaks: []string{"effect rate_limited"}, caught: []string{"row-05-429"}, edits: []edit{
			in(table, `{Row: "5", Cool: true}`, `{Row: "5", Cool: true, Breaker: true}`),
			in(table, `e.Breaker, e.Cool = false, true`, `e.Cool = true`)}},
		{name: "count rate limits that come as events", breaks: []string{"effect failed_event"}, caught: []string{"row-01-rate-limit-event"}, edits: []edit{
			in(table, `e.Breaker, e.Cool = false, true`, `e.Cool = true`)}},
		{name: "promise an early return", breaks: []string{"all unavailable: the earliest moment"}, caught: []string{"health-all-open"}, edits: []edit{
			in("internal/health/view.go", "			later(m.breaker.Until)\n", "")}},
		{name: "wait for a channel instead of refusing", breaks: []string{"all unavailable: the earliest moment"}, caught: []string{"health-all-open"}, edits: []edit{
			in(choose, `return max(time.Until(at), time.Second)`, `return 0*time.Until(at) + time.Second`)}},
		{name: "take two channels of one host and key for two routes", breaks: []string{"one host and key are one route"}, caught: []string{"edge-same-host-and-key"}, edits: []edit{
			in(routes, `case slices.ContainsFunc(tried, r.same):`, `case false:`)}},
		{name: "take two keys of one host for one route", breaks: []string{"one host and key are one route"}, caught: []string{"edge-same-host-another-key"}, edits: []edit{
			in(routes, `return r.Host() == other.Host() && r.key().Equal(other.key())`, `return r.Host() == other.Host()`)}},
		{name: "send a repeat to the same host", breaks: []string{"a repeat goes elsewhere"}, caught: []string{"edge-repeat-goes-elsewhere"}, edits: []edit{
			in(repeats, `t.signs = []uint64{t.engine.repeats.sign("body", customer, t.req.Body)}`, `t.signs = nil`)}},
		{name: "send a session's next request to the same host", breaks: []string{"a repeat goes elsewhere"}, caught: []string{"edge-repeat-of-a-session"}, edits: []edit{
			in(repeats, `if own := t.affinity(); own != "" {`, `if own := ""; own != "" {`)}},
		{name: "avoid for every customer", breaks: []string{"a repeat goes elsewhere"}, caught: []string{"edge-repeat-goes-elsewhere"}, edits: []edit{
			in(repeats, `kind + "\x00" + customer + "\x00"`, `kind + "\x00"+ customer[:0]`)}},
		{name: "avoid a host for ever", breaks: []string{"a repeat goes elsewhere"}, caught: []string{"edge-repeat-goes-elsewhere"}, edits: []edit{
			in(repeats, `repeatTime = time.Minute`, `repeatTime = time.Hour`)}},
		{name: "avoid a host for the client's mistake", breaks: []string{"a repeat goes elsewhere"}, caught: []string{"edge-repeat-of-a-mistake"}, edits: []edit{
			in(repeats, `health.EffectOf(r.Failure, r.RateLimit).Touches()`, `health.EffectOf(r.Failure, r.RateLimit) != (health.Effect{})`)}},
		{name: "refuse a repeat that has no other host", breaks: []string{"a repeat goes elsewhere"}, caught: []string{"edge-repeat-without-choice"}, edits: []edit{
			in(routes, "	if len(options) == 0 {\n		return Route{}, false, d\n	}\n	best", "	options = keep(options, func(o option) bool { return !slices.Contains(q.Failed, o.route.Host()) })\n	if len(options) == 0 {\n		return Route{}, false, d\n	}\n	best")}},
		{name: "ignore prompt_cache_key", breaks: []string{"affinity"}, caught: []string{"health-affinity"}, edits: []edit{
			in(choose, `own := t.req.Parsed.Affinity`, `own := ""`)}},
	}
	return append(all, effectMutants()...)
}

// effectMutants flips, for each class of failure, whether it counts for the breaker.
func effectMutants() []mutant {
	const file = "internal/health/effects.go"
	var all []mutant
	for _, e := range []struct{ class, old, new, by string }{
		{"failed_event", `{Row: "1", Breaker: true}`, `{Row: "1"}`, "row-01-failed-event"},
		{"read_error", `{Row: "2, 11, 18", Breaker: true}`, `{Row: "2, 11, 18"}`, "row-02-cut-after-status"},
		{"upstream_5xx", `{Row: "3", Breaker: true}`, `{Row: "3"}`, "row-03-5xx"},
		{"bad_answer", `{Row: "3a", Breaker: true}`, `{Row: "3a"}`, "row-03a-html-200"},
		{"connect", `{Row: "4", Breaker: true}`, `{Row: "4"}`, "row-04-refused"},
		{"overloaded", `{Row: "5a", Breaker: true}`, `{Row: "5a"}`, "row-05a-529"},
		{"balance", `{Row: "6", Balance: true}`, `{Row: "6", Balance: true, Breaker: true}`, "row-06-402"},
		{"auth", `{Row: "7", Disable: true}`, `{Row: "7", Disable: true, Breaker: true}`, "row-07-401"},
		{"unfit", `{Row: "7a", Unfit: true}`, `{Row: "7a", Unfit: true, Breaker: true}`, "row-07a-405"},
		{"header_timeout", `classify.HeaderTimeout:      {Row: "8", Breaker: true}`, `classify.HeaderTimeout:      {Row: "8"}`, "row-08-header-timeout"},
		{"answer_timeout", `classify.AnswerTimeout:      {Row: "8", Breaker: true}`, `classify.AnswerTimeout:      {Row: "8"}`, "whole-row-08-answer-timeout"},
		{"first_event_timeout", `classify.FirstEventTimeout:  {Row: "9", Breaker: true}`, `classify.FirstEventTimeout:  {Row: "9"}`, "row-09-first-event-timeout"},
		{"first_output_timeout", `classify.FirstOutputTimeout: {Row: "9", Breaker: true}`, `classify.FirstOutputTimeout: {Row: "9"}`, "row-09-first-output-timeout"},
		{"buffer_limit", `{Row: "14"}`, `{Row: "14", Breaker: true}`, "row-14-held-too-much"},
		{"deterministic", `{Row: "16"}`, `{Row: "16", Breaker: true}`, "row-16-400"},
		{"unknown", `{Row: "16a", Breaker: true}`, `{Row: "16a"}`, "row-16a-unknown-code"},
		{"idle_timeout", `{Row: "18a", Breaker: true}`, `{Row: "18a"}`, "row-18a-idle-held"},
		{"total_timeout", `classify.TotalTimeout:       {Row: "18a"}`, `classify.TotalTimeout:       {Row: "18a", Breaker: true}`, "row-18a-total"},
		{"gateway_fault", `{Row: "18b"}`, `{Row: "18b", Breaker: true}`, "row-18b-shutdown-held"},
		{"connection_limit", `{Row: "18c"}`, `{Row: "18c", Breaker: true}`, "row-18c-hour-in-the-hold"},
	} {
		all = append(all, mutant{name: "turn round whether " + e.class + " counts", breaks: []string{"effect " + e.class}, caught: []string{e.by},
			edits: []edit{in(file, e.old, e.new)}})
	}
	return all
}

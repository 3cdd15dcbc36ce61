package main

// moneyMutants breaks the rules of money (docs/contract.md#s7): prices, holds, who pays, the
// ledger and what a restart does.
func moneyMutants() []mutant {
	const (
		bill    = "internal/engine/billing/bill.go"
		books   = "internal/engine/meter/bookkeeper.go"
		recover = "internal/engine/meter/takeover.go"
		charge  = "internal/money/price/charge.go"
		hold    = "internal/money/price/hold.go"
		usage   = "internal/money/price/usage.go"
		sums    = "internal/money/money.go"
		posts   = "internal/books/ledger/posting.go"
		request = "internal/books/ledger/request.go"
		credit  = "internal/books/ledger/credit.go"
		finish  = "internal/engine/turn/conclude.go"
		admit   = "internal/engine/turn/admit.go"
		amount  = "internal/engine/turn/amount.go"
		rates   = "internal/engine/turn/limit.go"
		believe = "internal/engine/billing/plausible.go"
		hosted  = "internal/wire/protocol/hosted.go"
	)
	const charged = `b.Charged, b.Charge, b.Lines = true, quote.Total, lines(quote)`
	return []mutant{
		{name: "round down", breaks: []string{"money: rounded half up"}, caught: []string{"money-rounding"}, edits: []edit{
			in(sums, `bits.Add64(lo, d/2, 0)`, `bits.Add64(lo, 0, 0)`)}},
		{name: "charge cached input as input", breaks: []string{"money: usage classes"}, caught: []string{"money-cache-classes"}, edits: []edit{
			in(charge, `b.tokens(ClassCachedInput, u.CachedInput, orElse(l.CachedInput, l.Input))`, `b.tokens(ClassCachedInput, u.CachedInput, l.Input)`)}},
		{name: "charge cache writes as input", breaks: []string{"money: usage classes"}, caught: []string{"money-cache-classes"}, edits: []edit{
			in(charge, `b.tokens(ClassCacheWrite, u.CacheWrite, orElse(l.CacheWrite, l.Input))`, `b.tokens(ClassCacheWrite, u.CacheWrite, l.Input)`)}},
		{name: "count cached input twice", breaks: []string{"money: classes sum to the input total"}, caught: []string{"money-cache-classes"}, edits: []edit{
			in(usage, `Usage{Input: inputTotal - cached - written,`, `Usage{Input: inputTotal - written,`)}},
		{name: "give classes without a price away", breaks: []string{"money: cache classes without a price cost as input"}, caught: []string{"money-cache-unpriced"}, edits: []edit{
			in(charge, "	if price == nil {\n		return otherwise\n	}\n", "	if price == nil {\n		return 0\n	}\n")}},
		{name: "forget the price of a request", breaks: []string{"money: price per request"}, caught: []string{"money-request-price"}, edits: []edit{
			in(charge, `if price != 0 {`, `if false {`)}},
		{name: "forget hosted calls", breaks: []string{"money: price per hosted call"}, caught: []string{"money-hosted-calls"}, edits: []edit{
			in(charge, "	if b.err != nil || units == 0 {\n		return\n	}\n	if !priced {", "	if true {\n		return\n	}\n	if !priced {")}},
		{name: "do not flag what has no price", breaks: []string{"money: unpriced is flagged"}, caught: []string{"money-hosted-calls"}, edits: []edit{
			in(charge, "	if !priced {\n", "	if false {\n")}},
		{name: "ignore the tier", breaks: []string{"money: factor of the tier"}, caught: []string{"money-service-tier"}, edits: []edit{
			in(charge, `if b.err != nil || factor.Equal(money.One()) {`, `if true {`)}},
		{name: "take an unknown tier for the ordinary one", breaks: []string{"money: a tier without an entry"}, caught: []string{"money-tier-unknown"}, edits: []edit{
			in(hold, "	if !known {\n		return money.Factor{}, ErrUnknownTier\n	}\n", "	_ = known\n")}},
		{name: "believe any usage", breaks: []string{"money: anomalies are estimated"}, caught: []string{"money-usage-anomaly"}, edits: []edit{
			in(bill, `if seen.Reported && !anomaly {`, `if seen.Reported {`)}},

		{name: "believe output beyond the maximum", breaks: []string{"money: implausible usage"}, caught: []string{"money-usage-maximum"}, edits: []edit{
			in(believe, ` && u.Output <= b.output(seen)`, ``)}},
		{name: "believe input beyond the body", breaks: []string{"money: implausible usage"}, caught: []string{"money-embeddings-implausible"}, edits: []edit{
			in(believe, `u.Input+u.CachedInput+u.CacheWrite <= b.input(seen) && `, ``)}},
		{name: "doubt what a tool found", breaks: []string{"money: implausible usage"}, caught: []string{"money-searches"}, edits: []edit{
			in(believe, `if b.Elsewhere || seen.Ran {`, `if b.Elsewhere {`)}},
		{name: "take true for no number", breaks: []string{"money: anomalies are estimated"}, caught: []string{"money-usage-implausible"}, edits: []edit{
			in("internal/wire/protocol/seen.go", "	if !ok {\n		return -1, true\n	}\n", "	if !ok {\n		return 0, false\n	}\n")}},
		{name: "read no numbers that are texts", breaks: []string{"money: numbers as texts"}, caught: []string{"money-usage-implausible", "money-usage-implausible.chat", "money-usage-implausible.messages"}, edits: []edit{
			in("internal/wire/protocol/seen.go", `raw = []byte(strings.TrimSpace(text))`, `raw = []byte(strings.TrimSpace(text) + "?")`)}},
		{name: "tell nobody of a usage that cannot be", breaks: []string{"money: anomalies are told"}, caught: []string{"money-usage-implausible"}, edits: []edit{
			in("internal/app/app.go", `Doubted: a.doubted, `, ``)}},
		{name: "let a zero take input back", breaks: []string{"money: a zero takes back no input"}, caught: []string{"messages-zero-input"}, edits: []edit{
			in("internal/wire/protocol/messages/usage.go", `if n == 0 && is != output && c[is].n > 0 {`, `if false {`)}},
		{name: "bill every step of a search", breaks: []string{"money: of searches the searches"}, caught: []string{"money-searches"}, edits: []edit{
			in("internal/wire/protocol/responses/item.go", `return it.typ != webSearchCall || it.action == "" || it.action == "search"`, `return true`)}},
		{name: "count told calls twice", breaks: []string{"money: the provider's count of calls"}, caught: []string{"whole-searches-told"}, edits: []edit{
			in(hosted, `if name != "" && !c.told[name] {`, `if name != "" {`)}},
		{name: "forget the provider's count of calls", breaks: []string{"money: the provider's count of calls"}, caught: []string{"money-searches-told"}, edits: []edit{
			in(hosted, `jsonscan.Object(jsonscan.Get(usage, ToolDetails))`, `jsonscan.Object(jsonscan.Get(usage, "nothing"))`)}},
		{name: "let requests in by all that they could use", breaks: []string{"limits: tokens by learned output"}, caught: []string{"money-tokens-per-minute-together"}, edits: []edit{
			in(rates, `mean := min(t.engine.Learner.MeanOutput(t.model.Name), bound)`, `mean := bound`)}},
		{name: "keep a rested key out by a guess", breaks: []string{"limits: tokens by learned output"}, caught: []string{"money-tokens-per-minute"}, edits: []edit{
			in(rates, `min(e.guess, max(tpm-e.sure, 0))`, `e.guess + 0*tpm`)}},
		{name: "learn no output", breaks: []string{"limits: tokens by learned output"}, caught: []string{"money-tokens-learned"}, edits: []edit{
			in(finish, "			t.engine.Learner.LearnOutput(t.model.Name, bill.Usage.Output, t.req.Parsed.Choices)\n", "")}},
		{name: "take the maximum of Messages for a wish", breaks: []string{"limits: tokens by learned output"}, caught: []string{"money-tokens-per-minute.messages"}, edits: []edit{
			in(rates, `p.MaxOutput > 0 && !t.req.Protocol.NamesMaximum`, `p.MaxOutput > 0`)}},
		{name: "let a named maximum in by a guess", breaks: []string{"limits: tokens by the request's maximum"}, caught: []string{"money-tokens-per-minute"}, edits: []edit{
			in(rates, `p.MaxOutput > 0 && !t.req.Protocol.NamesMaximum`, `false`)}},
		{name: "hide refunds", breaks: []string{"money: a refund is shown"}, caught: []string{"money-refund-shown"}, edits: []edit{
			in("internal/books/journal/read.go", `ledger.Refunds(q, charged)`, `ledger.Refunds(q, charged[:0])`)}},

		{name: "hold for the input alone", breaks: []string{"money: the hold"}, caught: []string{"money-hold-and-settle"}, edits: []edit{
			in(hold, `money.Sum(l.Request, input, output)`, `money.Sum(l.Request, input, 0*output)`)}},
		{name: "hold for the cheaper input", breaks: []string{"money: the hold"}, caught: []string{"money-hold-and-settle"}, edits: []edit{
			in(hold, `max(l.Input, orElse(l.CacheWrite, l.Input))`, `l.Input`)}},
		{name: "hold for one choice", breaks: []string{"money: the hold"}, caught: []string{"money-hold-choices"}, edits: []edit{
			in(hold, `money.Times(max(h.Choices, 1), `, `money.Times(1, `)}},
		{name: "hold for the ordinary tier", breaks: []string{"money: the hold"}, caught: []string{"money-service-tier"}, edits: []edit{
			in(hold, `if f.Compare(dearest) > 0 {`, `if false {`)}},
		{name: "hold without the request's price", breaks: []string{"money: the hold"}, caught: []string{"money-request-price"}, edits: []edit{
			in(hold, `money.Sum(l.Request, input, output)`, `money.Sum(0, input, output)`)}},
		{name: "estimate a third less input", breaks: []string{"money: input estimate"}, caught: []string{"money-hold-and-settle"}, edits: []edit{
			in(usage, `tokens := bodyBytes / 3`, `tokens := bodyBytes / 4`)}},
		{name: "take images for nothing", breaks: []string{"money: input estimate"}, caught: []string{"money-hold-attachments"}, edits: []edit{
			in(usage, `int64(attachments)*attachmentTokens`, `0*int64(attachments)*attachmentTokens`)}},
		{name: "forget the parent's tokens", breaks: []string{"money: input estimate"}, caught: []string{"state-previous-known"}, edits: []edit{
			in(admit, "			t.estimate += e.Tokens\n", "")}},
		{name: "ignore the request's maximum", breaks: []string{"money: output bound"}, caught: []string{"money-hold-maximum"}, edits: []edit{
			in(amount, `bound := p.MaxOutput`, `bound := 0 * p.MaxOutput`)}},
		{name: "run without money", breaks: []string{"money: insufficient balance"}, caught: []string{"money-insufficient"}, edits: []edit{
			in(request, `if available := balance.Available; available < 0 || available < a.Amount {`, `if available := balance.Available; available < 0 {`)}},
		{name: "take an absurd estimate for trouble", breaks: []string{"money: insufficient balance"}, caught: []string{"money-hold-beyond"}, edits: []edit{
			in(request, `checkAmount("hold", min(a.Amount, maxAmount))`, `checkAmount("hold", a.Amount)`)}},
		{name: "forget debts", breaks: []string{"money: overrun, then refused"}, caught: []string{"money-overrun"}, edits: []edit{
			in(request, `if available := balance.Available; available < 0 || available < a.Amount {`, `if available := balance.Available; available >= 0 && available < a.Amount {`)}},
		{name: "charge for counting tokens", breaks: []string{"money: counting tokens is free"}, caught: []string{"whole-input-tokens"}, edits: []edit{
			in(bill, `if last < 0 || c.Uncharged {`, `if last < 0 {`),
			in(amount, `if t.req.Uncharged {`, `if false {`),
			in(finish, `BytesPerToken: t.billing.BytesPerToken, Uncharged: t.req.Uncharged,`, `BytesPerToken: t.billing.BytesPerToken,`),
			in(finish, `Bill: bill, Uncharged: t.req.Uncharged,`, `Bill: bill,`)}},

		{name: "settle and release", breaks: []string{"money: exactly one of settle and release"}, caught: []string{"money-hold-and-settle"}, edits: []edit{
			in(books, "	case c.Bill.Charged:\n		return b.ledger.Settle(", "	case c.Bill.Charged:\n		if err := b.ledger.Release(tx, c.Record.RequestID, c.Reason); err != nil {\n			return err\n		}\n		return b.ledger.Settle(")}},
		{name: "keep the rest of the hold", breaks: []string{"money: settle"}, caught: []string{"money-hold-and-settle"}, edits: []edit{
			in(posts, "		{revenueOf(model), charge},\n", "		{revenueOf(model), held},\n"),
			in(posts, `{availableOf(customer), held - charge},`, `{availableOf(customer), held - held},`)}},
		{name: "charge the discarded attempt", breaks: []string{"who pays: after a replay"}, caught: []string{"row-01-failed-event"}, small: true, edits: []edit{
			in(bill, charged, `b.Charged, b.Charge, b.Lines = true, b.Charge+quote.Total, lines(quote)`),
			in(bill, "	cost, err := a.Cost.Charge(u)\n	if err != nil {\n		return err\n	}\n	b.Costs = append(b.Costs, ledger.CostArgs{Request: c.Request, Customer: c.Customer, Channel: a.Channel, Amount: cost.Total,\n",
				"	cost, err := a.Cost.Charge(u)\n	if err != nil {\n		return err\n	}\n	b.Charge += cost.Total\n	b.Costs = append(b.Costs, ledger.CostArgs{Request: c.Request, Customer: c.Customer, Channel: a.Channel, Amount: cost.Total,\n")}},
		{name: "book a lost attempt as a cost", breaks: []string{"who pays: after a replay"}, caught: []string{"row-01-failed-event"}, edits: []edit{
			in(bill, `Absorbed: true, Reason: a.Reason`, `Absorbed: false, Reason: a.Reason`)}},
		{name: "forget what a lost attempt reported", breaks: []string{"who pays: after a replay"}, caught: []string{"money-empty-output-with-usage"}, edits: []edit{
			in(bill, `if a.Seen != nil && a.Seen.Reported {`, `if false {`)}},
		{name: "absorb what did not run", breaks: []string{"who pays: nothing delivered"}, caught: []string{"row-04-refused"}, edits: []edit{
			in(bill, `	case a.Executed:`, `	case true || a.Executed:`)}},
		{name: "absorb nothing", breaks: []string{"who pays: nothing delivered"}, caught: []string{"row-08-header-timeout"}, edits: []edit{
			in(bill, `	case a.Executed:`, `	case false && a.Executed:`)}},
		{name: "charge a failure", breaks: []string{"who pays: nothing delivered"}, caught: []string{"row-17-usage"}, edits: []edit{
			in(finish, "	return billing.ReceivedNothing\n", "	return billing.ReceivedPart\n")}},
		{name: "give a cut answer away", breaks: []string{"who pays: output, then a cut"}, caught: []string{"row-11-output-cut"}, edits: []edit{
			in(finish, `		return billing.ReceivedPart`, `		return billing.ReceivedNothing`)}},
		{name: "charge output without content", breaks: []string{"who pays: output without content"}, caught: []string{"money-empty-output", "money-empty-output.chat", "money-empty-output.messages"}, edits: []edit{
			in(finish, `case handed == replay.OutputHanded && t.live.Content.Load():`, `case handed == replay.OutputHanded:`)}},
		{name: "give a finished item away", breaks: []string{"who pays: output without content"}, caught: []string{"money-finished-item"}, edits: []edit{
			in("internal/wire/protocol/responses/reader.go", ` || k.reads == done && it.whole()`, ``)}},
		{name: "give a finished block away", breaks: []string{"who pays: output without content"}, caught: []string{"money-finished-item.messages"}, edits: []edit{
			in("internal/wire/protocol/messages/block.go", `r.seen.Content || r.item || r.seal.open`, `r.seen.Content || r.sealDigest.open`)}},
		{name: "charge what a crash left without content", breaks: []string{"who pays: output without content", "money: a restart resolves open holds"}, caught: []string{"money-kill-before-content"}, edits: []edit{
			in(recover, `return w.hadOutput() && (route.Content || w.Progress.DeliveredBytes > 0)`, `return w.hadOutput()`)}},
		{name: "give an image away that a crash cut", breaks: []string{"who pays: output without content", "money: a restart resolves open holds"}, caught: []string{"money-kill-after-image"}, edits: []edit{
			in(recover, `(route.Content || w.Progress.DeliveredBytes > 0)`, `w.Progress.DeliveredBytes > 0`)}},
		{name: "read on for a client that pays nothing", breaks: []string{"money: client gone"}, caught: []string{"money-empty-output-left"}, edits: []edit{
			in("internal/engine/turn/drain.go", `!t.live.Content.Load() || `, ``)}},
		{name: "give a failure with output away", breaks: []string{"who pays: a failure that holds output"}, caught: []string{"row-17-result"}, edits: []edit{
			in(finish, "	case a.seen.Result && a.seen.Content:\n", "	case false:\n")}},
		{name: "give answers away", breaks: []string{"who pays: an answer"}, caught: []string{"money-hold-and-settle"}, edits: []edit{
			in(finish, `		return billing.ReceivedAnswer`, `		return billing.ReceivedNothing`)}},
		{name: "charge an estimate above the hold", breaks: []string{"money: an estimate is never above the hold"}, caught: []string{"money-estimate-within-hold"}, edits: []edit{
			in(bill, "			b.capAt(c.Held)\n", "")}},
		{name: "cap what was reported", breaks: []string{"money: overrun, then refused"}, caught: []string{"money-overrun"}, edits: []edit{
			in(bill, `if source == journal.SourceEstimated {`, `if true {`)}},
		{name: "estimate no output", breaks: []string{"money: estimated usage"}, caught: []string{"row-11-output-cut"}, edits: []edit{
			in(bill, "	u.Output = tokensOf(seen.TextBytes, c.BytesPerToken)\n", "")}},
		{name: "estimate the input although it was reported", breaks: []string{"money: estimated usage"}, caught: []string{"row-11-output-cut.messages"}, edits: []edit{
			in(bill, `if seen.OpeningUsage {`, `if false {`)}},
		{name: "never learn how long a token is", breaks: []string{"money: bytes per token are learned"}, caught: []string{"money-learned-ratio"}, edits: []edit{
			in(finish, `if a.failed == nil && bill.Usage.Source == journal.SourceReported {`, `if false {`)}},
		{name: "read on when the client is gone", breaks: []string{"money: client gone"}, caught: []string{"row-15-leaves-after-output"}, edits: []edit{
			in("internal/engine/turn/drain.go", `if t.cfg.OnDisconnect != config.DisconnectDrain || t.req.TransportOutlivesClient {`, `if t.cfg.OnDisconnect == config.DisconnectDrain && t.req.TransportOutlivesClient {`)}},
		{name: "never read on", breaks: []string{"money: client gone"}, caught: []string{"money-drain"}, edits: []edit{
			in("internal/engine/turn/drain.go", `if t.cfg.OnDisconnect != config.DisconnectDrain || t.req.TransportOutlivesClient {`, `if config.DisconnectDrain != "" {`)}},
		{name: "read on for nothing", breaks: []string{"money: client gone"}, caught: []string{"money-drain"}, edits: []edit{
			in("internal/engine/turn/drain.go", `return read-a.drainedFrom <= t.cfg.Limits.Event`, `return false`)}},
		{name: "show the end before it is durable", breaks: []string{"money: durable before the end is shown"}, caught: []string{"money-store-locked-at-end"}, edits: []edit{
			in(finish, "	if err := t.finish(closing); err != nil {\n", "	t.show(a, e)\n	if err := t.finish(closing); err != nil {\n"),
			in(finish, "	t.releaseLimits()\n	t.show(a, e)\n", "	t.releaseLimits()\n")}},
		{name: "leave holds open after a crash", breaks: []string{"money: a restart resolves open holds"}, caught: []string{"money-kill-in-the-hold"}, edits: []edit{
			in(recover, `for _, r := range left.running {`, `for _, r := range left.running[:0] {`)}},
		{name: "give away what a crash cut", breaks: []string{"money: a restart resolves open holds"}, caught: []string{"money-kill-after-output"}, edits: []edit{
			in(recover, `case w.paysFor(route):`, `case false && w.paysFor(route):`)}},
		{name: "reverse twice", breaks: []string{"money: reversed once"}, caught: []string{"money-reversal"}, edits: []edit{
			in(credit, `	if errors.Is(err, sql.ErrNoRows) {
		return original, nil
	}
	if err != nil {
		return stored{}, err
	}
	return stored{}, ErrReversed`, `	return original, nil`)}},
		{name: "give a reversed settlement back twice over", breaks: []string{"money: reversed once"}, caught: []string{"money-reversal"}, edits: []edit{
			in(posts, `return []Posting{{revenueOf(model), -amount}, {availableOf(customer), amount}}`, `return []Posting{{revenueOf(model), -2 * amount}, {availableOf(customer), 2 * amount}}`)}},
		{name: "reverse a hold", breaks: []string{"money: only top-up, settle and adjust are reversed"}, caught: []string{"money-reversal"}, edits: []edit{
			in(credit, "	default:\n		return stored{}, ErrNotReversible\n", "	default:\n")}},
		{name: "add the usages of Messages up", breaks: []string{"money: usage classes"}, caught: []string{"messages-cumulative-usage"}, edits: []edit{
			in("internal/wire/protocol/messages/usage.go", `c[is].n, c[is].known = n, true`, `c[is].n, c[is].known = c[is].n+n, true`)}},
	}
}

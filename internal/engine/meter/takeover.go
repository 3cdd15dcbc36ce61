package meter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/engine/billing"
	"rubicon/internal/engine/replay"
	"rubicon/internal/money/price"
	"rubicon/internal/store"
	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

// Recover resolves what a node left open when it ended: every request that is
// still on record as running there, and every hold without a running request.
// What was delivered is charged by estimate, never above the hold; where there was
// no output, the hold is released. Running it again does nothing, and two nodes may do it
// at the same time.
//
// prices finds the list of a version, under which the request began; costs are
// those in force now, since they have no versions. A request whose list is
// unknown is released, because its price is unknown.
func (b *Bookkeeper) Recover(ctx context.Context, node string, prices func(version string) (price.List, bool),
	costs func(channel, publicModel string) (price.List, bool), log *slog.Logger) (resolved int, err error) {
	left, err := b.unfinishedOf(ctx, node)
	if err != nil {
		return 0, err
	}
	for _, r := range left.running {
		hold, held := left.holds[r.Record.RequestID]
		c := interrupted{Running: r, hold: hold, held: held, prices: prices, costs: costs}.closing(b.now(), log)
		err := b.close(ctx, c)
		if errors.Is(err, ledger.ErrResolved) {
			continue // another node has resolved it
		}
		if err != nil {
			return resolved, fmt.Errorf("resolving %s: %w", r.Record.RequestID, err)
		}
		log.Warn("resolved a request that was running when the gateway died", "request_id", r.Record.RequestID,
			"outcome", c.Record.Outcome, "charge", c.Record.Charge)
		resolved++
	}
	for _, request := range left.holdsWithoutRecord {
		release := func(tx *store.Tx) error { return b.ledger.Release(tx, request, string(replay.GatewayFault)) }
		err := b.db.Write(ctx, release)
		if errors.Is(err, ledger.ErrResolved) {
			continue
		}
		if err != nil {
			return resolved, fmt.Errorf("releasing the hold of %s: %w", request, err)
		}
		log.Warn("released a hold without a record", "request_id", request)
		resolved++
	}
	return resolved, nil
}

// recoveredNote is in the record of every request that Recover resolved.
const recoveredNote = "the gateway died while this request ran; it was resolved at the next start"

// unfinished is what a node left open, read at one moment. With two reads, a
// request that began in between would look like a hold without a request.
type unfinished struct {
	running            []journal.Running
	holds              map[string]ledger.OpenHold
	holdsWithoutRecord []string // requests with an open hold and no record
}

func (b *Bookkeeper) unfinishedOf(ctx context.Context, node string) (left unfinished, err error) {
	err = b.db.Read(ctx, func(q *store.Query) (err error) {
		if left.running, err = b.journal.RunningOn(q, node); err != nil {
			return err
		}
		list, err := b.ledger.OpenHoldsIn(q)
		if err != nil {
			return err
		}
		left.holds = make(map[string]ledger.OpenHold, len(list))
		for _, h := range list {
			left.holds[h.Request] = h
		}
		left.holdsWithoutRecord, err = b.ledger.HoldsWithoutRecord(q)
		return err
	})
	return left, err
}

// interrupted is one request that was running.
type interrupted struct {
	journal.Running
	hold   ledger.OpenHold
	held   bool // there is a hold, and it is open
	prices func(version string) (price.List, bool)
	costs  func(channel, publicModel string) (price.List, bool)
}

// closing works out how the request ends.
func (w interrupted) closing(now time.Time, log *slog.Logger) RequestEnd {
	r := w.Record
	bill, err := billing.Make(w.billing())
	if err != nil {
		log.Error("computing the bill failed; the hold is released", "request_id", r.RequestID, "error", err)
		bill = billing.Bill{Usage: journal.Usage{Source: journal.SourceNone}}
	}
	r.AfterOutput = w.hadOutput()
	r.Outcome, r.Error = w.outcome()
	r.Delivered = journal.Delivered{Events: w.Progress.OutputEvents, Bytes: w.Progress.DeliveredBytes}
	r.FinishedAt = now
	if at := w.Progress.At; at.After(r.StartedAt) {
		r.Times.Total = at.Sub(r.StartedAt).Milliseconds() // when its progress was last written
	}
	r.Notes = append(r.Notes, recoveredNote)
	if whole := w.whole(); whole != nil {
		r.ResponseID = whole.ResponseID
	}
	if route, ok := w.route(); ok {
		r.UpstreamModel = route.UpstreamModel
		r.Attempts = append(append(r.Attempts, route.Earlier...), w.attempt(route))
	}
	WriteBill(&r, bill)
	return RequestEnd{Record: r, Bill: bill, Uncharged: !w.held, Reason: string(replay.GatewayFault)}
}

func (w interrupted) hadOutput() bool { return w.Progress.OutputEvents > 0 }

// whole is what is known of an answer that its client had in whole; nil: it had
// not.
func (w interrupted) whole() *LiveWhole {
	route, _ := w.route()
	if !w.hadOutput() {
		return nil
	}
	return route.Whole
}

// outcome is the record's word for how the request ended.
func (w interrupted) outcome() (journal.Outcome, *journal.Error) {
	if w.whole() != nil {
		return journal.OutcomeCompleted, nil
	}
	row, _ := fault.Lookup(fault.InternalError)
	told := &journal.Error{Code: row.Code, Type: row.Type}
	if w.hadOutput() {
		return journal.OutcomePartial, told
	}
	return journal.OutcomeFailed, told
}

// paysFor reports whether content was among the output that was handed over.
func (w interrupted) paysFor(route RunningAttempt) bool {
	return w.hadOutput() && (route.Content || w.Progress.DeliveredBytes > 0)
}

// billing is the request as billing.Make wants it. An attempt that was dispatched
// may have executed.
func (w interrupted) billing() billing.Input {
	var start Billing
	_ = json.Unmarshal(w.Record.Billing, &start) // of another version, or none: nothing is charged
	c := billing.Input{Request: w.Record.RequestID, Customer: w.Record.Customer, Model: w.Record.PublicModel, Held: w.hold.Amount,
		InputEstimate: start.InputEstimate, BytesPerToken: start.BytesPerToken, Uncharged: start.Uncharged || !w.held}
	list, priced := w.prices(w.Record.PriceVersion)
	c.Price = list
	seen := &protocol.Observed{}
	route, dispatched := w.route()
	whole := w.whole()
	switch {
	case !priced:
	case whole != nil:
		c.Received, *seen = billing.ReceivedAnswer, whole.seen()
	case w.paysFor(route):
		c.Received = billing.ReceivedPart
	}
	seen.TextBytes = w.Progress.DeliveredBytes
	if route.BytesPerToken > 0 {
		c.BytesPerToken = route.BytesPerToken
	}
	if dispatched || c.Received != billing.ReceivedNothing {
		for _, lost := range route.Earlier {
			c.Attempts = append(c.Attempts, billing.Attempt{N: lost.N, Channel: lost.Channel, Cost: w.cost(lost.Channel),
				Executed: lost.MayHaveExecuted, Reason: lost.Reason})
		}
		c.Attempts = append(c.Attempts, billing.Attempt{N: max(route.Attempt, 1), Channel: route.Channel, Cost: w.cost(route.Channel), Executed: true,
			Seen: seen, Reason: string(replay.GatewayFault)})
	}
	return c
}

// cost is what the channel costs now; a removed one costs nothing.
func (w interrupted) cost(channel string) price.List {
	cost, known := w.costs(channel, w.Record.PublicModel)
	if !known {
		return price.List{}
	}
	return cost
}

// route is the attempt that ran last. Before the first note it is taken from the
// chosen channel in the record, since the dispatch follows the choice at once.
func (w interrupted) route() (RunningAttempt, bool) {
	var route RunningAttempt
	if err := json.Unmarshal([]byte(w.Progress.Note), &route); err == nil && route.Channel != "" {
		return route, true
	}
	if n := len(w.Record.Decisions); n > 0 && w.Record.Decisions[n-1].Chosen != "" {
		return RunningAttempt{Attempt: n, Channel: w.Record.Decisions[n-1].Chosen}, true
	}
	return RunningAttempt{}, false
}

func (w interrupted) attempt(route RunningAttempt) journal.Attempt {
	a := journal.Attempt{N: route.Attempt, Channel: route.Channel, Credential: route.Credential, UpstreamModel: route.UpstreamModel,
		Outcome: journal.AttemptFailed, Failure: string(classify.GatewayFault), MayHaveExecuted: true,
		Verdict: string(replay.Deliver), Reason: string(replay.GatewayFault), Events: w.Progress.OutputEvents, StartedAt: w.Record.StartedAt}
	if w.whole() != nil {
		a.Outcome, a.Failure, a.Reason = journal.AttemptCompleted, "", string(replay.Answered)
	}
	return a
}

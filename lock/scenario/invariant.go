package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
)

// broken gives what every scenario must keep and this one did not: the promises
// that no single expectation can be trusted to repeat.
func (v *observed) broken() (wrong []string) {
	if v.s.Broken != "" {
		return nil
	}
	c := &checks{}
	for i := range v.requests {
		r := &v.requests[i]
		c.where = "every scenario: request " + r.req.Name + ": "
		c.envelope(r)
		if v.expected(r).Ended != endedBroken {
			c.oneEnding(r)
		}
		c.resolvedOnce(r)
		c.executions(r)
		for _, secret := range v.secrets {
			if strings.Contains(r.invariants(), secret) {
				c.fail("the client read %q", secret)
			}
		}
	}
	c.where = "every scenario: "
	if !v.verify.OK {
		c.fail("the ledger does not add up: %v", v.verify.Differences)
	}
	for account, sum := range v.balances {
		if strings.HasSuffix(account, ":held") && sum != 0 {
			c.fail("%s is left in %s", sum, account)
		}
	}
	for i := range v.calls {
		if err := v.calls[i].Err; err != "" {
			c.fail("the provider could not play as written: %s", err)
		}
	}
	return c.wrong
}

func (r *observedRequest) invariants() string {
	var b strings.Builder
	b.Write(plain(r.whole))
	b.Write(r.raw) // what is on record is shown to the customer
	for i := range r.events {
		b.WriteString(r.events[i].name)
		b.Write(plain([]byte(r.events[i].data)))
		b.WriteString(r.events[i].comment)
	}
	for name, values := range r.header {
		fmt.Fprint(&b, name, values)
	}
	return b.String()
}

// plain is a document without the escapes that could hide something in it; what
// is none is as it is.
func plain(doc []byte) []byte {
	var v any
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if json.Unmarshal(doc, &v) != nil || enc.Encode(v) != nil {
		return doc
	}
	return out.Bytes()
}

// envelope: every response has its id; failures say whether to retry; 429 and
// 503 say when.
func (c *checks) envelope(r *observedRequest) {
	if r.status == 0 || r.req.Surface == surfaceSocket {
		return
	}
	if r.header.Get("X-Request-Id") == "" {
		c.fail("no x-request-id")
	}
	if r.status < 400 {
		return
	}
	if s := r.header.Get("X-Should-Retry"); s != "true" && s != "false" {
		c.fail("x-should-retry is %q", s)
	}
	if (r.status == 429 || r.status == 503) && r.header.Get("Retry-After") == "" {
		c.fail("%d without retry-after", r.status)
	}
	for _, member := range []string{"message", "type", "code", "param", "request_id", "retryable", "retry_after", "after_output"} {
		if !strings.Contains(string(r.errorShown()), `"`+member+`"`) {
			c.fail("the error has no %s: %s", member, r.whole)
		}
	}
}

// endings are the events that end a stream, by what they say.
var endings = map[string]bool{ // true: it went well
	"response.completed": true, "response.incomplete": true, "[DONE]": true, "message_stop": true,
	"response.failed": false,
}

// oneEnding: exactly one, it is the last, and only what was complete looks so.
func (c *checks) oneEnding(r *observedRequest) {
	if len(r.events) == 0 || r.ended == endedLeft {
		return
	}
	kinds := r.kinds()
	last := kinds[len(kinds)-1]
	ends := slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { _, ends := endings[k]; return !ends })
	switch {
	case r.ended != endedWhole && r.record != nil:
		c.fail("the stream broke off instead of ending")
	case len(ends) > 1, len(ends) == 1 && ends[0] != last:
		c.fail("ends %v among %v", ends, kinds)
	case len(ends) == 0 && last != "error":
		c.fail("no ending in %v: %+v", kinds, r.events)
	}
	if r.record == nil {
		return
	}
	well := r.record.Outcome == journal.OutcomeCompleted || r.record.Outcome == journal.OutcomeIncomplete
	if looksGood := endings[last]; looksGood != well {
		c.fail("outcome %s, and the client saw %s at the end", r.record.Outcome, last)
	}
	begins := 0
	for _, k := range kinds {
		if k == "response.created" || k == "message_start" {
			begins++
		}
	}
	if begins > 1 {
		c.fail("the client saw %d beginnings", begins)
	}
}

// resolvedOnce: one hold, and exactly one of settle and release.
func (c *checks) resolvedOnce(r *observedRequest) {
	n := map[ledger.Kind]int{}
	for _, tx := range r.money {
		n[tx.Kind]++
	}
	if n[ledger.KindHold] > 1 || n[ledger.KindSettle]+n[ledger.KindRelease] != n[ledger.KindHold] {
		c.fail("%d holds, %d settlements, %d releases", n[ledger.KindHold], n[ledger.KindSettle], n[ledger.KindRelease])
	}
	if r.record == nil {
		return
	}
	rejected := r.record.Outcome == journal.OutcomeRejected
	if rejected && (len(r.money) > 0 || len(r.record.Attempts) > 0) {
		c.fail("was refused and has %d transactions and %d attempts", len(r.money), len(r.record.Attempts))
	}
	waited := r.record.Outcome == journal.OutcomeCancelled && len(r.record.Attempts) == 0 // its client left before a route was found
	if !rejected && !waited && n[ledger.KindHold] == 0 && r.record.Surface != journal.SurfaceCountTokens {
		c.fail("ran without a hold")
	}
}

// executions: at most two may have run.
func (c *checks) executions(r *observedRequest) {
	if r.record == nil {
		return
	}
	n := 0
	for _, a := range r.record.Attempts {
		if a.MayHaveExecuted {
			n++
		}
	}
	if n > 2 || len(r.record.Attempts) > 3 {
		c.fail("%d executions may have run in %d attempts", n, len(r.record.Attempts))
	}
}

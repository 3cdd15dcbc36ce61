package app

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/money"
)

// change is a breaker's, as the log tells it.
type change struct {
	at      time.Duration
	channel string
	event   string
}

// changes reads the breakers' changes out of the log.
func (d *day) changes() (out []change) {
	line := regexp.MustCompile(`time=(\S+) level=INFO msg=health event=(breaker_\w+) channel=(\w+)`)
	for _, m := range line.FindAllStringSubmatch(d.log.String(), -1) {
		when, err := time.Parse(time.RFC3339Nano, m[1])
		if err != nil {
			d.t.Fatal(err)
		}
		out = append(out, change{when.Sub(d.began), m[3], m[2]})
	}
	return out
}

// records reads the whole day's.
func (d *day) records() (out []journal.Record) {
	cursor := ""
	for {
		list, next, err := d.app.journal.List(d.t.Context(), journal.Filter{Cursor: cursor, Limit: 1000})
		if err != nil {
			d.t.Fatal(err)
		}
		if out = append(out, list...); next == "" {
			slices.Reverse(out)
			return out
		}
		cursor = next
	}
}

// over is when the last attempt of an incident had ended: a request that hangs
// may outlive it.
func (d *day) over(i incident, attempts []journal.Attempt) time.Duration {
	end := i.to
	for _, a := range d.on(attempts, i.channel, i.from, i.to) {
		end = max(end, a.StartedAt.Sub(d.began)+time.Duration(a.MS)*time.Millisecond)
	}
	return end
}

// failingSince tells whether a channel had a trouble at some moment between then
// and now; what health knows of it may be that old.
func (d *day) failingSince(channel string, from, now time.Duration) bool {
	for n, i := range incidents {
		if i.channel == channel && i.from <= now && from <= d.ends[n] {
			return true
		}
	}
	return false
}

// memory is how long after its end an incident may still keep a channel out:
// the longest that a breaker stays open, and the time for its probes.
const memory = 30*time.Second + 2*time.Minute

// dayCounts counts.
type dayCounts map[string]int

// verdictOn is why a request was not served, and whether
// docs/contract.md#s3 left nothing else.
func (d *day) verdictOn(r journal.Record) (why string, right bool) {
	started := r.StartedAt.Sub(d.began)
	if r.Outcome == journal.OutcomeRejected {
		return r.Error.Code, r.Error.Code == "all_channels_failed" && d.withoutChannel(r, started)
	}
	last := r.Attempts[len(r.Attempts)-1]
	switch last.Reason {
	case "output_delivered": // docs/contract.md#s3-row-11
		return last.Reason, r.AfterOutput
	case "stateful_store": // docs/contract.md#s3-row-12
		return last.Reason, strings.HasPrefix(r.ClientRequestID, stored)
	case "header_timeout": // docs/contract.md#s3-row-8: a Responses stream does not move
		return last.Reason, r.Stream && last.Failure == "header_timeout"
	case "replay_budget_spent": // docs/contract.md#s3-row-10: two channels failed it
		return last.Reason, len(r.Attempts) >= 2
	case "no_channel_left": // docs/contract.md#s3-row-19
		return last.Reason, d.withoutChannel(r, started)
	}
	return last.Reason, false
}

// withoutChannel: every candidate of the last choice was tried, or was known to be
// sick because it was.
func (d *day) withoutChannel(r journal.Record, started time.Duration) bool {
	choice := r.Decisions[len(r.Decisions)-1]
	if choice.Chosen != "" {
		return false
	}
	for _, c := range choice.Candidates {
		if c.Excluded == "" || c.Excluded != "tried" && !d.failingSince(c.Channel, started-memory, r.FinishedAt.Sub(d.began)) {
			return false
		}
	}
	return true
}

// judge checks what the day must hold, and writes its figures.
func (d *day) judge() {
	t := d.t
	records, changes := d.records(), d.changes()
	outcomes, unserved, saved := map[string]dayCounts{}, dayCounts{}, dayCounts{}
	var charged, cost money.Nano
	var attempts []journal.Attempt
	for _, r := range records {
		attempts = append(attempts, r.Attempts...)
	}
	for _, i := range incidents {
		d.ends = append(d.ends, d.over(i, attempts))
	}
	for _, r := range records {
		kind, _, _ := strings.Cut(r.ClientRequestID, "-")
		if outcomes[kind] == nil {
			outcomes[kind] = dayCounts{}
		}
		outcomes[kind][string(r.Outcome)]++
		charged += r.Charge
		for _, a := range r.Attempts {
			cost += a.Cost
		}
		switch r.Outcome {
		case journal.OutcomeCompleted:
			if len(r.Attempts) > 1 {
				saved[r.Attempts[0].Verdict+", "+r.Attempts[0].Reason]++
			}
		case journal.OutcomeCancelled:
			if kind != leaves {
				t.Errorf("%s is cancelled", r.ClientRequestID)
			}
		default:
			why, right := d.verdictOn(r)
			unserved[why]++
			if !right {
				t.Errorf("%s at %s was lost (%s): attempts %+v, last decision %+v", r.ClientRequestID, r.StartedAt.Sub(d.began), why, r.Attempts, r.Decisions[len(r.Decisions)-1])
			}
		}
	}
	if v := d.verifyLedger(); v != "" {
		t.Error(v)
	}
	var rows [][]string
	for _, i := range incidents {
		rows = append(rows, d.incident(i, changes, attempts))
	}
	d.breakersAreTrue(changes)
	d.write(page{records: len(records), outcomes: outcomes, unserved: unserved, saved: saved, incidents: rows, charged: charged, cost: cost})
}

// verifyLedger says what does not add up.
func (d *day) verifyLedger() string {
	status, out := d.admin("GET", "/admin/v1/ledger/verify", nil)
	if status != 200 || out["ok"] != true {
		return fmt.Sprintf("the ledger: %v", out)
	}
	return ""
}

// countsForBreaker: rate limits and slowness open no breaker.
func (t failureKind) countsForBreaker() bool { return t != limiting && t != slow }

// incident checks one incident and tells its figures: the calls that the sick
// channel got, and how long after its end the breaker closed.
func (d *day) incident(i incident, changes []change, attempts []journal.Attempt) []string {
	calls := len(d.on(attempts, i.channel, i.from, i.to))
	row := []string{clock(i.from) + "–" + clock(i.to), i.channel, string(i.failureKind), fmt.Sprint(calls)}
	opened, probes, closed, wasOpen := 0, 0, time.Duration(0), false
	for _, c := range changes {
		if c.channel != i.channel || c.at < i.from || closed > 0 {
			continue
		}
		switch {
		case c.event == "breaker_closed" && c.at >= i.to && wasOpen:
			closed = c.at
		case c.at >= i.to+time.Minute:
		case c.event == "breaker_opened":
			opened, wasOpen = opened+1, true
		case c.event == "breaker_half_open" && c.at < i.to:
			probes++
		case c.event == "breaker_closed":
			wasOpen = false
		}
	}
	if !i.countsForBreaker() {
		if opened > 0 {
			d.t.Errorf("%v: the breaker opened", i)
		}
		return append(row, "", "", "")
	}
	if opened == 0 {
		d.t.Errorf("%v: the breaker did not open", i)
	}
	// Five failures open it, and at this pace they take as long as the window, so
	// that a few may be out of it when the fifth comes; a few more requests were
	// under way; then one probe at a time. One that is well half the time is used
	// in between.
	if i.failureKind != flapping && calls > 5+5+probes+underWay(i) {
		d.t.Errorf("%v: %d calls, %d probes", i, calls, probes)
	}
	after := ""
	if wasOpen {
		after = (closed - i.to).Round(time.Second).String()
		d.recovers(i, d.over(i, attempts), closed, attempts)
	}
	return append(row, fmt.Sprint(opened), fmt.Sprint(probes), after)
}

// recovers: once the trouble is over the channel is tried again within one
// probe interval (and the time until a request happens to choose it), and three
// good answers close it; a client that leaves decides nothing.
func (d *day) recovers(i incident, over, closed time.Duration, attempts []journal.Attempt) {
	cfg := d.app.Config().Breaker
	tried := slices.DeleteFunc(d.on(attempts, i.channel, over, closed), func(a journal.Attempt) bool { return a.Failure == "client_gone" })
	switch {
	case closed == 0 || len(tried) == 0:
		d.t.Errorf("%v: it never closed", i)
	case len(tried) > cfg.Successes:
		d.t.Errorf("%v: %d attempts until it closed", i, len(tried))
	case tried[0].StartedAt.Sub(d.began) > over+cfg.OpenMax+15*busyHours:
		d.t.Errorf("%v: tried again %s after it was over", i, tried[0].StartedAt.Sub(d.began)-over)
	}
}

// on lists the attempts on a channel that began in a span of the day.
func (d *day) on(attempts []journal.Attempt, channel string, from, to time.Duration) (out []journal.Attempt) {
	for _, a := range attempts {
		if when := a.StartedAt.Sub(d.began); a.Channel == channel && from <= when && when < to {
			out = append(out, a)
		}
	}
	return out
}

// underWay is how many requests may be under way to a channel when it opens:
// those of the time that one of them takes to fail.
func underWay(i incident) int {
	takes := 2 * time.Second
	if i.failureKind == hanging {
		takes = time.Minute
	}
	return int(takes/busyHours) + 4
}

// breakersAreTrue: no breaker opens over a channel that is well.
func (d *day) breakersAreTrue(changes []change) {
	for _, c := range changes {
		if c.event == "breaker_opened" && !d.failingSince(c.channel, c.at-2*time.Minute, c.at) {
			d.t.Errorf("the breaker of %s opened at %s although it was well", c.channel, c.at)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		if c := d.channel(name); c["state"] != "closed" || c["effective_weight"] != c["weight"] {
			d.t.Errorf("at the end of the day: %v", c)
		}
	}
}

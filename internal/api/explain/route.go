package explain

import (
	"fmt"
	"math"
	"strconv"

	"rubicon/internal/books/journal"
	"rubicon/internal/health"
)

// route tells decisions and attempts in the order in which they happened: a
// decision leads to the attempt of the same number.
func (p *page) route(r journal.Record) {
	for i := range max(len(r.Decisions), len(r.Attempts)) {
		if i < len(r.Decisions) {
			p.decision(r.Decisions[i])
		}
		if i < len(r.Attempts) {
			p.attempt(r.Attempts[i])
		}
	}
}

func (p *page) decision(d journal.Decision) {
	title := fmt.Sprintf("Decision %d: no channel", d.N)
	if d.Chosen != "" {
		title = fmt.Sprintf("Decision %d: %s", d.N, d.Chosen)
	}
	switch {
	case d.Reason == "only_route" && len(d.Candidates) == 1:
		title += ", the only one"
	case d.Reason != "":
		title += ", " + Reason(d.Reason)
	}
	if d.WaitedMS > 0 {
		title += fmt.Sprintf(", after a wait of %d ms", d.WaitedMS)
	}
	p.section(title)
	p.candidates(d, func(journal.Candidate) string { return "" })
}

// candidates is the table of a decision; note is said of those that were not
// excluded.
func (p *page) candidates(d journal.Decision, note func(journal.Candidate) string) {
	rows := []string{"\tchannel\tstate\tpriority\tweight\tnow\t"}
	for _, c := range d.Candidates {
		mark, text := "", note(c)
		if c.Excluded != "" {
			text = Reason(c.Excluded)
		} else if c.Channel == d.Chosen {
			mark = "→"
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%d\t%s\t%s\t%s",
			mark, c.Channel, c.State, c.Priority, number(c.Weight), number(c.EffectiveWeight), text))
	}
	p.table(rows)
}

func number(f float64) string { return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64) }

func (p *page) attempt(a journal.Attempt) {
	title := fmt.Sprintf("Attempt %d: %s", a.N, a.Channel)
	if a.Credential != "" {
		title += ", credential " + a.Credential
	}
	p.section(title)
	rows := []string{
		"model\t" + a.UpstreamModel,
		fmt.Sprintf("answer\t%s, %d events, %d bytes, first event after %d ms, %d ms in all", status(a), a.Events, a.Bytes, a.FirstEventMS, a.MS),
		"outcome\t" + outcome(a),
		"verdict\t" + verdict(a),
		"cost\t" + a.Cost.String(),
	}
	if a.UpstreamRequestID != "" {
		rows = append(rows, "provider's id\t"+a.UpstreamRequestID)
	}
	p.table(rows)
}

func status(a journal.Attempt) string {
	if a.Status == 0 {
		return "no status"
	}
	return "status " + strconv.Itoa(a.Status)
}

func outcome(a journal.Attempt) string {
	if a.Failure == "" {
		return a.Outcome
	}
	executed := "certainly not executed"
	if a.MayHaveExecuted {
		executed = "may have executed"
	}
	return fmt.Sprintf("%s: %s; %s", a.Outcome, failureOf(a), executed)
}

func verdict(a journal.Attempt) string {
	if a.Verdict == "" {
		return "none yet"
	}
	return fmt.Sprintf("%s: %s (%s)", a.Verdict, Reason(a.Reason), a.Reason)
}

// Plan lays out what would be chosen now for a public model.
func Plan(publicModel string, d journal.Decision) string {
	p := &page{}
	shares := shares(d)
	switch {
	case d.Chosen == "":
		p.line("A request for %s would be refused: no channel is available.", publicModel)
	case shares[d.Chosen] > 0 && shares[d.Chosen] < 1:
		p.line("A request for %s could go to any channel with a share; this time %s.", publicModel, d.Chosen)
	default:
		p.line("A request for %s would go to %s.", publicModel, d.Chosen)
	}
	p.line("")
	p.candidates(d, func(c journal.Candidate) string {
		if c.State == health.StateHalfOpen && shares[c.Channel] > 0 {
			return "a probe at a time; the rest goes to the others"
		}
		if s := shares[c.Channel]; s > 0 {
			return fmt.Sprintf("%s %% of the requests", number(s*100))
		}
		return "only if those of a lower priority number fail"
	})
	return p.String()
}

// shares is the part of the traffic that each channel gets: by weight among
// the available ones with the lowest priority number.
func shares(d journal.Decision) map[string]float64 {
	first, total := math.MaxInt, 0.0
	for _, c := range d.Candidates {
		if c.Excluded == "" {
			first = min(first, c.Priority)
		}
	}
	out := map[string]float64{}
	for _, c := range d.Candidates {
		if c.Excluded == "" && c.Priority == first {
			out[c.Channel] += c.EffectiveWeight
			total += c.EffectiveWeight
		}
	}
	if total == 0 {
		return nil
	}
	for name := range out {
		out[name] /= total
	}
	return out
}

// Package explain tells in words what became of a request: the route, the
// attempts, why the gateway repeated or did not, and who paid what.
//
// It is for text that a person reads, in `rubicon explain`. It is not for
// reading records (package journal) nor for deciding anything.
//
// Invariant: it says only what the record says, and it renders every record,
// also one with words that this version does not know.
package explain

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/money"
	"rubicon/internal/wire/terminal"
)

// Text lays out a whole record. Transactions are the request's own, for the
// operator; nil leaves the postings out.
func Text(r journal.Record, transactions []ledger.Transaction) string {
	p := &page{}
	p.line("%s", Sentence(r))
	p.head(r)
	p.route(r)
	p.times(r)
	p.money(r)
	p.postings(transactions)
	return p.String()
}

// page collects lines and tables.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) {
	// Names come from operators and providers: no control characters reach a terminal.
	text := strings.TrimRight(terminal.Clean(fmt.Sprintf(format, args...)), " ")
	p.WriteString(text + "\n")
}

func (p *page) section(title string) { p.line(""); p.line("%s", title) }

// table aligns rows whose cells are separated by tabs.
func (p *page) table(rows []string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, row)
	}
	_ = w.Flush() // a strings.Builder does not fail
	for row := range strings.Lines(b.String()) {
		p.line("  %s", strings.TrimSuffix(row, "\n"))
	}
}

func (p *page) head(r journal.Record) {
	p.line("")
	rows := []string{
		"request\t" + r.RequestID,
		fmt.Sprintf("customer\t%s, key %s", r.Customer, r.Key),
		"surface\t" + surface(r),
		"model\t" + model(r),
		"outcome\t" + string(r.Outcome) + code(r),
		fmt.Sprintf("delivered\t%d events, %d bytes, %s", r.Delivered.Events, r.Delivered.Bytes, output(r)),
		"started\t" + moment(r.StartedAt),
	}
	for _, extra := range [][2]string{{"response", r.ResponseID}, {"client's id", r.ClientRequestID}, {"notes", strings.Join(r.Notes, "; ")}} {
		if extra[1] != "" {
			rows = append(rows, extra[0]+"\t"+extra[1])
		}
	}
	p.table(rows)
}

func surface(r journal.Record) string {
	if r.Stream {
		return string(r.Surface) + ", stream"
	}
	return string(r.Surface)
}

func model(r journal.Record) string {
	if r.UpstreamModel == "" {
		return r.PublicModel
	}
	return r.PublicModel + ", served by " + r.UpstreamModel
}

func output(r journal.Record) string {
	if r.AfterOutput {
		return "output among them"
	}
	return "no output"
}

func (p *page) times(r journal.Record) {
	p.section("Times")
	t := r.Times
	p.table([]string{
		fmt.Sprintf("queue\t%d ms", t.Queue),
		fmt.Sprintf("charge hold\t%d ms", t.ChargeHold),
		fmt.Sprintf("event hold\t%d ms", t.EventHold),
		fmt.Sprintf("first event\t%d ms", t.FirstEvent),
		fmt.Sprintf("first output\t%d ms", t.FirstOutput),
		fmt.Sprintf("total\t%d ms", t.Total),
	})
}

func (p *page) money(r journal.Record) {
	p.section("Money")
	rows := []string{}
	for _, l := range r.Lines {
		rows = append(rows, fmt.Sprintf("%s\t%d × %s\t%s", l.Class, l.Units, l.Price, padded(l.Amount)))
	}
	usage := r.Usage.Source
	if usage == "" {
		usage = "none"
	}
	usage = "usage " + usage
	if len(r.Usage.Flags) > 0 {
		usage += ", " + strings.Join(r.Usage.Flags, ", ")
	}
	rows = append(rows, fmt.Sprintf("charge\t%s\t%s", usage, padded(r.Charge)))
	if back := r.Refunded; back != nil {
		rows = append(rows, fmt.Sprintf("refunded\t%s, %s\t%s", moment(back.At), back.Reason, padded(-back.Amount)))
	}
	p.table(rows)
}

func (p *page) postings(transactions []ledger.Transaction) {
	if len(transactions) == 0 {
		return
	}
	p.section("Postings")
	var rows []string
	for _, t := range transactions {
		label := string(t.Kind)
		if t.Reason != "" {
			label += " (" + t.Reason + ")"
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t", label, t.ID))
		for _, posting := range t.Postings {
			rows = append(rows, fmt.Sprintf("\t%s\t%s", posting.Account, padded(posting.Amount)))
		}
	}
	p.table(rows)
}

// padded lets positive and negative amounts stand under each other.
func padded(n money.Nano) string {
	if n < 0 {
		return n.String()
	}
	return " " + n.String()
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

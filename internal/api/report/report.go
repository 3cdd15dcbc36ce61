// Package report sums what was earned in a month: usage, revenue, cost and
// absorbed cost per customer, public model and channel.
//
// It is for adding up what the ledger says, and for showing it as JSON and CSV.
// It reads no other source: records are deleted some day, the ledger is not.
//
// Invariant: the sums of revenue, cost and absorbed cost are those of the
// ledger's accounts over the same time, to the nano.
package report

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"rubicon/internal/books/ledger"
	"rubicon/internal/engine/meter"
	"rubicon/internal/money"
)

// Statement is one month, UTC.
type Statement struct {
	Month    string    `json:"month"` // 2026-07
	From     time.Time `json:"from"`
	To       time.Time `json:"to"` // exclusive
	Currency string    `json:"currency"`
	Rows     []Row     `json:"rows"`
	Total    Sums      `json:"total"`
}

// Row is one customer's use of one public model through one channel. Channel is
// that which answered or, of absorbed cost, that which was tried in vain; it is
// empty for corrections of a balance.
type Row struct {
	Customer string `json:"customer"`
	Model    string `json:"model"`
	Channel  string `json:"channel"`
	Sums
}

// Sums is what a row or the whole comes to.
type Sums struct {
	Requests         int64                 `json:"requests"` // charged, less those reversed
	Usage            map[string]*Tokens    `json:"usage"`    // by source: reported or estimated
	Revenue          money.Nano            `json:"revenue"`
	Cost             money.Nano            `json:"cost"`
	Absorbed         money.Nano            `json:"absorbed"`
	AbsorbedByReason map[string]money.Nano `json:"absorbed_by_reason"`
	Margin           money.Nano            `json:"margin"` // revenue less cost and absorbed cost
}

// Tokens is tokens by class, and hosted calls.
type Tokens struct {
	Input       int64            `json:"input"`
	CachedInput int64            `json:"cached_input"`
	CacheWrite  int64            `json:"cache_write"`
	Output      int64            `json:"output"`
	Tools       map[string]int64 `json:"tools"`
}

// Layout is how months are written.
const Layout = "2006-01"

// Month reads a month, given by any moment of it, out of the ledger.
func Month(ctx context.Context, l *ledger.Ledger, month time.Time) (Statement, error) {
	from := time.Date(month.Year(), month.Month(), 1, 0, 0, 0, 0, time.UTC)
	r := Statement{Month: from.Format(Layout), From: from, To: from.AddDate(0, 1, 0), Currency: "USD", Rows: []Row{}, Total: newSums()}
	rows := map[place]*Row{}
	if err := l.Earnings(ctx, r.From, r.To, func(e ledger.Earning) error { return r.add(rows, e) }); err != nil {
		return Statement{}, fmt.Errorf("reporting %s: %w", r.Month, err)
	}
	for _, row := range rows {
		r.Rows = append(r.Rows, *row)
	}
	slices.SortFunc(r.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Customer, b.Customer), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Channel, b.Channel))
	})
	return r, nil
}

// place is what makes a row.
type place struct{ customer, model, channel string }

func newSums() Sums {
	return Sums{Usage: map[string]*Tokens{}, AbsorbedByReason: map[string]money.Nano{}}
}

func (r *Statement) add(rows map[place]*Row, e ledger.Earning) error {
	var c meter.Charge
	if e.Charged != 0 {
		// Charges of older versions say less; what they lack is left out.
		if err := json.Unmarshal(e.Meta, &c); err != nil {
			return fmt.Errorf("a charge of %s: %w", e.Customer, err)
		}
		if e.Channel == "" {
			e.Channel = c.Channel
		}
	}
	at := place{e.Customer, e.Model, e.Channel}
	row := rows[at]
	if row == nil {
		row = &Row{Customer: at.customer, Model: at.model, Channel: at.channel, Sums: newSums()}
		rows[at] = row
	}
	for _, s := range []*Sums{&row.Sums, &r.Total} {
		if err := s.add(e, c); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sums) add(e ledger.Earning, c meter.Charge) (err error) {
	sum := func(into *money.Nano, amount money.Nano) {
		if err == nil {
			*into, err = into.Add(amount)
		}
	}
	sum(&s.Revenue, e.Revenue)
	sum(&s.Cost, e.Cost)
	sum(&s.Absorbed, e.Absorbed)
	if e.Absorbed != 0 {
		s.AbsorbedByReason[e.Reason] += e.Absorbed // no larger than the sum above
	}
	sum(&s.Margin, e.Revenue)
	sum(&s.Margin, -e.Cost)
	sum(&s.Margin, -e.Absorbed)
	if e.Charged != 0 {
		s.use(c, int64(e.Charged))
	}
	return err
}

// use counts a charge's usage once, or takes it back.
func (s *Sums) use(c meter.Charge, times int64) {
	s.Requests += times
	u := s.Usage[c.Source]
	if u == nil {
		u = &Tokens{Tools: map[string]int64{}}
		s.Usage[c.Source] = u
	}
	u.Input += times * c.Input
	u.CachedInput += times * c.CachedInput
	u.CacheWrite += times * c.CacheWrite
	u.Output += times * c.Output
	for _, tool := range slices.Sorted(maps.Keys(c.Tools)) {
		u.Tools[tool] += times * c.Tools[tool]
	}
}

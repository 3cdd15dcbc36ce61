package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"rubicon/internal/money"
	"rubicon/internal/store"
)

// maxDifferences bounds a report: more than a thousand differences would not help
// to find their cause.
const maxDifferences = 1000

// Verify recomputes everything on one snapshot: each transaction from its
// kind, balances and open holds from the postings, and what the journal says
// about the same requests.
func (l *Ledger) Verify(ctx context.Context) (Report, error) {
	a := &audit{sums: map[string]money.Nano{}, report: Report{Differences: []string{}}}
	err := l.db.Read(ctx, func(q *store.Query) error {
		if err := a.transactions(q); err != nil {
			return err
		}
		if err := a.balances(q); err != nil {
			return err
		}
		return a.rules(q)
	})
	if err != nil {
		return Report{}, fmt.Errorf("verifying the ledger: %w", err)
	}
	a.report.OK = len(a.report.Differences) == 0
	return a.report, nil
}

// audit is one run of Verify.
type audit struct {
	report Report
	sums   map[string]money.Nano // of the postings, by account
}

func (a *audit) addDifference(format string, args ...any) {
	if n := len(a.report.Differences); n < maxDifferences {
		a.report.Differences = append(a.report.Differences, fmt.Sprintf(format, args...))
	} else if n == maxDifferences {
		a.report.Differences = append(a.report.Differences, "… and more")
	}
}

// audited is a transaction with what it has to agree with.
type audited struct {
	id              string
	kind            Kind
	customer, model string
	amount          money.Nano
	held            money.Nano // of the request's hold
	original        struct {   // what it reverses
		kind            Kind
		customer, model string
		amount          money.Nano
	}
	postings []Posting
}

// transactions goes through all of them with their postings, in one pass.
func (a *audit) transactions(q *store.Query) error {
	var current audited
	err := q.Each(selectAudited, nil, func(row store.Rows) error {
		var (
			next     audited
			p        Posting
			postings int
		)
		o := &next.original
		err := row.Scan(&next.id, &next.kind, &next.customer, &next.model, &next.amount, &next.held,
			&o.kind, &o.customer, &o.model, &o.amount, &postings, &p.Account, &p.Amount)
		if err != nil {
			return err
		}
		if next.id != current.id {
			a.transaction(current)
			current = next
		}
		if postings > 0 {
			current.postings = append(current.postings, p)
		}
		return nil
	})
	a.transaction(current)
	return err
}

func (a *audit) transaction(t audited) {
	if t.id == "" {
		return // before the first
	}
	a.report.Transactions++
	if err := balanced(t.postings); err != nil {
		a.addDifference("transaction %s: %v", t.id, err)
	}
	for _, p := range t.postings {
		if !isAccount(p.Account) {
			a.addDifference("transaction %s: posting to unknown account %q", t.id, p.Account)
		}
		sum, err := a.sums[p.Account].Add(p.Amount)
		if err != nil {
			a.addDifference("account %s: the sum of its postings overflows", p.Account)
		}
		a.sums[p.Account] = sum
	}
	if want, free := t.want(); !free && !slices.Equal(t.postings, want) {
		a.addDifference("transaction %s: %s of %s posts %v, should post %v", t.id, t.kind, t.amount, t.postings, want)
	}
}

// want is what a transaction has to post. A free one is one whose accounts its row
// does not name; its sum and accounts are checked all the same.
func (t audited) want() (postings []Posting, free bool) {
	switch t.kind {
	case KindHold:
		return holdPostings(t.customer, t.amount), false
	case KindSettle:
		return settlePostings(t.customer, t.model, t.held, t.amount), false
	case KindRelease:
		return releasePostings(t.customer, t.held), false
	case KindTopUp:
		return topUpPostings(t.customer, t.amount), false
	case KindAdjust:
		return adjustPostings(t.customer, t.model, t.amount), false
	case KindReverse:
		return reversePostings(t.original.kind, t.original.customer, t.original.model, t.original.amount), false
	case KindCost:
		return nil, t.isCost()
	}
	return nil, false
}

// isCost reports whether a cost leaves the upstream of a channel for the
// cost or the absorbed account of the same one.
func (t audited) isCost() bool {
	if len(t.postings) != 2 {
		return false
	}
	for _, absorbed := range []bool{false, true} {
		channel, ok := channelOf(t.postings[0].Account)
		if ok && slices.Equal(t.postings, costPostings(channel, t.amount, absorbed)) {
			return true
		}
	}
	return false
}

// balances compares the running balances with the sums of the postings.
func (a *audit) balances(q *store.Query) error {
	running := map[string]money.Nano{}
	err := q.Each(selectAllBalances, nil, func(row store.Rows) error {
		var (
			customer string
			b        Balance
		)
		if err := row.Scan(&customer, &b.Available, &b.Held); err != nil {
			return err
		}
		running[availableOf(customer)], running[heldOf(customer)] = b.Available, b.Held
		return nil
	})
	if err != nil {
		return err
	}
	summed := maps.Clone(a.sums)
	maps.DeleteFunc(summed, func(account string, _ money.Nano) bool {
		_, _, ok := customerOf(account)
		return !ok
	})
	a.compare("the balance", running, summed)
	held := map[string]money.Nano{}
	err = q.Each(selectHeld, nil, func(row store.Rows) error {
		var (
			customer string
			amount   money.Nano
		)
		err := row.Scan(&customer, &amount)
		held[heldOf(customer)] = amount
		return err
	})
	maps.DeleteFunc(summed, func(account string, _ money.Nano) bool {
		_, part, _ := customerOf(account)
		return part != "held"
	})
	a.compare("the sum of open holds", held, summed)
	return err
}

// compare reports the accounts where a figure differs from the postings.
func (a *audit) compare(what string, figures, sums map[string]money.Nano) {
	accounts := map[string]bool{}
	for account := range figures {
		accounts[account] = true
	}
	for account := range sums {
		accounts[account] = true
	}
	for _, account := range slices.Sorted(maps.Keys(accounts)) {
		if figures[account] != sums[account] {
			a.addDifference("account %s: %s is %s, its postings sum to %s", account, what, figures[account], sums[account])
		}
	}
}

// rules runs the checks that are queries: each row is a difference.
func (a *audit) rules(q *store.Query) error {
	for _, rule := range rules {
		err := q.Each(rule.query, nil, func(row store.Rows) error {
			var subject, detail string
			if err := row.Scan(&subject, &detail); err != nil {
				return err
			}
			if detail != "" {
				detail = " (" + detail + ")"
			}
			a.addDifference("%s: %s%s", subject, rule.broken, detail)
			return nil
		})
		if err != nil {
			return fmt.Errorf("checking for %q: %w", rule.broken, err)
		}
	}
	return nil
}

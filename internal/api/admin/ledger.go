package admin

import (
	"rubicon/internal/books/ledger"
	"rubicon/internal/wire/fault"
)

func giveCredit(a *api, c *call, in Credit) (ledger.Transaction, error) {
	repeat := c.r.Header.Get("idempotency-key")
	if err := checkWord("idempotency-key", repeat); err != nil {
		return ledger.Transaction{}, err
	}
	if in.Amount <= 0 {
		return ledger.Transaction{}, fault.New(fault.InvalidRequest, `amount must be positive, like "10.00".`).WithParam("amount")
	}
	if err := reasonFor(in.Reason); err != nil {
		return ledger.Transaction{}, err
	}
	if _, err := showCustomer(a, c); err != nil {
		return ledger.Transaction{}, err
	}
	return a.Ledger.TopUp(c.ctx(), ledger.TopUpArgs{
		Customer: c.id(), Amount: in.Amount, Reason: in.Reason, Actor: c.actor, IdempotencyKey: repeat,
	})
}

func adjust(a *api, c *call, in Adjustment) (ledger.Transaction, error) {
	if in.Amount == 0 {
		return ledger.Transaction{}, fault.New(fault.InvalidRequest, `amount must not be zero; use "-1.00" or "1.00".`).WithParam("amount")
	}
	if err := reasonFor(in.Reason); err != nil {
		return ledger.Transaction{}, err
	}
	if _, err := showCustomer(a, c); err != nil {
		return ledger.Transaction{}, err
	}
	return a.Ledger.Adjust(c.ctx(), ledger.AdjustArgs{
		Customer: c.id(), Amount: in.Amount, Reason: in.Reason, Actor: c.actor,
	})
}

func showBalance(a *api, c *call) (Balance, error) {
	if _, err := showCustomer(a, c); err != nil {
		return Balance{}, err
	}
	b, err := a.Ledger.Balance(c.ctx(), c.id())
	return Balance{Available: b.Available, Held: b.Held, Currency: "USD"}, err
}

func listTransactions(a *api, c *call) (TransactionList, error) {
	list, next, err := a.Ledger.Transactions(c.ctx(), ledger.Filter{
		RequestID: c.query["request_id"], Customer: c.query["customer"], Kind: ledger.Kind(c.query["kind"]),
		Cursor: c.query["cursor"], Limit: c.limit(),
	})
	return TransactionList{orEmpty(list), next}, err
}

func reverse(a *api, c *call, in Reason) (ledger.Transaction, error) {
	if err := reasonFor(in.Reason); err != nil {
		return ledger.Transaction{}, err
	}
	return a.Ledger.Reverse(c.ctx(), c.id(), in.Reason, c.actor)
}

func verify(a *api, c *call) (ledger.Report, error) {
	if a.Verify != nil {
		return a.Verify(c.ctx())
	}
	return a.Ledger.Verify(c.ctx())
}

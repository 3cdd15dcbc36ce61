package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"

	"rubicon/internal/api/admin"
	"rubicon/internal/books/ledger"
	"rubicon/internal/money"
	"rubicon/internal/wire/terminal"
)

type creditCmd struct {
	Give    creditGive    `cmd:"" help:"Add money to a customer's balance; requests are paid from it."`
	Balance creditBalance `cmd:"" help:"Show a customer's balance: what is available, and what is held for requests that run."`
	Adjust  creditAdjust  `cmd:"" help:"Correct a balance up or down."`
	Reverse creditReverse `cmd:"" help:"Undo a transaction of the kinds topup (credit), settle (a charge) or adjust, once."`
}

type creditGive struct {
	adminFlags
	Customer       string `arg:"" help:"The customer's id, cus_…"`
	Amount         string `arg:"" help:"USD, like 10.00."`
	Reason         string `required:"" placeholder:"TEXT" help:"Why; it is kept in the ledger."`
	IdempotencyKey string `name:"idempotency-key" placeholder:"KEY" help:"A repeat with the same key gives nothing twice."`
	JSON           bool   `name:"json" help:"Print the transaction as JSON."`
}

func (c *creditGive) Run(ctx context.Context, sh *shell) error {
	amount, err := amountOf("AMOUNT", c.Amount)
	if err != nil {
		return err
	}
	if amount <= 0 {
		return usagef("AMOUNT must be positive; to take money back use `rubicon credit adjust`")
	}
	repeat := c.IdempotencyKey
	if repeat == "" {
		repeat = rand.Text() // also makes a repeat by the HTTP client harmless
	}
	give := call{method: http.MethodPost, path: at("customers", c.Customer, "credits"),
		in: admin.Credit{Amount: amount, Reason: c.Reason}, idempotency: repeat}
	return c.postCredit(ctx, sh, creditCall{give, c.Customer, c.JSON})
}

type creditAdjust struct {
	adminFlags
	Customer string `arg:"" help:"The customer's id, cus_…"`
	Amount   string `arg:"" help:"USD, like -1.00 or 1.00."`
	Reason   string `required:"" placeholder:"TEXT" help:"Why; it is kept in the ledger."`
	JSON     bool   `name:"json" help:"Print the transaction as JSON."`
}

func (c *creditAdjust) Run(ctx context.Context, sh *shell) error {
	amount, err := amountOf("AMOUNT", c.Amount)
	if err != nil {
		return err
	}
	correct := call{method: http.MethodPost, path: at("customers", c.Customer, "adjustments"),
		in: admin.Adjustment{Amount: amount, Reason: c.Reason}}
	return c.postCredit(ctx, sh, creditCall{correct, c.Customer, c.JSON})
}

type creditReverse struct {
	adminFlags
	ID     string `arg:"" help:"The transaction's id, tx_…"`
	Reason string `required:"" placeholder:"TEXT" help:"Why; it is kept in the ledger."`
	JSON   bool   `name:"json" help:"Print the transaction as JSON."`
}

func (c *creditReverse) Run(ctx context.Context, sh *shell) error {
	undo := call{method: http.MethodPost, path: at("ledger", "transactions", c.ID, "reverse"), in: admin.Reason{Reason: c.Reason}}
	return c.postCredit(ctx, sh, creditCall{undo, "", c.JSON})
}

type creditBalance struct {
	adminFlags
	Customer string `arg:"" help:"The customer's id, cus_…"`
	JSON     bool   `name:"json" help:"Print the balance as JSON."`
}

func (c *creditBalance) Run(ctx context.Context, sh *shell) error {
	var b admin.Balance
	return c.ask(ctx, sh, call{method: http.MethodGet, path: at("customers", c.Customer, "balance")}, &b, func() error {
		if c.JSON {
			return sh.json(b)
		}
		sh.facts("available", b.Available.String()+" "+b.Currency, "held", b.Held.String()+" "+b.Currency)
		return nil
	})
}

// creditCall is a call that makes a transaction, and how to show it.
type creditCall struct {
	call
	customer string // whose balance to show then; "" the transaction's
	json     bool
}

func (f adminFlags) postCredit(ctx context.Context, sh *shell, b creditCall) error {
	api, err := f.client(sh)
	if err != nil {
		return err
	}
	var made ledger.Transaction
	if err := api.do(ctx, b.call, &made); err != nil {
		return err
	}
	if b.json {
		return sh.json(made)
	}
	sh.facts("transaction", made.ID, "kind", string(made.Kind))
	for _, p := range made.Postings {
		fmt.Fprintf(sh.out, "  %s %s\n", signed(p.Amount), terminal.Clean(p.Account))
	}
	if b.customer == "" {
		b.customer = made.Customer
	}
	var now admin.Balance
	if err := api.do(ctx, call{method: http.MethodGet, path: at("customers", b.customer, "balance")}, &now); err != nil {
		return fmt.Errorf("it is booked, but the balance could not be read: %w", err)
	}
	sh.facts("available", now.Available.String()+" "+now.Currency)
	return nil
}

func signed(n money.Nano) string {
	if n < 0 {
		return n.String()
	}
	return "+" + n.String()
}

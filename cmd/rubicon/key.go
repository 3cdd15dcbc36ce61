package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"rubicon/internal/api/admin"
	"rubicon/internal/books/account"
	"rubicon/internal/money"
	"rubicon/internal/wire/terminal"
)

type keyCmd struct {
	Create keyCreate `cmd:"" help:"Create a key. Its secret is shown this once."`
	List   keyList   `cmd:"" help:"List a customer's keys."`
	Revoke keyRevoke `cmd:"" help:"End a key for good: requests with it are refused from now on."`
}

type keyCreate struct {
	adminFlags
	Customer     string     `arg:"" help:"The customer's id, cus_…"`
	Name         string     `default:"default" help:"A name for people to read."`
	Models       []string   `placeholder:"MODEL,…" help:"Public models that it may use. Without it all."`
	RPM          int64      `name:"rpm" placeholder:"N" help:"Requests per minute at most."`
	TPM          int64      `name:"tpm" placeholder:"N" help:"Tokens per minute at most."`
	Concurrency  int64      `placeholder:"N" help:"Requests at the same time at most."`
	Delivery     string     `enum:"stream,atomic,inherit" default:"inherit" placeholder:"HOW" help:"How streams are handed over: as they come (stream), only once they are whole (atomic), or as the model says (inherit)."`
	Budget       string     `placeholder:"USD" help:"What it may spend in a period."`
	BudgetPeriod string     `name:"budget-period" enum:"day,week,month,total" default:"month" help:"day, week, month or total."`
	ExpiresAt    *time.Time `name:"expires-at" placeholder:"TIME" help:"When it ends, like 2027-01-31T00:00:00Z."`
	JSON         bool       `name:"json" help:"Print the key as JSON."`
}

func (c *keyCreate) Run(ctx context.Context, sh *shell) error {
	spec, err := c.spec()
	if err != nil {
		return err
	}
	var made admin.NewKey
	return c.ask(ctx, sh, call{method: http.MethodPost, path: at("customers", c.Customer, "keys"), in: spec}, &made, func() error {
		if c.JSON {
			return sh.json(made)
		}
		sh.facts("id", made.ID, "key", made.Key)
		fmt.Fprintln(sh.out, "The key is shown this once; keep it now.")
		for _, w := range made.Warnings {
			fmt.Fprintln(sh.out, "warning:", terminal.Clean(w))
		}
		return nil
	})
}

func (c *keyCreate) spec() (account.KeySpec, error) {
	spec := account.KeySpec{Name: c.Name, Limits: account.Limits{
		Models: c.Models, RPM: c.RPM, TPM: c.TPM, Concurrency: c.Concurrency,
	}}
	if c.Delivery != "inherit" {
		spec.Delivery = c.Delivery
	}
	if c.Budget != "" {
		amount, err := amountOf("--budget", c.Budget)
		if err != nil {
			return spec, err
		}
		spec.Budget = &account.Budget{Amount: amount, Period: c.BudgetPeriod}
	}
	spec.ExpiresAt = c.ExpiresAt
	return spec, nil
}

type keyList struct {
	adminFlags
	Customer string `arg:"" help:"The customer's id, cus_…"`
	JSON     bool   `name:"json" help:"Print the list as JSON."`
}

func (c *keyList) Run(ctx context.Context, sh *shell) error {
	var list admin.KeyList
	return c.ask(ctx, sh, call{method: http.MethodGet, path: at("customers", c.Customer, "keys")}, &list, func() error {
		if c.JSON {
			return sh.json(list)
		}
		sh.keys(list.Keys)
		return nil
	})
}

type keyRevoke struct {
	adminFlags
	ID string `arg:"" help:"The key's id, key_…"`
}

func (c *keyRevoke) Run(ctx context.Context, sh *shell) error {
	return c.ask(ctx, sh, call{method: http.MethodDelete, path: at("keys", c.ID)}, nil, func() error {
		fmt.Fprintf(sh.out, "Key %s is revoked.\n", terminal.Clean(c.ID))
		return nil
	})
}

func (sh *shell) keys(list []account.Key) {
	rows := make([][]string, len(list))
	for i, k := range list {
		rows[i] = []string{k.ID, k.Name, keyState(k), limitsOf(k.Limits), moment(k.CreatedAt), pointed(k.ExpiresAt)}
	}
	sh.table("id name state limits created expires", rows)
}

func keyState(k account.Key) string {
	if k.Revoked {
		return "revoked"
	}
	return "active"
}

func limitsOf(l account.Limits) string {
	var out []string
	if len(l.Models) > 0 {
		out = append(out, "models "+strings.Join(l.Models, ","))
	}
	for _, n := range []struct {
		name  string
		value int64
	}{{"rpm", l.RPM}, {"tpm", l.TPM}, {"concurrency", l.Concurrency}} {
		if n.value > 0 {
			out = append(out, n.name+" "+strconv.FormatInt(n.value, 10))
		}
	}
	if l.Delivery != "" {
		out = append(out, "delivery "+l.Delivery)
	}
	if l.Budget != nil {
		out = append(out, fmt.Sprintf("budget %s per %s", l.Budget.Amount, l.Budget.Period))
	}
	return strings.Join(out, "; ")
}

// amountOf reads an amount of USD from the command line.
func amountOf(name, text string) (money.Nano, error) {
	amount, err := money.Parse(text)
	if err != nil {
		return 0, usagef("%s must be an amount of USD like 10.00, with at most 9 places", name)
	}
	return amount, nil
}

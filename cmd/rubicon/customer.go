package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"rubicon/internal/api/admin"
	"rubicon/internal/books/account"
)

type customerCmd struct {
	Create  customerCreate  `cmd:"" help:"Create a customer."`
	List    customerList    `cmd:"" help:"List customers, oldest first."`
	Show    customerShow    `cmd:"" help:"Show a customer with balance and keys."`
	Suspend customerSuspend `cmd:"" help:"Refuse a customer's requests from now on."`
	Resume  customerResume  `cmd:"" help:"Let a suspended customer in again."`
}

type customerCreate struct {
	adminFlags
	Name string `arg:"" help:"A name for people to read."`
	JSON bool   `name:"json" help:"Print the customer as JSON."`
}

func (c *customerCreate) Run(ctx context.Context, sh *shell) error {
	var made account.Customer
	return c.ask(ctx, sh, call{method: http.MethodPost, path: at("customers"), in: admin.NewCustomer{Name: c.Name}}, &made, func() error {
		return sh.customer(made, c.JSON)
	})
}

type customerList struct {
	adminFlags
	JSON bool `name:"json" help:"Print the list as JSON."`
}

func (c *customerList) Run(ctx context.Context, sh *shell) error {
	api, err := c.client(sh)
	if err != nil {
		return err
	}
	all := admin.CustomerList{Customers: []account.Customer{}}
	for next := ""; ; {
		var page admin.CustomerList
		query := url.Values{"cursor": {next}, "limit": {"1000"}}
		if err := api.do(ctx, call{method: http.MethodGet, path: at("customers"), query: query}, &page); err != nil {
			return err
		}
		all.Customers = append(all.Customers, page.Customers...)
		if next = page.Next; next == "" {
			break
		}
	}
	if c.JSON {
		return sh.json(all)
	}
	rows := make([][]string, len(all.Customers))
	for i, m := range all.Customers {
		rows[i] = []string{m.ID, m.Name, customerState(m), moment(m.CreatedAt)}
	}
	sh.table("id name state created", rows)
	return nil
}

type customerShow struct {
	adminFlags
	ID   string `arg:"" help:"The customer's id, cus_…"`
	JSON bool   `name:"json" help:"Print everything as JSON."`
}

// customerView is what `rubicon customer show --json` prints.
type customerView struct {
	account.Customer
	Balance admin.Balance `json:"balance"`
	Keys    []account.Key `json:"keys"`
}

func (c *customerShow) Run(ctx context.Context, sh *shell) error {
	api, err := c.client(sh)
	if err != nil {
		return err
	}
	var view customerView
	var keys admin.KeyList
	for _, part := range []struct {
		path string
		out  any
	}{
		{at("customers", c.ID), &view.Customer},
		{at("customers", c.ID, "balance"), &view.Balance},
		{at("customers", c.ID, "keys"), &keys},
	} {
		if err := api.do(ctx, call{method: http.MethodGet, path: part.path}, part.out); err != nil {
			return err
		}
	}
	if view.Keys = keys.Keys; c.JSON {
		return sh.json(view)
	}
	sh.facts("id", view.ID, "name", view.Name, "state", customerState(view.Customer), "created", moment(view.CreatedAt),
		"available", view.Balance.Available.String()+" USD", "held", view.Balance.Held.String()+" USD")
	if len(view.Keys) > 0 {
		fmt.Fprintln(sh.out)
		sh.keys(view.Keys)
	}
	return nil
}

type customerSuspend struct {
	adminFlags
	ID   string `arg:"" help:"The customer's id, cus_…"`
	JSON bool   `name:"json" help:"Print the customer as JSON."`
}

func (c *customerSuspend) Run(ctx context.Context, sh *shell) error {
	return c.suspend(ctx, sh, suspension{c.ID, true, c.JSON})
}

type customerResume struct {
	adminFlags
	ID   string `arg:"" help:"The customer's id, cus_…"`
	JSON bool   `name:"json" help:"Print the customer as JSON."`
}

func (c *customerResume) Run(ctx context.Context, sh *shell) error {
	return c.suspend(ctx, sh, suspension{c.ID, false, c.JSON})
}

type suspension struct {
	id        string
	suspended bool
	json      bool
}

func (f adminFlags) suspend(ctx context.Context, sh *shell, s suspension) error {
	var changed account.Customer
	change := call{method: http.MethodPatch, path: at("customers", s.id), in: map[string]bool{"suspended": s.suspended}}
	return f.ask(ctx, sh, change, &changed, func() error { return sh.customer(changed, s.json) })
}

// ask makes one call and, if it went well, shows what came.
func (f adminFlags) ask(ctx context.Context, sh *shell, what call, out any, show func() error) error {
	api, err := f.client(sh)
	if err != nil {
		return err
	}
	if err := api.do(ctx, what, out); err != nil {
		return err
	}
	return show()
}

func (sh *shell) customer(c account.Customer, asJSON bool) error {
	if asJSON {
		return sh.json(c)
	}
	sh.facts("id", c.ID, "name", c.Name, "state", customerState(c))
	return nil
}

func customerState(c account.Customer) string {
	if c.Suspended {
		return "suspended"
	}
	return "active"
}

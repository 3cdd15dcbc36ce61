package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"rubicon/internal/api/admin"
	"rubicon/internal/api/explain"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/versions"
)

type explainCmd struct {
	adminFlags
	RequestID string `arg:"" optional:"" name:"request_id" help:"The request's id, req_…"`
	DryRun    string `name:"dry-run" placeholder:"MODEL" help:"Instead: what would be chosen now for this public model, and why not the others."`
	Protocol  string `enum:"any,responses,chat,messages" default:"any" placeholder:"API" help:"With --dry-run, the request's API: responses, chat, messages, or any: the model's first."`
	JSON      bool   `name:"json" help:"Print the record (or the decision) as JSON."`
}

func (c *explainCmd) Run(ctx context.Context, sh *shell) error {
	if (c.RequestID == "") == (c.DryRun == "") {
		return usagef("give either a request's id or --dry-run MODEL; see `rubicon explain --help`")
	}
	api, err := c.client(sh)
	if err != nil {
		return err
	}
	if c.DryRun != "" {
		return c.plan(ctx, sh, api)
	}
	var record journal.Record
	if err := api.do(ctx, call{method: http.MethodGet, path: at("requests", c.RequestID)}, &record); err != nil {
		if no := (*refusal)(nil); errors.As(err, &no) && no.Status == http.StatusNotFound {
			return fmt.Errorf("no request %s is on record; `x-request-id` of the answer is its id", c.RequestID)
		}
		return err
	}
	if c.JSON {
		return sh.json(record)
	}
	var money admin.TransactionList
	if err := api.do(ctx, call{method: http.MethodGet, path: at("ledger", "transactions"), query: url.Values{"request_id": {c.RequestID}}}, &money); err != nil {
		return err
	}
	slices.Reverse(money.Transactions) // the API lists newest first
	fmt.Fprint(sh.out, explain.Text(record, money.Transactions))
	if record.Charge == 0 {
		return nil
	}
	var prices versions.PriceList
	err = api.do(ctx, call{method: http.MethodGet, path: at("prices", record.PriceVersion)}, &prices)
	if no := (*refusal)(nil); errors.As(err, &no) && no.Status == http.StatusNotFound {
		return nil // charged by an older gateway, which did not write lists down
	}
	if err == nil {
		fmt.Fprint(sh.out, explain.Prices(prices))
	}
	return err
}

func (c *explainCmd) plan(ctx context.Context, sh *shell, api *client) error {
	query := url.Values{"model": {c.DryRun}}
	if c.Protocol != "any" {
		query.Set("protocol", c.Protocol)
	}
	var d journal.Decision
	if err := api.do(ctx, call{method: http.MethodGet, path: at("route"), query: query}, &d); err != nil {
		return err
	}
	if c.JSON {
		return sh.json(d)
	}
	fmt.Fprint(sh.out, explain.Plan(c.DryRun, d))
	return nil
}

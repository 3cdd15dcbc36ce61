package main

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"rubicon/internal/api/report"
)

type reportCmd struct {
	adminFlags
	Month  string `required:"" placeholder:"YYYY-MM" help:"The month, UTC."`
	Format string `enum:"csv,json" default:"csv" help:"csv or json."`
	JSON   bool   `name:"json" help:"The same as --format json."`
}

// Run prints the report of a month: one line for each customer, public model
// and channel.
func (c *reportCmd) Run(ctx context.Context, sh *shell) error {
	if _, err := time.Parse(report.Layout, c.Month); err != nil {
		return usagef("--month must be like 2026-07")
	}
	var sums report.Statement
	what := call{method: http.MethodGet, path: at("report"), query: url.Values{"month": {c.Month}}}
	return c.ask(ctx, sh, what, &sums, func() error {
		if c.JSON || c.Format == "json" {
			return sh.json(sums)
		}
		return sums.WriteCSV(sh.out)
	})
}

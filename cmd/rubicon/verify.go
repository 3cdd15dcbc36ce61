package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"

	"rubicon/internal/books/ledger"
	"rubicon/internal/config"
	"rubicon/internal/store"
	"rubicon/internal/wire/ident"
	"rubicon/internal/wire/terminal"
)

type verifyCmd struct {
	adminFlags
	Offline bool `help:"Read the database of the configuration directly. Without it that happens only when no gateway answers."`
	JSON    bool `name:"json" help:"Print the report as JSON."`
}

// Run verifies through the admin API, or on the store itself.
func (c *verifyCmd) Run(ctx context.Context, sh *shell) error {
	report, err := c.report(ctx, sh)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := sh.json(report); err != nil {
			return err
		}
	} else {
		for _, d := range report.Differences {
			fmt.Fprintln(sh.out, terminal.Clean(d))
		}
	}
	if !report.OK {
		return fmt.Errorf("the ledger does not add up: %d differences in %d transactions; stop giving credit and look into them",
			len(report.Differences), report.Transactions)
	}
	if !c.JSON {
		fmt.Fprintf(sh.out, "The ledger adds up: %d transactions, no difference.\n", report.Transactions)
	}
	return nil
}

func (c *verifyCmd) report(ctx context.Context, sh *shell) (ledger.Report, error) {
	if c.Offline {
		return c.offline(ctx, sh)
	}
	api, err := c.client(sh)
	if err != nil {
		return ledger.Report{}, err
	}
	var report ledger.Report
	err = api.do(ctx, call{method: http.MethodGet, path: at("ledger", "verify")}, &report)
	if gone := (*unreachable)(nil); errors.As(err, &gone) && c.AdminURL == "" {
		if _, noFile := (configFlag{Config: c.Config}).path(); noFile == nil {
			return c.offline(ctx, sh)
		}
	}
	return report, err
}

func (c *verifyCmd) offline(ctx context.Context, sh *shell) (ledger.Report, error) {
	cfg, err := c.file(sh)
	if err != nil {
		return ledger.Report{}, err
	}
	db, err := openStore(ctx, cfg)
	if err != nil {
		return ledger.Report{}, err
	}
	report, err := ledger.New(db, ident.New(rand.Reader, time.Now), time.Now).Verify(ctx)
	if err := errors.Join(err, db.Close()); err != nil {
		return ledger.Report{}, fmt.Errorf("reading the ledger (does `rubicon migrate` help?): %w", err)
	}
	return report, nil
}

func openStore(ctx context.Context, cfg *config.Config) (*store.DB, error) {
	db, err := store.Open(ctx, cfg.Store.URL.Reveal(), store.Options{Sync: cfg.Store.Sync})
	if err != nil {
		return nil, fmt.Errorf("check store.url: %w", err)
	}
	return db, nil
}

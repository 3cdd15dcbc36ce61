package main

import (
	"context"
	"errors"
	"fmt"
)

type migrateCmd struct{ configFlag }

func (c *migrateCmd) Run(ctx context.Context, sh *shell) error {
	cfg, err := c.load(sh)
	if err != nil {
		return err
	}
	db, err := openStore(ctx, cfg)
	if err != nil {
		return err
	}
	err = db.Migrate(ctx)
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("migrating the database: %w", err)
	}
	fmt.Fprintln(sh.out, "The database's schema is up to date.")
	return nil
}

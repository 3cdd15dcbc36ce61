package main

import (
	"context"

	"rubicon/internal/lab/demo"
)

// demoCmd shows the main job on embedded parts.
type demoCmd struct {
	Once bool `help:"End after the show."`
}

func (c *demoCmd) Run(ctx context.Context, sh *shell) error {
	return demo.Run(ctx, demo.Options{Out: sh.out, Once: c.Once, Version: buildInfo().Version})
}

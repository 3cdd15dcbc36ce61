package main

import (
	"context"
	"log/slog"

	"rubicon/internal/app"
)

// serveCmd runs the gateway.
type serveCmd struct {
	configFlag
	Verbose bool `help:"Log every attempt and verdict too."`
}

func (c *serveCmd) Run(ctx context.Context, sh *shell) error {
	cfg, err := c.load(sh)
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(sh.err, &slog.HandlerOptions{Level: level}))
	for _, w := range cfg.Warnings() {
		log.Warn("configuration", "path", w.Path, "problem", w.Message)
	}
	a, err := app.New(ctx, cfg, app.Options{Version: buildInfo().Version, Log: log})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

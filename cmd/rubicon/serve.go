package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"rubicon/internal/api/pressure"
	"rubicon/internal/app"
	"rubicon/internal/config"
)

// serveCmd runs the gateway.
type serveCmd struct {
	configFlag
	Verbose bool `help:"Log every attempt and verdict too."`
}

func (c *serveCmd) Run(ctx context.Context, sh *shell) error {
	cfg, path, files, err := c.loadFiles(sh)
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(sh.err, &slog.HandlerOptions{Level: level}))
	defer logLibraries(log)()
	for _, w := range cfg.Warnings() {
		log.Warn("configuration", "path", w.Path, "problem", w.Message)
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	load := func() (*config.Config, []string, error) { return config.LoadFiles(path, sh.env) }
	a, err := app.New(ctx, cfg, app.Options{Version: buildInfo().Version, Log: log, Source: app.Source{Load: load, Files: files, Hangup: hangup}})
	switch {
	case err != nil && ctx.Err() != nil:
		log.Info("interrupted while starting", "progress", err.Error())
		return nil // nothing runs yet, and New has closed what it opened
	case err != nil:
		return err
	}
	defer pressure.RareCollections()()
	return a.Run(ctx)
}

package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"

	"rubicon/internal/lab/sim"
	"rubicon/internal/wire/terminal"
)

type simCmd struct {
	Script string `short:"s" placeholder:"FILE" help:"Script file, YAML or JSON. Without it the ready-made scripts, which cover every row of the contract."`
	Listen string `default:"127.0.0.1:9090" placeholder:"ADDRESS" help:"Where to listen. Default ${default}."`
}

// Run serves until it is interrupted.
func (c *simCmd) Run(ctx context.Context, sh *shell) error {
	scripts, err := c.scripts()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s; choose another address with --listen: %w", c.Listen, plainText(err))
	}
	fmt.Fprintf(sh.out, "Scripted provider on http://%s/v1, calls at /sim/calls. Models: %s\n",
		listener.Addr(), terminal.Clean(strings.Join(slices.Sorted(maps.Keys(scripts)), ", ")))
	return sim.New(sim.Options{Scripts: scripts}).Serve(ctx, listener)
}

func (c *simCmd) scripts() (map[string]sim.Script, error) {
	if c.Script == "" {
		return sim.CatalogScripts(), nil
	}
	data, err := os.ReadFile(c.Script)
	if err != nil {
		return nil, fmt.Errorf("cannot read the script: %w", err)
	}
	scripts, err := sim.Load(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not valid: %w", c.Script, err)
	}
	return scripts, nil
}

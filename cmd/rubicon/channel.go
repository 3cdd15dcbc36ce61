package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"rubicon/internal/api/admin"
)

type channelCmd struct {
	List    channelList    `cmd:"" help:"List channels with their health: whether each gets requests, and why not."`
	Pause   channelPause   `cmd:"" help:"Send a channel no more requests, until resume. Running ones go on."`
	Resume  channelResume  `cmd:"" help:"Send a channel requests again."`
	Enable  channelEnable  `cmd:"" help:"Use one of a channel's credentials again, which the gateway or somebody disabled."`
	Disable channelDisable `cmd:"" help:"Use one of a channel's credentials no more, until enable."`
	Weight  channelWeight  `cmd:"" help:"Set a channel's share of the requests for one public model, among channels of the same priority."`
}

type channelList struct {
	adminFlags
	JSON bool `name:"json" help:"Print the list as JSON."`
}

func (c *channelList) Run(ctx context.Context, sh *shell) error {
	var list admin.ChannelList
	return c.ask(ctx, sh, call{method: http.MethodGet, path: at("channels")}, &list, func() error {
		if c.JSON {
			return sh.json(list)
		}
		var rows, keys [][]string
		for _, ch := range list.Channels {
			rows = append(rows, []string{ch.Channel, ch.PublicModel, ch.State, number(ch.Weight), number(ch.EffectiveWeight),
				strconv.Itoa(ch.ConsecutiveFailures), pointed(ch.Since), pointed(ch.Until), ch.Reason})
			for _, k := range ch.Credentials {
				keys = append(keys, []string{ch.Channel, ch.PublicModel, k.Name, k.State, pointed(k.Until), k.Reason})
			}
		}
		sh.table("channel model state weight now failures since until reason", rows)
		if len(keys) > 0 {
			fmt.Fprintln(sh.out)
			sh.table("channel model credential state until reason", keys)
		}
		return nil
	})
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// overrideFlags are those of every change.
type overrideFlags struct {
	adminFlags
	Channel string `arg:"" help:"The channel's name."`
}

type reasonFlag struct {
	Reason string `placeholder:"TEXT" help:"Why; it stays on record."`
}

type channelPause struct {
	overrideFlags
	reasonFlag
}

func (c *channelPause) Run(ctx context.Context, sh *shell) error {
	return c.change(ctx, sh, c.Reason, "pause")
}

type channelResume struct {
	overrideFlags
	reasonFlag
}

func (c *channelResume) Run(ctx context.Context, sh *shell) error {
	return c.change(ctx, sh, c.Reason, "resume")
}

type channelEnable struct {
	overrideFlags
	Credential string `arg:"" help:"The credential's name."`
	reasonFlag
}

func (c *channelEnable) Run(ctx context.Context, sh *shell) error {
	return c.change(ctx, sh, c.Reason, "credentials", c.Credential, "enable")
}

type channelDisable struct {
	overrideFlags
	Credential string `arg:"" help:"The credential's name."`
	reasonFlag
}

func (c *channelDisable) Run(ctx context.Context, sh *shell) error {
	return c.change(ctx, sh, c.Reason, "credentials", c.Credential, "disable")
}

// change calls a path below the channel.
func (f overrideFlags) change(ctx context.Context, sh *shell, reason string, path ...string) error {
	what := call{method: http.MethodPost, path: at(append([]string{"channels", f.Channel}, path...)...), in: admin.Reason{Reason: reason}}
	return f.ask(ctx, sh, what, nil, func() error {
		fmt.Fprintln(sh.out, "Done; `rubicon channel list` shows it.")
		return nil
	})
}

type channelWeight struct {
	overrideFlags
	Model  string `arg:"" help:"The public model."`
	Weight string `arg:"" help:"0 or more, or default for that of the configuration."`
	reasonFlag
}

func (c *channelWeight) Run(ctx context.Context, sh *shell) error {
	weight := admin.DefaultWeight
	if c.Weight != "default" {
		var err error
		if weight, err = strconv.Atoi(c.Weight); err != nil || weight < 0 {
			return usagef("WEIGHT must be a whole number of 0 or more, or default")
		}
	}
	what := call{method: http.MethodPut, path: at("channels", c.Channel, "weight"),
		in: admin.Weight{PublicModel: c.Model, Weight: &weight, Reason: c.Reason}}
	return c.ask(ctx, sh, what, nil, func() error {
		fmt.Fprintln(sh.out, "Done; `rubicon channel list` shows it.")
		return nil
	})
}

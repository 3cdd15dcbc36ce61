package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"rubicon/internal/lab/audit"
	"rubicon/internal/wire/terminal"
)

// auditCmd turns the contract on any gateway.
type auditCmd struct {
	Target    string        `placeholder:"URL" help:"The gateway to be audited, e.g. http://127.0.0.1:8080."`
	Suite     string        `enum:"contract,faults" default:"contract" help:"contract: every promise of the stream contract. faults: sixteen faults that providers have."`
	Surface   string        `enum:"chat,responses,responses.ws,messages" default:"chat" help:"The API that the client speaks: chat, responses, responses.ws, messages."`
	Model     string        `default:"audit-{case}" placeholder:"MODEL" help:"The model that is asked for; {case} becomes the case's name."`
	Key       string        `placeholder:"KEY" help:"The client's key at the gateway; else RUBICON_AUDIT_KEY."`
	Header    []string      `sep:"none" placeholder:"NAME:VALUE" help:"One more header of the client, e.g. rubicon-delivery:atomic. May be repeated."`
	Listen    []string      `name:"upstream-listen" placeholder:"A1,A2" help:"Where the two scripted providers listen: primary, fallback. Default 127.0.0.1:9101,127.0.0.1:9102."`
	Fast      bool          `help:"A tenth of all waits. The target's timers must be a tenth too; --setup writes them so."`
	Pause     time.Duration `default:"0s" placeholder:"TIME" help:"A pause between the cases, for a gateway that has one model and remembers failures."`
	Case      []string      `placeholder:"NAME" help:"Only these cases."`
	Setup     string        `enum:"rubicon,litellm,generic,none" default:"none" help:"Instead: print how the target is to be configured: rubicon, litellm, generic."`
	Threshold string        `enum:"pass,partial,safe,fail,usual" default:"usual" help:"The exit code is 1 when a case is worse: pass, partial, safe, fail (never). Usual: pass for contract, safe for faults."`
	JSON      bool          `name:"json" xor:"form" help:"Print the report as JSON."`
	Markdown  bool          `xor:"form" help:"Print the report as Markdown."`
}

// Run plays the suite, prints the scorecard and fails below the threshold.
func (c *auditCmd) Run(ctx context.Context, sh *shell) error {
	o, err := c.options(sh)
	if err != nil {
		return err
	}
	if c.Setup != "none" {
		text, err := audit.Setup(c.Setup, o)
		if err == nil {
			fmt.Fprint(sh.out, text)
		}
		return err
	}
	if c.Target == "" {
		return usagef("name the gateway with --target URL; `rubicon audit --setup generic` tells how to configure it")
	}
	if err := o.Check(); err != nil {
		return usagef("%v; see `rubicon audit --help`", err)
	}
	if !c.JSON && !c.Markdown {
		fmt.Fprintf(sh.out, "%s\n\n%s\n", terminal.Clean((&audit.Report{Suite: o.Suite, Surface: o.Surface, Target: o.Target, Fast: o.Fast}).Title()), audit.Head())
		o.Each = func(r audit.Result) { fmt.Fprintln(sh.out, r.Line()) }
	}
	report, err := audit.Run(ctx, o)
	if err != nil {
		return err
	}
	if err := c.show(sh, report); err != nil {
		return err
	}
	if least := c.threshold(); !report.Reaches(least) {
		return fmt.Errorf("the target is below the threshold: not every case is %s or better (%s)", least, report.Summary())
	}
	return nil
}

func (c *auditCmd) show(sh *shell, report *audit.Report) error {
	switch {
	case c.JSON:
		return sh.json(report)
	case c.Markdown:
		fmt.Fprint(sh.out, report.Markdown())
	default:
		fmt.Fprintf(sh.out, "\n%s\n", report.Summary())
	}
	return nil
}

func (c *auditCmd) threshold() audit.Grade {
	if g, ok := audit.ParseGrade(c.Threshold); ok {
		return g
	}
	if audit.Suite(c.Suite) == audit.Faults {
		return audit.Safe
	}
	return audit.Pass
}

func (c *auditCmd) options(sh *shell) (audit.Options, error) {
	o := audit.Options{Suite: audit.Suite(c.Suite), Surface: audit.Surface(c.Surface), Target: c.Target, Model: c.Model, Key: c.Key,
		Fast: c.Fast, Pause: c.Pause, Only: c.Case, Header: http.Header{}}
	if o.Key == "" {
		o.Key, _ = sh.env("RUBICON_AUDIT_KEY")
	}
	switch len(c.Listen) {
	case 0:
	case 2:
		o.Listen = [2]string{c.Listen[0], c.Listen[1]}
	default:
		return o, usagef("--upstream-listen takes two addresses, as in 127.0.0.1:9101,127.0.0.1:9102")
	}
	for _, line := range c.Header {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return o, usagef("--header must be NAME:VALUE, not %q", line)
		}
		o.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return o, nil
}

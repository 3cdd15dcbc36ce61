// Command rubicon is the gateway and everything around it: one static binary
// with one small file per subcommand.
//
// It is for flags, signals, output and the exit code. It is not for anything
// that another program could want too; that stands in internal packages.
//
// Invariants: an error is one line on stderr that says what to do; the exit
// code is 0, 1 (failed) or 2 (usage); no secret is printed but that of a key
// just created.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"rubicon/internal/wire/terminal"
)

// commands is the command line. Kong fills it.
type commands struct {
	Serve serveCmd `cmd:"" help:"Run the gateway, until a signal ends it."`
	Demo  demoCmd  `cmd:"" help:"Show what it is for, without any setup: a stream that fails and is run again unseen, one that is cut after output, and what both cost."`

	Init    initCmd    `cmd:"" help:"Write a commented rubicon.yaml to start from."`
	Check   checkCmd   `cmd:"" help:"Validate a configuration file; shows all problems at once, each with its place."`
	Explain explainCmd `cmd:"" help:"Tell what became of a request: which channels were tried, why, how long it took, what it cost. Or which channel would be chosen now."`
	Report  reportCmd  `cmd:"" help:"Sum up a month: requests, tokens and money per customer, public model and channel."`
	Verify  verifyCmd  `cmd:"" help:"Recompute every balance from the ledger; exit code 1 on any difference."`

	Customer customerCmd `cmd:"" help:"Customers, who pay: create, list, show, suspend, resume."`
	Key      keyCmd      `cmd:"" help:"API keys (rk-…) that a customer's programs use: create, list, revoke."`
	Credit   creditCmd   `cmd:"" help:"A customer's prepaid money: give, balance, adjust, reverse."`
	Channel  channelCmd  `cmd:"" help:"Channels, the upstream providers that requests go to: list with their health, pause, resume, enable, disable, weight."`

	Translate translateCmd `cmd:"" help:"Translate the body of a request from one wire format to another, offline: prints the body, and what the other format has no place for."`

	Audit   auditCmd   `cmd:"" help:"Play failing providers to any gateway, this one or another, and print how it copes."`
	Sim     simCmd     `cmd:"" help:"Run a scripted provider: an upstream for trying things out that answers, stalls and breaks as its script says."`
	Migrate migrateCmd `cmd:"" help:"Bring the database's schema up to date (serve does that by itself)."`
	Version versionCmd `cmd:"" help:"Print the version and how it was built."`

	Reference referenceCmd `cmd:"" hidden:"" help:"Print the page of all commands."`

	PrintVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

// description opens the help. It says the words that the commands use, for those
// who meet them for the first time.
const description = `A gateway for model APIs that knows its point of no return: before the first output it may try again, after it never.

The words: Customers pay, and have keys and a balance. A public model is the name that their programs ask for. A channel is one way to serve it, an upstream provider's address with its keys, which are called credentials. An answer is streamed as events; events that only say that work began are held back until there is output, so that a failure before it can be run again elsewhere, unseen. A hold on a balance is money set aside for a request until it is known what it cost.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, &shell{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.LookupEnv}, os.Args[1:])
	stop()
	os.Exit(code)
}

// shell is what a command has to do with the outside.
type shell struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) (string, bool)
}

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// exited is what kong's call of exit is turned into, because after --help it
// must not go on.
type exited int

// run runs one command line and gives the exit code.
func run(ctx context.Context, sh *shell, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(exited)
			if !ok {
				panic(p)
			}
			code = int(e)
		}
	}()
	var cli commands
	parser, err := kong.New(&cli,
		kong.Name("rubicon"),
		kong.Description(description),
		kong.Writers(sh.out, sh.err),
		kong.Vars{"version": "rubicon " + buildInfo().Version},
		kong.Exit(func(code int) { panic(exited(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(sh),
	)
	if err != nil {
		// The structs above are wrong; every test notices.
		panic(fmt.Sprintf("rubicon: command line: %v", err))
	}
	parsed, err := parser.Parse(moveNegativeAmounts(args))
	if err == nil {
		err = parsed.Run()
	}
	return sh.report(err)
}

// moveNegativeAmounts moves negative amounts behind a "--", because kong takes
// "-1.00" for flags. No flag begins with a digit, and no command takes
// anything behind an amount.
func moveNegativeAmounts(args []string) []string {
	var kept, negative []string
	for _, a := range args {
		switch {
		case a == "--":
			return args // the user sees to it himself
		case len(a) > 1 && a[0] == '-' && a[1] >= '0' && a[1] <= '9':
			negative = append(negative, a)
		default:
			kept = append(kept, a)
		}
	}
	if negative == nil {
		return kept
	}
	return append(append(kept, "--"), negative...)
}

// report prints an error in one line and gives the exit code for it.
func (sh *shell) report(err error) int {
	var parse *kong.ParseError
	switch usage := (*usageError)(nil); {
	case err == nil:
		return exitOK
	case errors.As(err, &parse):
		sh.printError(fmt.Sprintf("%v; see `%s --help`", err, commandOf(parse.Context)))
		return exitUsage
	case errors.As(err, &usage):
		sh.printError(err.Error())
		return exitUsage
	}
	sh.printError(err.Error())
	return exitFailed
}

func (sh *shell) printError(text string) {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	fmt.Fprintln(sh.err, "rubicon: "+terminal.Clean(strings.Join(lines, "; ")))
}

// commandOf is the command as far as it was understood.
func commandOf(c *kong.Context) string {
	name := "rubicon"
	if c == nil {
		return name
	}
	for _, p := range c.Path {
		if p.Command != nil {
			name += " " + p.Command.Name
		}
	}
	return name
}

// usageError is a mistake in the command line that kong cannot see.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

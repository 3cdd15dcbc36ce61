// Command check refuses changes of recorded behaviour that nobody announced: it
// compares lock/recordings with a base revision.
//
// It runs no scenario (go test ./lock does) and knows nothing of what is in a
// recording. A recording that changed or is gone must be named by a declaration
// that is new since the base; a recording that a new declaration names must have
// changed; new recordings are free.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], ".", os.Stdout, os.Stderr)) }

// run gives the exit code: 0 in order, 1 an unannounced change, 2 it cannot tell.
func run(args []string, dir string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.SetOutput(errs)
	base := flags.String("base", "", "revision to compare with; the first parent of HEAD unless given")
	full := flags.Bool("full", false, "show differences whole")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	r, err := open(dir)
	if err != nil {
		fmt.Fprintf(errs, "check: %v\n", err)
		return 2
	}
	before, about, err := r.before(*base)
	if err != nil {
		fmt.Fprintf(errs, "check: %v\n", err)
		return 2
	}
	now, err := r.now()
	if err != nil {
		fmt.Fprintf(errs, "check: %v\n", err)
		return 2
	}
	report := compare(before, now)
	report.print(out, about, *full)
	if len(report.problems) > 0 {
		return 1
	}
	return 0
}

var errNoBase = errors.New("there is nothing to compare with")

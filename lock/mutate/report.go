package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// printLine tells of one mutant.
func printLine(out io.Writer, f finding) {
	name := fmt.Sprintf("%-44s %-38s", f.mutant.name, strings.Join(f.mutant.breaks, ", "))
	switch {
	case f.err != nil:
		fmt.Fprintf(out, "ERROR     %s %v\n", name, f.err)
	case len(f.by) == 0:
		fmt.Fprintf(out, "SURVIVED  %s no scenario notices  %.1fs\n", name, f.took.Seconds())
	default:
		fmt.Fprintf(out, "caught    %s %s  %.1fs\n", name, by(f), f.took.Seconds())
	}
}

// by names the scenario that caught it, and how many others did.
func by(f finding) string {
	s := f.by[0]
	if n := len(f.by) - 1; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	if f.all && len(f.mutant.caught) > 0 {
		s += " (not by what it names: " + strings.Join(f.mutant.caught, ", ") + ")"
	}
	return s
}

// printSummary gives the exit code.
func printSummary(out io.Writer, all []finding, took time.Duration) int {
	var survivors, errors []string
	for _, f := range all {
		switch {
		case f.err != nil:
			errors = append(errors, f.mutant.name)
		case len(f.by) == 0:
			survivors = append(survivors, f.mutant.name)
		}
	}
	fmt.Fprintf(out, "\n%d mutants, %d caught, %d survived, %d could not be tried, %s\n", len(all), len(all)-len(survivors)-len(errors), len(survivors), len(errors), took.Round(time.Second))
	if len(survivors) > 0 {
		fmt.Fprintf(out, "Survivors are holes in the lock; write scenarios that notice: %s\n", strings.Join(survivors, ", "))
	}
	if len(survivors)+len(errors) > 0 {
		return 1
	}
	return 0
}

func printList(out io.Writer, all []mutant) {
	for _, m := range all {
		small := " "
		if m.small {
			small = "*"
		}
		fmt.Fprintf(out, "%s %-44s %s\n", small, m.name, strings.Join(m.breaks, ", "))
	}
}

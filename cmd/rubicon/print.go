package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"rubicon/internal/wire/terminal"
)

// table prints rows in aligned columns under a head.
func (sh *shell) table(head string, rows [][]string) {
	w := tabwriter.NewWriter(sh.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.Join(strings.Fields(head), "\t")))
	for _, row := range rows {
		for i := range row {
			row[i] = terminal.Clean(row[i])
			if row[i] == "" {
				row[i] = "-"
			}
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a broken pipe is no reason to complain
}

// facts prints names with values.
func (sh *shell) facts(pairs ...string) {
	w := tabwriter.NewWriter(sh.out, 0, 0, 3, ' ', 0)
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(w, "%s\t%s\n", pairs[i], terminal.Clean(pairs[i+1]))
	}
	_ = w.Flush()
}

// json prints a value for programs.
func (sh *shell) json(value any) error {
	e := json.NewEncoder(sh.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	return nil
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func pointed(t *time.Time) string {
	if t == nil {
		return ""
	}
	return moment(*t)
}

package audit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"rubicon/internal/wire/terminal"
)

// Head is the line above the results of a text report.
func Head() string {
	return fmt.Sprintf("%3s  %-20s %-8s %-6s %-9s %-9s %s", "#", "case", "grade", "calls", "first", "end", "the client saw")
}

// Line is one result in a text report, with what was held against it below.
// Calls are those of the primary and of the fallback.
func (x Result) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%3d  %-20s %-8s %-6s %-9s %-9s %s", x.N, x.Name, x.Grade, fmt.Sprintf("%d+%d", x.Primary, x.Fallback),
		millis(x.First), millis(x.Total), printable(x.Client))
	for _, f := range x.Findings {
		fmt.Fprintf(&b, "\n     %s: %s: %s", f.Grade, f.Check, printable(f.Text))
	}
	return b.String()
}

// Summary counts the grades.
func (r *Report) Summary() string {
	parts := make([]string, 0, len(gradeOrder))
	for i := len(gradeOrder) - 1; i >= 0; i-- {
		parts = append(parts, fmt.Sprintf("%d %s", r.Count(gradeOrder[i]), gradeOrder[i]))
	}
	return fmt.Sprintf("%d cases: %s", len(r.Results), strings.Join(parts, ", "))
}

// Title says what was run.
func (r *Report) Title() string {
	waits := "full waits"
	if r.Fast {
		waits = "a tenth of the waits"
	}
	return fmt.Sprintf("Suite %s on %s, %s, %s", r.Suite, r.Surface, r.Target, waits)
}

// Markdown is the report as a page.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n", r.Title(), r.Summary())
	b.WriteString("| # | case | what happens | grade | primary | fallback | first output | end | the client saw |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, x := range r.Results {
		about := x.About
		if x.Row != "" {
			about += " (row " + x.Row + ")"
		}
		fmt.Fprintf(&b, "| %d | `%s` | %s | **%s** | %d | %d | %s | %s | %s |\n", x.N, x.Name, cell(about), x.Grade, x.Primary, x.Fallback,
			millis(x.First), millis(x.Total), cell(x.Client))
	}
	first := true
	for _, x := range r.Results {
		for _, f := range x.Findings {
			if first {
				b.WriteString("\n## What was held against it\n\n| case | grade | check | what was seen |\n|---|---|---|---|\n")
				first = false
			}
			fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s |\n", x.Name, f.Grade, f.Check, cell(f.Text))
		}
	}
	return b.String()
}

// MarshalJSON adds the counts.
func (r *Report) MarshalJSON() ([]byte, error) {
	type plain Report
	counts := map[Grade]int{}
	for _, g := range gradeOrder {
		counts[g] = r.Count(g)
	}
	return json.Marshal(struct {
		plain
		Counts map[Grade]int `json:"counts"`
	}{plain(*r), counts})
}

// cell keeps a target's words inside a table's cell.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'").Replace(printable(s))
}

// printable bounds a target's words and keeps control characters out.
func printable(s string) string {
	const most = 300
	s = terminal.Clean(s)
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func millis(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return short(time.Duration(ms) * time.Millisecond)
}

// short is a duration for people.
func short(d time.Duration) string {
	switch {
	case d == 0:
		return "never"
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

func oneOf[T any](list []T) string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = fmt.Sprint(x)
	}
	return strings.Join(out, " or ")
}

// sameJSON compares two texts as JSON.
func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

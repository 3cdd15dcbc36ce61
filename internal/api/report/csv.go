package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rubicon/internal/books/journal"
	"rubicon/internal/money"
)

// sources have columns of their own; what a charge of unknown source used is in
// the JSON alone.
var sources = [...]string{journal.SourceReported, journal.SourceEstimated}

// WriteCSV writes one line for each row under a head. Maps are written as
// name=value, separated by semicolons.
func (r Statement) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := []string{"month", "customer", "model", "channel", "requests"}
	for _, source := range sources {
		for _, class := range []string{"input", "cached_input", "cache_write", "output", "tools"} {
			head = append(head, source+"_"+class)
		}
	}
	head = append(head, "revenue", "cost", "absorbed", "absorbed_by_reason", "margin")
	lines := [][]string{head}
	for _, row := range r.Rows {
		lines = append(lines, row.fields(r.Month))
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	return nil
}

func (r Row) fields(month string) []string {
	line := []string{month, plain(r.Customer), plain(r.Model), plain(r.Channel), strconv.FormatInt(r.Requests, 10)}
	for _, source := range sources {
		u := r.Usage[source]
		if u == nil {
			u = &Tokens{}
		}
		for _, n := range []int64{u.Input, u.CachedInput, u.CacheWrite, u.Output} {
			line = append(line, strconv.FormatInt(n, 10))
		}
		line = append(line, pairs(u.Tools, func(n int64) string { return strconv.FormatInt(n, 10) }))
	}
	return append(line, r.Revenue.String(), r.Cost.String(), r.Absorbed.String(), pairs(r.AbsorbedByReason, money.Nano.String), r.Margin.String())
}

func pairs[V any](m map[string]V, text func(V) string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, plain(name)+"="+text(m[name]))
	}
	return strings.Join(out, ";")
}

// plain keeps spreadsheets from taking a name, such as that of a hosted tool,
// for a formula.
func plain(name string) string {
	if name != "" && strings.ContainsRune("=+-@\t\r", rune(name[0])) {
		return "'" + name
	}
	return name
}

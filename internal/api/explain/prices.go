package explain

import (
	"fmt"
	"maps"
	"slices"

	"rubicon/internal/books/versions"
)

// Prices lays out the list that a charge was made by.
func Prices(l versions.PriceList) string {
	p := &page{}
	p.section(fmt.Sprintf("Price list %s, in force since %s", l.Version, moment(l.FirstUsedAt)))
	rows := []string{fmt.Sprintf("input\t%s", l.List.Input), fmt.Sprintf("output\t%s", l.List.Output)}
	if l.List.CachedInput != nil {
		rows = append(rows, fmt.Sprintf("cached_input\t%s", l.List.CachedInput))
	}
	if l.List.CacheWrite != nil {
		rows = append(rows, fmt.Sprintf("cache_write\t%s", l.List.CacheWrite))
	}
	if l.List.Request != 0 {
		rows = append(rows, fmt.Sprintf("request\t%s", l.List.Request))
	}
	for _, name := range slices.Sorted(maps.Keys(l.List.Tools)) {
		rows = append(rows, fmt.Sprintf("tool:%s\t%s", name, l.List.Tools[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(l.List.Tiers)) {
		rows = append(rows, fmt.Sprintf("tier:%s\t× %s", name, l.List.Tiers[name]))
	}
	p.table(rows)
	return p.String()
}

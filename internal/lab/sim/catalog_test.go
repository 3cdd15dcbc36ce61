package sim

import (
	"slices"
	"testing"
)

func TestCatalogCoversTheRowsThatAnUpstreamCanCause(t *testing.T) {
	rows := []string{"1", "2", "3", "3a", "4", "5", "5a", "6", "7", "7a", "8", "9", "11", "13", "14", "15", "16", "16a", "17", "18",
		"18a"}
	names := map[string]bool{}
	seen := map[string]map[string]bool{}
	for _, e := range Catalog() {
		if names[e.Name] || e.About == "" || len(e.Protocols) == 0 {
			t.Errorf("entry %+v is double or incomplete", e.Name)
		}
		names[e.Name] = true
		if !e.Unreachable && e.Script.Check() != nil {
			t.Errorf("%s: %v", e.Name, e.Script.Check())
		}
		for _, p := range e.Protocols {
			if seen[p] == nil {
				seen[p] = map[string]bool{}
			}
			seen[p][e.Row] = true
		}
	}
	for _, row := range rows {
		for p, has := range seen {
			hosted := row == "13" && p == "chat" // Chat has no hosted tools that run
			if !has[row] && !hosted {
				t.Errorf("row %s has no script for %s", row, p)
			}
		}
	}
	if got := CatalogScripts(); len(got) != len(names)-1 || !names["row-4"] || !slices.Contains(sortedKeys(got), "ok") {
		t.Errorf("%d scripts of %d entries", len(got), len(names))
	}
}

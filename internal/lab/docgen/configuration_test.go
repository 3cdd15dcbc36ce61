package main

import (
	"strings"
	"testing"

	"rubicon/internal/config"
)

// Every option of the schema has a row with an anchor, a kind of value, a
// sentence and, unless it is empty by nature, a default.
func TestEveryOptionIsOnThePage(t *testing.T) {
	page := configurationPage()
	for _, o := range config.Options() {
		if strings.Count(page, `<a id="`+o.Path+`"></a>`) != 1 {
			t.Errorf("%s has no row, or several", o.Path)
		}
		if o.Kind == "" || o.Default == "" || !strings.HasSuffix(o.About, ".") {
			t.Errorf("%s: value %q, default %q, sentence %q: say more in internal/config/about.go", o.Path, o.Kind, o.Default, o.About)
		}
	}
}

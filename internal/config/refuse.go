package config

import (
	"regexp"
	"strings"
)

// refusal is an option that the schema knows and this version cannot do yet.
type refusal struct {
	path   string // indexes left out: models[].price
	prefix string // refused only with a value that starts so; "" refuses the option
	reason string
}

// notYet lists what is refused when it is in the file at all, so that nobody
// relies on an option that does nothing. Its defaults apply. Delete a row when
// its feature lands.
func notYet() []refusal {
	return []refusal{
		{"store.lease", "", "one gateway runs on a store"},
		{"store.url", "postgres", "the store is sqlite:PATH"},
	}
}

// refused reports an option that the table refuses.
func (d *decoder) refused(n *node, path string) bool {
	generic := indexes.ReplaceAllLiteralString(path, "[]")
	for _, r := range d.refusals {
		if r.path != generic {
			continue
		}
		if r.prefix != "" {
			// A failing expansion is reported by the option's own reader.
			text, _, err := d.expand(n.text)
			if n.kind != scalar || err != nil || !strings.HasPrefix(text, r.prefix) {
				continue
			}
		}
		d.report(path, "not available in this version: %s", r.reason)
		return true
	}
	return false
}

var indexes = regexp.MustCompile(`\[\d+\]`)

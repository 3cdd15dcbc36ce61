package config

import (
	"reflect"
	"strings"
)

// fixed are the options that are fixed at the start: with everything below them.
// note says what of them is, where it is not the whole value.
var fixed = [...]struct {
	path, note string
	same       func(old, new *Config) bool
}{
	{"listen", "", func(old, new *Config) bool { return old.Listen == new.Listen }},
	{"tls", " (on or off)", func(old, new *Config) bool { return old.TLS.Enabled() == new.TLS.Enabled() }},
	{"admin.listen", "", func(old, new *Config) bool { return old.Admin.Listen == new.Admin.Listen }},
	{"store", "", func(old, new *Config) bool { return reflect.DeepEqual(old.Store, new.Store) }},
}

// ChangedForGood names the options that differ and cannot change while the
// gateway runs.
func ChangedForGood(old, new *Config) (out []string) {
	for _, f := range fixed {
		if !f.same(old, new) {
			out = append(out, f.path+f.note)
		}
	}
	return out
}

// fixedAt says whether an option is fixed at the start: "" if it is not.
func fixedAt(path string) string {
	for _, f := range fixed {
		if path == f.path || strings.HasPrefix(path, f.path+".") {
			return "fixed at the start" + f.note
		}
	}
	return ""
}

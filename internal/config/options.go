package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rubicon/internal/money"
)

// Option is one option of the configuration, as its page shows it.
type Option struct {
	Path    string // "[]" is each item of a list, NAME a key of your choice
	Kind    string // what the value must be, with its unit
	Default string // as it would be written; "" is none
	About   string // one sentence
	// Notes say where else it can be set, and what of it a reload cannot change.
	Notes []string
}

// Options are all options of the schema, in its order.
func Options() []Option {
	var all []Option
	d := &decoder{visit: func(path, kind, def string) {
		all = append(all, Option{Path: path, Kind: strings.TrimPrefix(kind, "a "), Default: def})
	}}
	c := Default()
	d.object(&node{kind: mapping}, "", d.root(&c)...)
	for i := range all {
		all[i].describe()
	}
	perModel := map[string]bool{}
	for _, o := range all {
		perModel[o.Path] = true
	}
	for i, o := range all {
		if perModel["models[]."+o.Path] {
			all[i].Notes = append([]string{"per model too"}, o.Notes...)
		}
	}
	return all
}

// describe adds what the schema does not know.
func (o *Option) describe() {
	path := o.Path
	for _, m := range mirrors {
		if rest, is := strings.CutPrefix(path, m.path); is {
			path = m.of + rest
			o.About = m.about + " `" + path + "`."
			o.repeats(path, m.sameDefault)
			return
		}
	}
	words := about[path]
	o.About = words.what
	if words.unit != "" {
		o.Kind = words.unit
	}
	if words.def != "" {
		o.Default = words.def
	}
	if words.also != "" {
		o.Notes = append(o.Notes, words.also)
	}
	if f := fixedAt(o.Path); f != "" {
		o.Notes = append(o.Notes, f)
	}
}

// repeats takes kind and default over from the option that it repeats; same says
// that the default is that option's value.
func (o *Option) repeats(path string, same bool) {
	words := about[path]
	if words.unit != "" {
		o.Kind = words.unit
	}
	switch {
	case same:
		o.Default = "as " + path
	case words.def != "" && words.def != required:
		o.Default = words.def
	}
}

// written is a value as it would be written in the file.
func written(value any) string {
	switch v := value.(type) {
	case time.Duration:
		return writtenDuration(v)
	case int64:
		return writtenSize(v)
	case money.Nano:
		return strings.TrimSuffix(strings.TrimRight(v.String(), "0"), ".")
	}
	return fmt.Sprint(value)
}

func writtenDuration(v time.Duration) string {
	switch {
	case v > 0 && v%day == 0:
		return strconv.FormatInt(int64(v/day), 10) + "d"
	case v >= 10*time.Minute && v%time.Minute == 0:
		return strconv.FormatInt(int64(v/time.Minute), 10) + "m"
	case v%time.Second == 0:
		return strconv.FormatInt(int64(v/time.Second), 10) + "s"
	}
	return v.String()
}

func writtenSize(v int64) string {
	if v > 0 && v%mib == 0 {
		return strconv.FormatInt(v/mib, 10) + "MiB"
	}
	return strconv.FormatInt(v, 10)
}

package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// decoder walks the tree along the schema and collects every problem.
type decoder struct {
	expander
	problems []Problem
	lines    map[string]int  // of every path that was seen
	broken   map[string]bool // paths whose value has a problem
	// visit, where it is set, is told of every value of the schema instead of
	// reading one (Options).
	visit func(path, kind, def string)
	// secrets are the values that no message may show: all that was expanded
	// and all that went into a Secret.
	secrets []string
}

// reader reads the node at a path into the place that it was made for. It is
// called for values that are present only; null counts as absent.
type reader func(n *node, path string)

// field is one option of a mapping.
type field struct {
	key  string
	read reader
}

func (d *decoder) report(path, format string, args ...any) {
	if d.visit != nil {
		return // nothing was read
	}
	d.broken[path] = true
	d.problems = append(d.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...), Line: d.lineOf(path)})
}

// lineOf is the line of the path or of what is nearest above it.
func (d *decoder) lineOf(path string) int {
	for path != "" {
		if line, known := d.lines[path]; known {
			return line
		}
		path = above(path)
	}
	return 0
}

// object reads a mapping whose keys are the fields' and no others. Fields are
// read in the order of the schema, whatever the order in the file.
func (d *decoder) object(n *node, path string, fields ...field) {
	if d.visit != nil {
		for _, f := range fields {
			f.read(n, join(path, f.key))
		}
		return
	}
	entries := d.entries(n, path)
	for _, f := range fields {
		e, present := entries[f.key]
		delete(entries, f.key)
		at := join(path, f.key)
		if present && e.value.kind != null {
			f.read(e.value, at)
		}
	}
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.key
	}
	for key, e := range entries {
		d.unknown(path, key, e.line, known)
	}
}

// unknown reports a key. One that could be a secret in the wrong place is not
// shown: no key of the schema has anything but letters and underscores.
func (d *decoder) unknown(path, key string, line int, known []string) {
	options := strings.Join(known, ", ")
	if isOptionName(key) {
		d.lines[join(path, key)] = line
		d.report(join(path, key), "unknown key; known here: %s", options)
		return
	}
	d.problems = append(d.problems, Problem{
		Path: path, Line: line, Message: fmt.Sprintf("unknown key on line %d; known here: %s", line, options),
	})
}

func isOptionName(key string) bool {
	for i := range len(key) {
		if c := key[i]; c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return key != "" && len(key) <= 32
}

// entries are those of a mapping by key; duplicates are problems and the first counts.
func (d *decoder) entries(n *node, path string) map[string]entry {
	if n.kind != mapping {
		d.report(path, "must be a mapping of options")
		return nil
	}
	out := make(map[string]entry, len(n.entries))
	for _, e := range n.entries {
		first, again := out[e.key]
		if !again {
			out[e.key] = e
			d.lines[join(path, e.key)] = e.line
			continue
		}
		where := path
		if isOptionName(e.key) {
			where = join(path, e.key)
		}
		d.problems = append(d.problems, Problem{
			Path: where, Line: e.line, Message: fmt.Sprintf("duplicate key on line %d, first on line %d", e.line, first.line),
		})
	}
	return out
}

// group reads a mapping as part of a bigger one.
func (d *decoder) group(fields ...field) reader {
	return func(n *node, path string) { d.object(n, path, fields...) }
}

// each calls read for every item of a list, null items included.
func (d *decoder) each(n *node, path string, read func(i int, n *node, path string)) {
	if d.visit != nil {
		read(0, n, path+"[]")
		return
	}
	if n.kind != list {
		d.report(path, "must be a list")
		return
	}
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.lines[at] = item.line
		read(i, item, at)
	}
}

// table calls read for every entry of a mapping with free keys, in the order
// of the file. ok judges a key; a bad one is not shown.
func (d *decoder) table(n *node, path string, ok func(string) bool, read func(key string, n *node, path string)) {
	if d.visit != nil {
		read("NAME", n, join(path, "NAME"))
		return
	}
	entries := d.entries(n, path)
	keys := make([]string, 0, len(entries))
	for key, e := range entries {
		if ok(key) {
			keys = append(keys, key)
			continue
		}
		d.problems = append(d.problems, Problem{Path: path, Line: e.line, Message: fmt.Sprintf("the key on line %d has characters that are not allowed", e.line)})
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(entries[a].line, entries[b].line), cmp.Compare(a, b))
	})
	for _, key := range keys {
		if value := entries[key].value; value.kind != null {
			read(key, value, join(path, key))
		}
	}
}

// reported reports whether there is a problem with the value at the path or with
// one around it, so that what follows from that one is not reported too.
func (d *decoder) reported(path string) bool {
	for path != "" && !d.broken[path] {
		path = above(path)
	}
	return d.broken[path]
}

// finish gives the problems in the order of the file, without secrets.
func (d *decoder) finish() error {
	if len(d.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Path, b.Path))
	})
	for i, p := range d.problems {
		d.problems[i].Message = d.scrub(p.Message)
	}
	return &Invalid{Problems: d.problems}
}

// scrub is the second line of defence: messages are written without values,
// except names, and a name may come from the environment. Values of one to
// three characters would only garble messages.
func (d *decoder) scrub(message string) string {
	for _, secret := range d.secrets {
		if len(secret) >= 4 {
			message = strings.ReplaceAll(message, secret, hidden)
		}
	}
	return message
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func above(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }

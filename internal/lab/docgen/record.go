package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/money"
)

func recordPage() string {
	return generated + `# The record of a request

Every request that runs a model, or counts for one, has one record, under the ` + "`x-request-id`" + ` of its answer. Operators read it with ` + "`rubicon explain`" + ` or at ` + "`GET /admin/v1/requests/{id}`" + `, its customer at ` + "`GET /v1/requests/{id}`" + `. It never holds prompts or answers. While the request runs its outcome is ` + "`running`" + `; once finished it does not change. It is kept for ` + "`retention.requests`" + `.

- "customer" in the last column: the customer sees the member too, with channels under their aliases. "operator": the operator alone; for the customer it is absent.
- Times are RFC 3339 in UTC with milliseconds. Durations are whole milliseconds (ms). Amounts are decimal strings in USD with nine places.
- In a member's name ` + "`[]`" + ` is each item of a list.

` + recordTables() + `The failures and reasons are explained in [replay.md](../replay.md), the codes in [errors.md](../errors.md), the states in [health.md](../health.md).
`
}

// recordMember is a JSON member of the record.
type recordMember struct {
	path, kind string
	optional   bool // left out where it is empty
}

// recordMembers are all of them, read off the type.
func recordMembers() []recordMember { return membersOf(reflect.TypeFor[journal.Record](), "") }

func membersOf(t reflect.Type, above string) (all []recordMember) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || name == "" {
			continue
		}
		path, inner := above+name, f.Type
		kind := kindOf(inner)
		all = append(all, recordMember{path, kind, strings.Contains(options, "omit")})
		if inner.Kind() == reflect.Slice {
			inner, path = inner.Elem(), path+"[]"
		}
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Time]() {
			all = append(all, membersOf(inner, path+".")...)
		}
	}
	return all
}

// kindOf is how a Go type looks in JSON.
func kindOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t == reflect.TypeFor[money.Nano]():
		return "amount"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem()) + " or null"
	case reflect.Slice:
		return "list of " + strings.TrimSuffix(kindOf(t.Elem()), "s") + "s"
	case reflect.Map:
		return "object, name to " + kindOf(t.Elem())
	case reflect.Struct:
		return "object"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.String:
		return "text"
	}
	return t.String()
}

// recordTables is a table for the record itself and one for each of its parts.
func recordTables() string {
	var names []string
	rows := map[string][][]string{}
	hidden := operatorsOnly()
	for _, m := range recordMembers() {
		section, _, nested := cutLast(m.path)
		if !nested {
			section = ""
		}
		if rows[section] == nil {
			names = append(names, section)
		}
		kind := m.kind
		if unit := recordWords[m.path].unit; unit != "" {
			kind += ", " + unit
		}
		if m.optional {
			kind += "; absent when empty"
		}
		who := "customer"
		if hidden[m.path] {
			who = "operator"
		}
		rows[section] = append(rows[section], []string{fmt.Sprintf(`<a id="%s"></a>%s`, m.path, code(m.path)), kind, recordWords[m.path].means, who})
	}
	var b strings.Builder
	for _, name := range names {
		title := "The request"
		if name != "" {
			title = code(name)
		}
		fmt.Fprintf(&b, "## %s\n\n%s", title, table([]string{"member", "value", "meaning", "seen by"}, rows[name]))
	}
	return b.String()
}

func cutLast(path string) (before, after string, found bool) {
	i := strings.LastIndex(path, ".")
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// operatorsOnly are the members that a customer does not see: those that are
// there in a full record, and not in its customer's.
func operatorsOnly() map[string]bool {
	full := reflect.New(reflect.TypeFor[journal.Record]()).Elem()
	fill(full)
	record := full.Interface().(journal.Record)
	seen := present(record.ForCustomer(func(channel string) string { return channel }))
	hidden := map[string]bool{}
	for _, m := range recordMembers() {
		hidden[m.path] = !seen[m.path]
	}
	return hidden
}

// fill puts something into everything, so that nothing is left out as empty.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("name"), reflect.New(v.Type().Elem()).Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
			return
		}
		for i := range v.NumField() {
			// What is not in the JSON is how the record is shown, not what it says.
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	}
}

// present are the paths of a record's JSON.
func present(r journal.Record) map[string]bool {
	text, err := json.Marshal(r)
	if err != nil {
		panic("docgen: a record: " + err.Error()) // of plain values
	}
	var tree any
	_ = json.Unmarshal(text, &tree)
	paths := map[string]bool{}
	walk(tree, "", paths)
	return paths
}

func walk(tree any, path string, paths map[string]bool) {
	switch v := tree.(type) {
	case map[string]any:
		for name, inner := range v {
			at := strings.TrimPrefix(path+"."+name, ".")
			paths[at] = true
			walk(inner, at, paths)
		}
	case []any:
		for _, inner := range v {
			walk(inner, path+"[]", paths)
		}
	}
}

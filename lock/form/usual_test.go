package form

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const table = `{
	"cat": {"name": "…", "legs": 4, "colour": "grey", "kittens": "?"},
	"black cat": {"name": "…", "legs": 4, "colour": "black", "kittens": "?"},
	"box": {"lid": null, "inside": [{"name": "Tom", "legs": 4, "colour": "grey"}], "open": false}
}`

func TestShorten(t *testing.T) {
	u := parsed(t, table)
	for _, c := range []struct{ name, full, short string }{
		{"a scalar", `1.0`, `1.0`},
		{"another object", `{"legs":4}`, `{"legs":4}`},
		{"one like the usual", `{"name":"Tom","legs":4,"colour":"grey"}`, `{"like":"cat","name":"Tom"}`},
		{"the one that leaves least", `{"name":"Tom","legs":4,"colour":"black"}`, `{"like":"black cat","name":"Tom"}`},
		{"a difference", `{"name":"Tom","legs":3,"colour":"grey"}`, `{"name":"Tom","legs":3,"colour":"grey"}`},
		{"a member that most lack", `{"name":"Tom","legs":4,"colour":"grey","kittens":2}`, `{"like":"cat","name":"Tom","kittens":2}`},
		{"a member less", `{"lid":null,"open":false}`, `{"lid":null,"open":false}`},
		{"another order", `{"legs":4,"name":"Tom","colour":"grey"}`, `{"legs":4,"name":"Tom","colour":"grey"}`},
		{"one more member", `{"name":"Tom","legs":4,"colour":"grey","hat":1}`, `{"name":"Tom","legs":4,"colour":"grey","hat":1}`},
		{"inside others", `[{"lid":null,"inside":[{"name":"Kim","legs":4,"colour":"grey"}],"open":false}]`, `[{"like":"box","inside":[{"like":"cat","name":"Kim"}]}]`},
		{"repeats", `[{"a":1},{"a":1},{"a":1},{"a":2},1,1]`, `[{"a":1},{"again":2},{"a":2},1,1]`},
		{"a value that looks like a mark", `{"name":"?","legs":4,"colour":"grey","kittens":"?"}`, `{"like":"cat","name":"?","kittens":"?"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			short, err := u.Shorten([]byte(c.full), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.short, string(short)); diff != "" {
				t.Error(diff)
			}
			full, err := u.Expand(Layout(short), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.full, string(full)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatCannotBeShortened(t *testing.T) {
	u := parsed(t, table)
	for _, in := range []string{`{"like":"cat"}`, `[{"again":1}]`} {
		if out, err := u.Shorten([]byte(in), nil); err == nil {
			t.Errorf("%s became %s, which says something else", in, out)
		}
	}
}

func TestWhatCannotBeExpanded(t *testing.T) {
	u := parsed(t, table)
	for _, in := range []string{
		`{"like":"dog","name":"Rex"}`, `{"like":"cat"}`, `{"like":"cat","name":"Tom","hat":1}`, `[{"again":2}]`, `[1,{"again":0}]`, `{`,
	} {
		if out, err := u.Expand([]byte(in), nil); err == nil {
			t.Errorf("%s became %s", in, out)
		}
	}
}

func TestBadTables(t *testing.T) {
	for _, in := range []string{`{"cat":1}`, `{"cat":{},"cat":{}}`, `{`} {
		if _, err := ParseUsual([]byte(in)); err == nil {
			t.Errorf("%s is taken for a table", in)
		}
	}
}

// TestNothingIsLost: whatever is shortened comes back byte for byte.
func TestNothingIsLost(t *testing.T) {
	u := parsed(t, table)
	names := rapid.SampledFrom([]string{`"name"`, `"legs"`, `"colour"`, `"kittens"`, `"lid"`, `"inside"`, `"open"`, `"without"`})
	scalars := rapid.SampledFrom([]string{`4`, `4.0`, `null`, `false`, `"grey"`, `"black"`, `"?"`, `"…"`, `"a\"b"`, `{}`, `[]`})
	rapid.Check(t, func(t *rapid.T) {
		full, sibling := drawn(t, names, scalars, 3), []byte(drawn(t, names, scalars, 3))
		short, err := u.Shorten([]byte(full), sibling)
		if err != nil {
			t.Fatal(err)
		}
		again, err := u.Expand(Layout(short), sibling)
		if err != nil || string(again) != full {
			t.Errorf("%s became %s, and then %s (%v)", full, short, again, err)
		}
	})
}

// drawn is a random value, so many levels deep at most.
func drawn(t *rapid.T, names, scalars *rapid.Generator[string], depth int) string {
	kind := rapid.IntRange(0, 2).Draw(t, "kind")
	if depth == 0 || kind == 2 {
		return scalars.Draw(t, "scalar")
	}
	var parts []string
	if kind == 0 {
		for _, key := range rapid.SliceOfNDistinct(names, 0, 5, rapid.ID[string]).Draw(t, "keys") {
			parts = append(parts, key+":"+drawn(t, names, scalars, depth-1))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	for range rapid.IntRange(0, 3).Draw(t, "items") {
		parts = append(parts, drawn(t, names, scalars, depth-1))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// TestSiblings: what the sibling holds in the same place is not said again.
func TestSiblings(t *testing.T) {
	u := parsed(t, table)
	sibling := `{"call":"POST","headers":{"content-type":"application/json"},"events":[{"type":"a","n":1},{"type":"b","n":2}],"record":{"id":1,"surface":"http","sum":"0.000350000"},"status":200}`
	full := `{"call":"GET","headers":{"content-type":"application/json"},"events":[{"type":"a","n":1},{"type":"b","n":3},{"type":"c","n":4}],"record":{"id":1,"surface":"ws","sum":"0.000350000"},"status":200}`
	want := `{"like":"over HTTP","call":"GET","events":[{"type":"a","n":1},{"type":"b","n":3},{"type":"c","n":4}],"record":{"like":"over HTTP","surface":"ws"}}`
	short, err := u.Shorten([]byte(full), []byte(sibling))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(short)); diff != "" {
		t.Error(diff)
	}
	if again, err := u.Expand(Layout(short), []byte(sibling)); err != nil || string(again) != full {
		t.Errorf("%s (%v)", again, err)
	}
	if out, err := u.Expand(short, nil); err == nil {
		t.Errorf("without its sibling it became %s", out)
	}
	if _, err := ParseUsual([]byte(`{"over HTTP": {}}`)); err == nil {
		t.Error("a usual object takes the siblings' name")
	}
}

func parsed(t *testing.T, table string) *Usual {
	t.Helper()
	u, err := ParseUsual([]byte(table))
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid([]byte(table)) {
		t.Fatal("the table is no JSON")
	}
	return u
}

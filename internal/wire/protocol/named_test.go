package protocol

import (
	"fmt"
	"slices"
	"testing"
)

// What a request names stays bounded: more ids than it may are refused by the
// place of the first one too many, of sealed items the last are kept.
func TestNamedStateIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		named, sealed int
		param         string // of the refusal; "" none
	}{
		"nothing":           {0, 0, ""},
		"as many as may be": {MaxNamed, 0, ""},
		"one too many":      {MaxNamed + 1, 0, fmt.Sprint("item ", MaxNamed)},
		"an attack":         {100 * MaxNamed, 0, fmt.Sprint("item ", MaxNamed)},
		"a long history":    {0, 100 * MaxNamed, ""},
		"both":              {MaxNamed, 100 * MaxNamed, ""},
		"both, too many":    {3 * MaxNamed, 100 * MaxNamed, fmt.Sprint("item ", MaxNamed)},
	} {
		t.Run(name, func(t *testing.T) {
			var r Request
			for i := range max(c.named, c.sealed) {
				if i < c.sealed {
					r.Name(Ref{Kind: KindSealed, ID: fmt.Sprint(i)})
				}
				if i < c.named {
					r.Name(Ref{Kind: KindItem, ID: fmt.Sprint(i), Param: fmt.Sprint("item ", i)})
				}
				if len(r.Refs) > 4*MaxNamed {
					t.Fatalf("%d are kept", len(r.Refs))
				}
			}
			f := r.TooManyNames()
			if (f == nil) != (c.param == "") || f != nil && f.Param != c.param {
				t.Errorf("refusal %+v", f)
			}
			if c.sealed > 0 {
				last := r.Refs[slices.IndexFunc(r.Refs, func(r Ref) bool { return r.Kind == KindSealed }):]
				if !slices.ContainsFunc(last, func(r Ref) bool { return r.Kind == KindSealed && r.ID == fmt.Sprint(c.sealed-1) }) {
					t.Error("the last sealed item went")
				}
			}
			if len(r.Refs) > 2*MaxNamed+1 {
				t.Errorf("%d are left", len(r.Refs))
			}
		})
	}
}

func TestHostedToolsAreBounded(t *testing.T) {
	var names []string
	for i := range 10 * maxHosted {
		names = AddHosted(AddHosted(names, "mcp"), fmt.Sprint(i))
	}
	if len(names) != maxHosted || names[0] != "mcp" {
		t.Errorf("%d names, first %q", len(names), names[0])
	}
}

package translate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/translate"
)

// TestFault12 : an id that is illegal at its target is hashed, the same way for
// the call and its result, and never cut.
func TestFault12IllegalIDsAreHashed(t *testing.T) {
	long := strings.Repeat("x", 65)
	for _, c := range []struct {
		to   translate.Format
		id   string
		kept bool
	}{
		{translate.Responses, "call_1", true},
		{translate.Responses, long, false},
		{translate.Responses, long[:64], true},
		{translate.Chat, long[:41], false},
		{translate.Messages, "call:1", false},
		{translate.Messages, "toolu_01-A", true},
		{translate.Messages, "", false},
	} {
		got := translate.CallID(c.to, c.id)
		if (got == c.id) != c.kept || !translate.LegalCallID(c.to, got) || got != translate.CallID(c.to, c.id) {
			t.Errorf("%s %q: %q", c.to, c.id, got)
		}
	}
	if translate.CallID(translate.Responses, long+"a") == translate.CallID(translate.Responses, long+"b") {
		t.Error("two ids became one")
	}
}

func TestNames(t *testing.T) {
	tool := func(ns, name string) translate.Tool { return translate.Tool{Namespace: ns, Name: name, Path: "tools"} }
	long := strings.Repeat("n", 70)
	r := &translate.Request{Tools: []translate.Tool{tool("", "plain"), tool("mcp", "read"), tool("", long), tool("mcp", long), tool("", "a.b")}}
	for _, to := range translate.Formats() {
		n := translate.NamesOf(r, to, translate.Defaults(to))
		seen := map[string]bool{}
		for _, tl := range r.Tools {
			wire := n.Wire(tl.Namespace, tl.Name)
			ns := ""
			if to == translate.Responses {
				ns = tl.Namespace
			}
			back, ok := n.Restore(ns, wire)
			if !ok || back.Namespace != tl.Namespace || back.Name != tl.Name {
				t.Errorf("%s: %s/%s became %s and came back as %+v", to, tl.Namespace, tl.Name, wire, back)
			}
			if seen[ns+"/"+wire] {
				t.Errorf("%s: %s twice", to, wire)
			}
			seen[ns+"/"+wire] = true
			if to != translate.Messages && len(wire) > 64 {
				t.Errorf("%s: %s is too long", to, wire)
			}
		}
		if len(n.Clashes()) > 0 {
			t.Errorf("%s: clashes %v", to, n.Clashes())
		}
	}
}

func TestNamesThatClash(t *testing.T) {
	r := &translate.Request{Tools: []translate.Tool{{Name: "mcp__read", Path: "tools[0]"}, {Namespace: "mcp", Name: "read", Path: "tools[1].tools[0]"}}}
	got := translate.NamesOf(r, translate.Chat, translate.Defaults(translate.Chat)).Clashes()
	if len(got) != 1 || got[0].Path != "tools[1].tools[0]" {
		t.Errorf("clashes: %v", got)
	}
}

func TestUnwrapInPieces(t *testing.T) {
	for _, text := range []string{"", "plain", "line\n\"quoted\" \\ back", "emoji \U0001F600 é", "{\"input\":\"x\"}"} {
		for _, arguments := range []string{translate.WrapInput(text), "{ \"input\" : " + strings.TrimPrefix(translate.WrapInput(text), `{"input":`)} {
			escaped := strings.ReplaceAll(arguments, "\U0001F600", `\ud83d\ude00`)
			for size := 1; size <= len(escaped); size++ {
				if got, ok := unwrapPieces(escaped, size); !ok || got != text {
					t.Fatalf("%q in pieces of %d: %q %v", escaped, size, got, ok)
				}
			}
		}
	}
}

func unwrapPieces(s string, size int) (string, bool) {
	var u translate.Unwrapper
	var b strings.Builder
	for piece := range slices.Chunk([]rune(s), size) {
		b.WriteString(u.Push(string(piece)))
	}
	rest, ok := u.End()
	return b.String() + rest, ok
}

func TestUnwrapOddArguments(t *testing.T) {
	for in, want := range map[string]string{`{"a":1,"input":"x"}`: "x", `*** Begin Patch`: "*** Begin Patch"} {
		got, ok := unwrapPieces(in, 3)
		if got != want || ok != (in[0] == '{') {
			t.Errorf("%q: %q %v", in, got, ok)
		}
	}
	if _, ok := unwrapPieces(`{"input":"half`, 4); ok {
		t.Error("arguments that were cut passed as whole")
	}
}

func TestNearestEffort(t *testing.T) {
	known := []string{"low", "medium", "high"}
	for asked, want := range map[string]string{
		"none": "low", "minimal": "low", "low": "low", "high": "high", "xhigh": "high", "max": "high", "ultra": "high", "persistent": "high",
		"0": "low", "0.5": "medium", "50": "medium", "1": "high", "100000": "high",
	} {
		if got := translate.NearestEffort(asked, known); got != want || !translate.KnownEffort(asked) {
			t.Errorf("%s: %s, want %s", asked, got, want)
		}
	}
	for _, garbage := range []string{"", "hgih", "-1", "NaN", "1e99"} {
		if translate.KnownEffort(garbage) {
			t.Errorf("%q passed as an effort", garbage)
		}
	}
}

// TestFault40 : budgets stay between 1024 and the output limit.
func TestFault40Budgets(t *testing.T) {
	for _, c := range []struct {
		effort string
		limit  int64
		budget int64
		ok     bool
	}{
		{"minimal", 32000, 1024, true}, {"low", 32000, 4800, true}, {"medium", 32000, 13600, true}, {"high", 32000, 25600, true}, {"max", 32000, 25600, true},
		{"minimal", 1025, 1024, true}, {"high", 1024, 0, false}, {"high", 128, 0, false}, {"none", 32000, 0, false},
	} {
		if got, ok := translate.BudgetOf(c.effort, c.limit); got != c.budget || ok != c.ok {
			t.Errorf("%s of %d: %d %v", c.effort, c.limit, got, ok)
		}
	}
	for _, c := range []struct {
		budget, limit int64
		want          string
	}{{0, 0, "none"}, {1024, 32000, "minimal"}, {4800, 32000, "low"}, {13600, 32000, "medium"}, {25600, 32000, "high"}, {31999, 32000, "high"}, {10000, 0, "medium"}} {
		if got := translate.EffortOf(c.budget, c.limit); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.budget, c.limit, got, c.want)
		}
	}
}

func TestArrange(t *testing.T) {
	text := func(s string) translate.Block { return translate.Block{Kind: translate.Text, Text: s} }
	call := func(id string) translate.Block { return translate.Block{Kind: translate.Call, ID: id, Name: "f"} }
	result := func(id, s string) translate.Block {
		return translate.Block{Kind: translate.Result, ID: id, Inner: []translate.Block{text(s)}}
	}
	turn := func(role translate.Role, b ...translate.Block) translate.Turn {
		return translate.Turn{Role: role, Blocks: b}
	}
	u, a, s := translate.User, translate.Assistant, translate.System
	for name, c := range map[string]struct {
		in   []translate.Turn
		want string
		bad  int
	}{
		"merged":                    {[]translate.Turn{turn(u, text("1")), turn(u, text("2")), turn(a), turn(u, text("3"))}, "user 1 2 3", 0},
		"results first":             {[]translate.Turn{turn(a, call("x")), turn(u, text("1"), result("x", "r"))}, "assistant call:x|user result:x 1", 0},
		"results behind system":     {[]translate.Turn{turn(a, call("x")), turn(s, text("1")), turn(u, result("x", "r"))}, "assistant call:x|user result:x|system 1", 0},
		"results spread":            {[]translate.Turn{turn(a, call("x"), call("y")), turn(u, result("y", "r")), turn(a, text("1")), turn(u, result("x", "r"))}, "assistant call:x call:y|user result:x result:y|assistant 1", 0},
		"steps stay steps":          {[]translate.Turn{turn(a, call("x")), turn(u, result("x", "r")), turn(a, call("y")), turn(u, result("y", "r"))}, "assistant call:x|user result:x|assistant call:y|user result:y", 0},
		"an id again":               {[]translate.Turn{turn(a, call("x")), turn(u, result("x", "r")), turn(a, call("x")), turn(u, result("x", "s"))}, "assistant call:x|user result:x|assistant call:x|user result:x", 0},
		"one result twice":          {[]translate.Turn{turn(a, call("x")), turn(u, result("x", "r"), result("x", "r"))}, "assistant call:x|user result:x", 0},
		"two results":               {[]translate.Turn{turn(a, call("x")), turn(u, result("x", "r"), result("x", "s"))}, "assistant call:x|user result:x", 1},
		"no result":                 {[]translate.Turn{turn(a, call("x")), turn(u, text("1"))}, "assistant call:x|user 1", 1},
		"no call":                   {[]translate.Turn{turn(u, result("x", "r"), text("1"))}, "user 1", 1},
		"result in front of a call": {[]translate.Turn{turn(u, result("x", "r")), turn(a, call("x"))}, "assistant call:x", 2},
		"one id in one turn":        {[]translate.Turn{turn(a, call("x"), call("x")), turn(u, result("x", "r"))}, "assistant call:x call:x|user result:x", 1},
	} {
		rep := translate.NewReporter(translate.Messages, translate.Flags{})
		got := show(translate.Arrange(c.in, rep))
		if got != c.want || len(rep.Report().Excluded) != c.bad {
			t.Errorf("%s: %s, want %s; excluded %v", name, got, c.want, rep.Report().Excluded)
		}
	}
}

func show(turns []translate.Turn) string {
	var out []string
	for _, t := range turns {
		words := []string{string(t.Role)}
		for _, b := range t.Blocks {
			switch b.Kind {
			case translate.Text:
				words = append(words, b.Text)
			default:
				words = append(words, b.Kind.String()+":"+b.ID)
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, "|")
}

func TestStopCutter(t *testing.T) {
	words := []string{"</block>", "STOP", "ST"}
	for in, want := range map[string]string{
		"yes</block>no": "yes|</block>", "no stop": "no stop|", "a<b</bloc": "a<b</bloc|", "xSTOPy": "x|ST", "": "|",
	} {
		for size := 1; size <= len(in)+1; size++ {
			text, sequence := cut(t, in, words, size)
			if got := text + "|" + sequence; got != want {
				t.Errorf("%q in pieces of %d: %s, want %s", in, size, got, want)
			}
		}
	}
}

func cut(t *testing.T, in string, words []string, size int) (text, sequence string) {
	t.Helper()
	events := []translate.Event{{Kind: translate.Start}, {Kind: translate.Open, Block: translate.Block{Kind: translate.Text}}}
	for piece := range slices.Chunk([]byte(in), size) {
		events = append(events, translate.Event{Kind: translate.Delta, Text: string(piece)})
	}
	events = append(events, translate.Event{Kind: translate.Close}, translate.Event{Kind: translate.UsageNow}, translate.Event{Kind: translate.Stop, Stop: translate.StopReason{Word: translate.End}})
	c := translate.NewStopCutter(words)
	var out []translate.Event
	for _, e := range events {
		out = c.Apply(out, e)
	}
	out = c.End(out)
	var kinds []translate.EventKind
	for _, e := range out {
		if e.Kind == translate.Delta {
			text += e.Text
			continue
		}
		kinds = append(kinds, e.Kind)
	}
	if want := []translate.EventKind{translate.Start, translate.Open, translate.Close, translate.UsageNow, translate.Stop}; !slices.Equal(kinds, want) {
		t.Errorf("%q: %s", in, cmp.Diff(want, kinds))
	}
	return text, out[len(out)-1].Stop.Sequence
}

func TestSplitStops(t *testing.T) {
	words := []string{"\n", "a", "b"}
	for to, want := range map[translate.Format]int{translate.Responses: 0, translate.Chat: 2, translate.Messages: 2} {
		f := translate.Flags{StopMax: 2}
		native, emulated := translate.SplitStops(words, to, f)
		if len(native) != want || len(native)+len(emulated) != 3 {
			t.Errorf("%s: %v %v", to, native, emulated)
		}
	}
}

func TestUsageSound(t *testing.T) {
	got, ok := translate.Usage{Fresh: -1, Output: 3, Thinking: 5}.Sound()
	if ok || got != (translate.Usage{Output: 3, Thinking: 3}) {
		t.Errorf("%+v %v", got, ok)
	}
}

func TestEffortOfAModelThatTakesNone(t *testing.T) {
	for asked, notes := range map[string]int{"none": 0, "high": 1} {
		f := translate.Flags{Efforts: []string{}}
		rep := translate.NewReporter(translate.Chat, f)
		r := &translate.Request{Reasoning: translate.Reasoning{Effort: asked, EffortPath: "reasoning_effort"}}
		if got := translate.EffortFor(r, rep, f); got != "" || len(rep.Report().Notes) != notes || len(rep.Report().Excluded) != 0 {
			t.Errorf("%s: %q %+v", asked, got, rep.Report())
		}
	}
}

// TestStopCutterBesideAnotherText: what is kept back of one text comes out in
// that text, also where another one opens before it has ended.
func TestStopCutterBesideAnotherText(t *testing.T) {
	c := translate.NewStopCutter([]string{"</end>"})
	var got []string
	for _, e := range []translate.Event{
		{Kind: translate.Open, Index: 0, Block: translate.Block{Kind: translate.Text}},
		{Kind: translate.Delta, Index: 0, Part: translate.PartText, Text: "one</"},
		{Kind: translate.Open, Index: 1, Block: translate.Block{Kind: translate.Text}},
		{Kind: translate.Delta, Index: 1, Part: translate.PartText, Text: "two"},
	} {
		for _, out := range c.Apply(nil, e) {
			if out.Kind == translate.Delta {
				got = append(got, fmt.Sprint(out.Index, out.Text))
			}
		}
	}
	if want := []string{"0one", "0</", "1two"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

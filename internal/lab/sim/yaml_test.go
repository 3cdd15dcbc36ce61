package sim

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

func TestLoad(t *testing.T) {
	got, err := Load([]byte(`
models:
  up-a:
    - [created, in_progress, {text: "Hel"}, {text: "lo"}, {completed: {usage: [10, 0, 5]}}]     # call 1
    - [{status: 503, json: {error: {message: overloaded, code: server_is_overloaded}}}]
    - [created, {tool: get_weather, id: call_1}, {args: {city: Paris}}, {wait: 1.5s}, reset]
    - [{answer: {text: "Hello", usage: {input: 10, cache_write: 2, output: 5}, tools: [{name: f, args: {a: 1}}]}}]
    - [{do: text, text: Hi}, {usage: [1, 0, 1]}, {usage: {input: 1}}, {item_done: 0}, {cut: 5, how: fin}, end]
    - [{fail: 429, retry_after: 2, headers: {a: 1}}]
    - - created
      - event: custom
        data: {b: 1, a: [x]}
      - end
  "GET /models": [[{status: 200, body: "[]"}]]
`))
	if err != nil {
		t.Fatal(err)
	}
	zero, list, custom := 0, "[]", `{"b":1,"a":["x"]}`
	want := map[string]Script{
		"up-a": Calls(
			[]Step{Created(), InProgress(), Text("Hel"), Text("lo"), Completed(Tokens(10, 0, 5))},
			[]Step{{Do: "reply", Status: 503, JSON: json.RawMessage(`{"error":{"message":"overloaded","code":"server_is_overloaded"}}`)}},
			[]Step{Created(), {Do: "tool", Name: "get_weather", ID: "call_1"}, Args(`{"city":"Paris"}`), Wait(1500 * time.Millisecond), Reset()},
			[]Step{{Do: "answer", Text: "Hello", Usage: &Usage{Input: 10, CacheWrite: 2, Output: 5},
				Tools: []ToolCall{{Name: "f", Args: `{"a":1}`}}}},
			[]Step{Text("Hi"), UsageChunk(Tokens(1, 0, 1)), UsageChunk(Tokens(1, 0, 0)), {Do: "item_done", Index: &zero}, CutAt(5, "fin"), End()},
			[]Step{{Do: "fail", Status: 429, RetryAfter: "2", Headers: map[string]string{"a": "1"}}},
			[]Step{Created(), {Do: "event", Name: "custom", Data: &custom}, End()},
		),
		"GET /models": Play(Step{Do: "reply", Status: 200, Body: &list}),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", ``, `the one key "models"`},
		{"other key", `{models: {}, x: 1}`, `the one key "models"`},
		{"other key and a wrong script", `{x: 1, models: {a: [[creatd, end]]}}`, "the one key \"models\"\nmodels.a: call 1: step 1: unknown word"},
		{"unknown word", `models: {a: [[creatd, end]]}`, `models.a: call 1: step 1: unknown word "creatd"`},
		{"unknown word in a map", `models: {a: [[{txet: x}, end]]}`, `unknown word "txet"`},
		{"unknown field", `models: {a: [[{text: x, colour: red}, end]]}`, `text: unknown field "colour"`},
		{"field of another word", `models: {a: [[{text: x, status: 200}, end]]}`, `text: takes no "status"`},
		{"value for a bare word", `models: {a: [[{reset: 1}]]}`, `reset: takes no value`},
		{"wrong type", `models: {a: [[{text: [1]}, end]]}`, `text: text: cannot be a array`},
		{"wrong duration", `models: {a: [[{wait: soon}, end]]}`, `"soon" is no duration`},
		{"wait without time", `models: {a: [[wait, end]]}`, `wait: needs "for"`},
		{"usage of two", `models: {a: [[{completed: [1, 2]}]]}`, `[input, cached, output]`},
		{"status", `models: {a: [[{status: 99}]]}`, `status 99 is none`},
		{"no end", `models: {a: [[created, {text: x}]]}`, `does not say how it ends`},
		{"part of an answer without end", `models: {a: [[{answer: {text: x, events: 2}}]]}`, `does not say how it ends`},
		{"after the end", `models: {a: [[end, created]]}`, `nothing comes after end`},
		{"second head", `models: {a: [[created, {status: 200}, end]]}`, `the head is already written`},
		{"event after a whole body", `models: {a: [[{json: {}}, created]]}`, `the body is already whole`},
		{"no steps", `models: {a: [[]]}`, `no steps`},
		{"no calls", `models: {a: []}`, `no calls`},
		{"steps without calls", `models: {a: [created]}`, `call 1: not a list of steps`},
		{"duplicate", "models:\n  a: [[end]]\n  a: [[end]]", `already defined`},
		{"duplicate field", `models: {a: [[{text: x, id: a, id: b}, end]]}`, `already defined`},
		{"two documents", "models: {}\n---\nmodels: {}", `more than one document`},
		{"duplicate in JSON", `{"models": {"a": [["end"]], "a": [["end"]]}}`, `already defined`},
		{"all at once", `models: {a: [[x1, end]], b: [[x2, end]]}`, `models.b: call 1: step 1: unknown word "x2"`},
		{"cut how", `models: {a: [[{cut: 1, how: loud}, end]]}`, `how is "loud"`},
		{"huge and small", `models: {a: [[{huge: 3}, end]]}`, `at least 512 bytes`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load([]byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), " | ") {
				t.Errorf("an excerpt of the file: %v", err)
			}
		})
	}
}

// What the control interface shows can be loaded again.
func TestScriptsMarshalIntoTheLanguage(t *testing.T) {
	for _, e := range Catalog() {
		text, err := json.Marshal(e.Script)
		if err != nil {
			t.Fatal(err)
		}
		if e.Unreachable {
			continue
		}
		got, err := LoadScript(text)
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		if !reflect.DeepEqual(e.Script, got) { // cmp takes seconds for the entries of megabytes
			t.Errorf("%s changed on its way through JSON", e.Name)
		}
	}
}

func TestScriptInsideAnotherFile(t *testing.T) {
	var scenario struct {
		Title    string
		Upstream map[string]Script
	}
	err := yaml.UnmarshalWithOptions([]byte("title: x\nupstream:\n  a:\n    - [created, {text: \"a: b\"}, reset]\n    - [{answer: Hi}]\n"), &scenario, yaml.Strict())
	if err != nil {
		t.Fatal(err)
	}
	want := Calls([]Step{Created(), Text("a: b"), Reset()}, []Step{Answer("Hi", nil)})
	if diff := cmp.Diff(want, scenario.Upstream["a"]); diff != "" {
		t.Error(diff)
	}
	if err := yaml.Unmarshal([]byte("upstream: {a: [[boom]]}"), &scenario); err == nil {
		t.Error("a wrong script inside another file is no error")
	}
}

func TestDocumentationNamesEveryWord(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/sim.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{"reply": true} // written by its fields
	for _, code := range regexp.MustCompile("`[^`\n]+`").FindAllString(string(doc), -1) {
		for _, w := range regexp.MustCompile(`\w+`).FindAllString(code, -1) {
			said[w] = true
		}
	}
	for name, w := range words {
		if !said[name] {
			t.Errorf("docs/sim.md does not explain %q", name)
		}
		for _, f := range append(w.fields, w.main) {
			if f != "" && !said[f] {
				t.Errorf("docs/sim.md does not explain the field %q of %s", f, name)
			}
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, row := range catalogRows {
		f.Add("models: {a: [" + row.steps + "]}")
	}
	f.Fuzz(func(t *testing.T, in string) {
		scripts, err := Load([]byte(in))
		if err != nil {
			return
		}
		for name, s := range scripts {
			if err := s.Check(); err != nil {
				t.Errorf("%q was loaded but does not pass: %v", name, err)
			}
		}
	})
}

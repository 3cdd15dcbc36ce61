package body_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/protocol/body"
)

var keys = []body.Key{
	{Name: "model", Type: body.String, Required: true},
	{Name: "stream", Type: body.Bool},
	{Name: "n", Type: body.Count},
	{Name: "tools", Type: body.Array},
	{Name: "system", Type: body.String | body.Array},
	{Name: "meta", Type: body.Object},
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, body, code, param string }{
		{"nothing", ``, "invalid_json", ""},
		{"no JSON", `{"model":"m"`, "invalid_json", ""},
		{"two documents", `{"model":"m"}{}`, "invalid_json", ""},
		{"no object", `["model"]`, "invalid_json", ""},
		{"string", `"model"`, "invalid_json", ""},
		{"no UTF-8", "{\"model\":\"m\",\"x\":\"\xff\"}", "invalid_json", ""},
		{"half a character", "{\"model\":\"m\",\"x\":\"\xc3\"}", "invalid_json", ""},
		{"a surrogate in UTF-8", "{\"model\":\"m\",\"x\":\"\xed\xa0\x80\"}", "invalid_json", ""},
		{"no JSON behind a wrong member", `{"model":1,`, "invalid_json", ""},
		{"missing", `{"stream":true}`, "invalid_request", "model"},
		{"required null", `{"model":null}`, "invalid_request", "model"},
		{"wrong type", `{"model":5}`, "invalid_request", "model"},
		{"string for bool", `{"model":"m","stream":"true"}`, "invalid_request", "stream"},
		{"number for bool", `{"model":"m","stream":1}`, "invalid_request", "stream"},
		{"twice", `{"model":"m","model":"m"}`, "invalid_request", "model"},
		{"twice, once null", `{"model":"m","stream":null,"stream":true}`, "invalid_request", "stream"},
		{"twice, once escaped", `{"model":"m","m\u006fdel":"x"}`, "invalid_request", "model"},
		{"other case", `{"Model":"m"}`, "invalid_request", "model"},
		{"both cases", `{"model":"m","MODEL":"x"}`, "invalid_request", "model"},
		{"folding beyond ASCII", `{"model":"m","` + "\u017ftream" + `":true}`, "invalid_request", "stream"},
		{"zero", `{"model":"m","n":0}`, "invalid_request", "n"},
		{"negative", `{"model":"m","n":-1}`, "invalid_request", "n"},
		{"fraction", `{"model":"m","n":1.5}`, "invalid_request", "n"},
		{"beyond int64", `{"model":"m","n":1e30}`, "invalid_request", "n"},
		{"number as text", `{"model":"m","n":"2"}`, "invalid_request", "n"},
		{"object for array", `{"model":"m","tools":{}}`, "invalid_request", "tools"},
		{"neither of two", `{"model":"m","system":{}}`, "invalid_request", "system"},
		{"array for object", `{"model":"m","meta":[]}`, "invalid_request", "meta"},
		{"the first problem counts", `{"n":0,"stream":1,"model":"m"}`, "invalid_request", "n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, bad := body.Read([]byte(c.body), keys)
			if bad == nil {
				t.Fatal("accepted")
			}
			if bad.Code != c.code || bad.Param != c.param || bad.Status != 400 {
				t.Errorf("got %d %s, param %q; want %s, param %q", bad.Status, bad.Code, bad.Param, c.code, c.param)
			}
		})
	}
}

func TestReadMessageSaysWhatIsWanted(t *testing.T) {
	_, bad := body.Read([]byte(`{"model":"m","system":1}`), keys)
	if bad == nil || !strings.Contains(bad.Message, "a string or an array") {
		t.Errorf("got %v", bad)
	}
}

// Each reason not to read a body has its own words.
func TestUnreadableSaysWhy(t *testing.T) {
	nested := func(n int) string {
		return `{"model":"m","x":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`
	}
	for _, c := range []struct{ body, message string }{
		{`{"model":"m"`, "The request body is not valid JSON."},
		{`[1]`, "The request body must be one JSON object."},
		{"{\"model\":\"\xff\"}", "The request body is not valid UTF-8."},
		{nested(1000), ""},
		{nested(1001), "The request body nests arrays and objects more than 1000 deep."},
		{strings.Replace(nested(1001), "]]", "]", 1), "The request body nests arrays and objects more than 1000 deep."},
		{strings.Repeat("[", 1001), "The request body nests arrays and objects more than 1000 deep."},
		{`{"a":` + strings.Repeat(`[{"a":`, 600), "The request body nests arrays and objects more than 1000 deep."},
		{`{"a":"` + strings.Repeat("[", 2000) + `",[`, "The request body is not valid JSON."},
		{strings.Repeat("[]", 2000), "The request body is not valid JSON."},
	} {
		message := ""
		if _, bad := body.Read([]byte(c.body), keys); bad != nil {
			message = bad.Message
		}
		if message != c.message {
			t.Errorf("%.60s: %q", c.body, message)
		}
	}
}

func TestReadGivesValues(t *testing.T) {
	m, bad := body.Read([]byte(` {"x":{"model":1},"model":"m\u00fc","stream":true,"n":1e1,"tools": [1, 2] ,"system":null,"models":1} `), keys)
	if bad != nil {
		t.Fatal(bad)
	}
	got := []any{m.Text("model"), m.True("stream"), m.Int("n"), string(m.Raw("tools")), m.Raw("system") == nil, m.Raw("meta") == nil}
	want := []any{"mü", true, int64(10), "[1, 2]", true, true}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNested(t *testing.T) {
	inner := []body.Key{{Name: "usage", Type: body.Bool}}
	if m, bad := body.Nested(nil, inner, "options"); bad != nil || m.True("usage") {
		t.Errorf("nothing nested: %v", bad)
	}
	_, bad := body.Nested([]byte(`{"usage":1}`), inner, "options")
	if bad == nil || bad.Param != "options.usage" {
		t.Errorf("got %v", bad)
	}
}

// What is accepted is read as any JSON reader would: it stays the last and only
// value, and no key could be taken for another.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"model":"m","n":2}`))
	f.Add([]byte(`{"model":"m","\u004dodel":"x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, bad := body.Read(b, keys)
		if bad != nil {
			return
		}
		var lax struct {
			Model  string
			Stream bool
			N      json.Number
		}
		if err := json.Unmarshal(b, &lax); err != nil {
			t.Fatalf("accepted %q: %v", b, err)
		}
		if lax.Model != m.Text("model") || lax.Stream != m.True("stream") {
			t.Errorf("%q is read as %q, %v here and as %q, %v by encoding/json", b, m.Text("model"), m.True("stream"), lax.Model, lax.Stream)
		}
	})
}

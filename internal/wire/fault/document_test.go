package fault_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/fault"
)

func TestDocuments(t *testing.T) {
	s := fault.NewSecrets([]string{"Key-abcdef-123456", "k1"}, []string{"https://llm.rack.site:8000/v1", "llm.rack.site:8000", "llm.rack.site", "vllm"})
	for _, tt := range []struct {
		name string
		at   *fault.Place
		doc  string
		want string // "" untouched
	}{
		{name: "flat, whatever the member", at: fault.InFailure,
			doc:  `{"type":"error", "message":"see https://a.example/x","param":"https://b.example","code":"e_vllm x vllm"}`,
			want: `{"type":"error", "message":"see …","param":"…","code":"e_vllm x …"}`},
		{name: "metadata", at: fault.InFailure,
			doc:  `{"error":{"metadata":{"raw":"upstream: https://llm.rack.site:8000/v1/x refused Bearer Key-abcdef-123456","n":1.50}}}`,
			want: `{"error":{"metadata":{"raw":"upstream: …/x refused Bearer …","n":1.50}}}`},
		{name: "however deep", at: fault.InFailure, doc: `{"a":[[{"b":[{"c":[[["at vllm"]]]}]}]]}`, want: `{"a":[[{"b":[{"c":[[["at …"]]]}]}]]}`},
		{name: "a member's name", at: fault.InFailure, doc: `{"error":{"hosts":{"LLM.Rack.Site":7,"b":{}}}}`, want: `{"error":{"hosts":{"…":7,"b":{}}}}`},
		{name: "escapes", at: fault.InFailure, doc: `{"message":"\u006clm.rack\u002esite and https:\/\/llm.rack.site:8000\/v1"}`, want: `{"message":"… and …"}`},
		{name: "a document in a string", at: fault.InFailure,
			doc:  `{"error":{"metadata":{"raw":"{\"at\":\"https:\\/\\/\\u006clm.rack.site\"}"}}}`,
			want: `{"error":{"metadata":{"raw":"{\"at\":\"…\"}"}}}`},
		{name: "in a URL", at: fault.InFailure, doc: `{"message":"/to?u=llm%2Erack%2Esite"}`, want: `{"message":"/to?u=…"}`},
		{name: "a key in a word", at: fault.InFailure, doc: `{"message":"xKEY-ABCDEF-123456y, k1, ok1"}`, want: `{"message":"x…y, …, ok1"}`},
		{name: "what the model wrote and the client sent", at: fault.InFailure,
			doc:  `{"response":{"id":"0123456789abcdef0123456789abcdef","output":[{"text":"https://a.example, llm.rack.site"}],"tools":[{"server_url":"https://a.example"}],"error":{"message":"https://a.example"}}}`,
			want: `{"response":{"id":"0123456789abcdef0123456789abcdef","output":[{"text":"https://a.example, …"}],"tools":[{"server_url":"https://a.example"}],"error":{"message":"…"}}}`},
		{name: "in a choice", at: fault.InFailure,
			doc:  `{"choices":[{"message":{"content":"https://a.example"},"error":{"message":"https://a.example"}},7]}`,
			want: `{"choices":[{"message":{"content":"https://a.example"},"error":{"message":"…"}},7]}`},
		{name: "choices that are none", at: fault.InFailure, doc: `{"choices":{"x":"https://a.example"}}`},
		{name: "an answer", at: fault.InAnswer, doc: `{"output":[{"message":"https://a.example"}],"error":{"message":"https://a.example"}}`,
			want: `{"output":[{"message":"https://a.example"}],"error":{"message":"…"}}`},
		{name: "why it is incomplete", at: fault.InIncomplete,
			doc:  `{"response":{"output":[{"text":"vllm"}],"metadata":{"vllm":"https://a.example"},"incomplete_details":{"reason":"vllm"}}}`,
			want: `{"response":{"output":[{"text":"vllm"}],"metadata":{"vllm":"https://a.example"},"incomplete_details":{"reason":"…"}}}`},
		{name: "an answer that is incomplete", at: fault.InIncomplete, doc: `{"incomplete_details":{"reason":"vllm"},"user":"vllm"}`, want: `{"incomplete_details":{"reason":"…"},"user":"vllm"}`},
		{name: "a value that is repeated", at: fault.InEcho, doc: `{"x":"vllm https://a.example"}`, want: `{"x":"… https://a.example"}`},
		{name: "a text", at: fault.InFailure, doc: ` "lost vllm" `, want: ` "lost …" `},
		{name: "a list", at: fault.InFailure, doc: `["a",{"msg":"vllm"},null,true,-1e3]`, want: `["a",{"msg":"…"},null,true,-1e3]`},
		{name: "repeated members", at: fault.InFailure, doc: `{"message":"fine","message":"vllm"}`, want: `{"message":"fine","message":"…"}`},
		{name: "no JSON", at: fault.InFailure, doc: `lost vllm`, want: `lost …`},
		{name: "nothing to take out", at: fault.InFailure, doc: `{"error":{"message":"f\u0069ne \/ 100%25 &amp; \ud83d\ude00","code":null},"items":[],"x":{}}`},
		{name: "not UTF-8, and nothing to take out", at: fault.InFailure, doc: "{\"message\":\"\xff\"}"},
	} {
		if got := string(s.JSON([]byte(tt.doc), tt.at)); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestSecrets(t *testing.T) {
	for _, c := range []struct {
		text        string
		keys, names []string
		want        string
	}{
		{"host vllm:8000 said no", nil, []string{"vllm:8000", ""}, "host … said no"},
		{"upstream_error: the upstream, UPSTREAM:80 and upstreams", nil, []string{"upstream"}, "upstream_error: the …, …:80 and upstreams"},
		{"key correct-horse-battery in correct-horse-battery-staple", []string{"correct-horse-battery"}, nil, "key … in …-staple"},
		{"xcorrect-horse-batteryx", []string{"correct-horse-battery"}, nil, "x…x"},
		{"key k1, k12, ok1, (k1)", []string{"k1"}, nil, "key …, k12, ok1, (…)"},
		{"nothing", []string{"k1"}, nil, "nothing"},
		{"kkk kk k", []string{"k"}, nil, "kkk kk …"},
		{"a%2fb%2Fc, a&#47;b&#x2f;c, a\\u002fb\\\\u002Fc", []string{"a/b/c-long"}, nil, "a%2fb%2Fc, a&#47;b&#x2f;c, a\\u002fb\\\\u002Fc"},
		{"a%2fb%2Fc-long", []string{"a/b/c-long"}, nil, "…"},
		{"a&#47;b&#x2f;c-long", []string{"a/b/c-long"}, nil, "…"},
		{`a\x2fb\\\\u002Fc-long`, []string{"a/b/c-long"}, nil, "…"},
		{`a\u00zz%zz\x\`, []string{"a/b/c-long"}, nil, `a\u00zz%zz\x\`},
	} {
		if diff := cmp.Diff(c.want, fault.NewSecrets(c.keys, c.names).Scrub(c.text)); diff != "" {
			t.Errorf("%s\n%s", c.text, diff)
		}
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	s := fault.NewSecrets([]string{"secret-key"}, []string{"a.rack.site"})
	if got := fmt.Sprintf("%v %+v %#v %s %x", s, s, s, s, s); got != "… … … … …" {
		t.Error(got)
	}
}

// Every word of a provider's in a failure is scrubbed; ours stay.
func TestClean(t *testing.T) {
	s := fault.NewSecrets([]string{"secret-key"}, nil)
	for upstream, want := range map[bool]string{true: "…", false: "secret-key"} {
		e := &fault.Error{Code: "secret-key", Type: "secret-key", Param: "secret-key", Message: "secret-key", Upstream: upstream}
		s.Clean(e)
		if e.Code != want || e.Type != want || e.Param != want || e.Message != want {
			t.Errorf("upstream's %v: %+v", upstream, e)
		}
	}
}

// failureTree makes a document that tells a failure, with what must not be shown
// planted at random, in random escapes, and the same one without it.
type failureTree struct {
	r       *rand.Rand
	planted int
	secrets []string
}

func (f *failureTree) value(depth int) (with, without string) {
	switch kind := f.r.IntN(8); {
	case kind < 2 && depth > 0:
		return f.object(depth - 1)
	case kind == 2 && depth > 0:
		var a, b []string
		for range f.r.IntN(4) {
			x, y := f.value(depth - 1)
			a, b = append(a, x), append(b, y)
		}
		return "[" + strings.Join(a, ", ") + "]", "[" + strings.Join(b, ", ") + "]"
	case kind == 3:
		n := [...]string{"1", "-0.50", "1E+2", "true", "null", "502"}[f.r.IntN(6)]
		return n, n
	}
	return f.text()
}

func (f *failureTree) object(depth int) (with, without string) {
	var a, b []string
	for range 1 + f.r.IntN(4) {
		names := [...]string{"message", "code", "error", "metadata", "details", "response", "output", "choices", "raw", "x"}
		name := `"` + names[f.r.IntN(len(names))] + `"`
		clean := name
		if f.r.IntN(12) == 0 {
			name, clean = f.text()
		}
		x, y := f.value(depth)
		a, b = append(a, name+" :\t"+x), append(b, clean+" :\t"+y)
	}
	return "{" + strings.Join(a, ",\n") + " }", "{" + strings.Join(b, ",\n") + " }"
}

// text is a string that holds a secret between words, or none.
func (f *failureTree) text() (with, without string) {
	before, after := f.word(), f.word()
	if f.r.IntN(3) > 0 {
		return `"` + before + after + `"`, `"` + before + after + `"`
	}
	f.planted++
	secret := f.secrets[f.r.IntN(len(f.secrets))]
	var hidden strings.Builder
	for _, c := range secret {
		switch f.r.IntN(6) {
		case 0:
			fmt.Fprintf(&hidden, `\u%04x`, c)
		case 1:
			fmt.Fprintf(&hidden, `\u%04X`, c)
		case 2:
			hidden.WriteString(strings.ToUpper(string(c)))
		default:
			if c == '/' {
				hidden.WriteByte('\\')
			}
			hidden.WriteRune(c)
		}
	}
	plain := func(s string) string { // what is rewritten loses the escapes that it does not need
		var text string
		_ = json.Unmarshal([]byte(`"`+s+`"`), &text)
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(text)
		return strings.Trim(strings.TrimSpace(b.String()), `"`)
	}
	return `"` + before + hidden.String() + after + `"`, `"` + plain(before) + fault.Elided + plain(after) + `"`
}

func (f *failureTree) word() string {
	words := [...]string{"", " ", "refused ", " by ", `\u00e9t\u00E9 `, `\/ `, ", ", "(", ") ", "über ", `\n`, " 😀 "}
	return words[f.r.IntN(len(words))]
}

// FuzzDocument: what is known of the route never passes, the document stays one,
// and everything else in it stays as it was, byte for byte.
func FuzzDocument(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		host, key := "h"+fmt.Sprint(1000+r.IntN(9000))+".rack.site", "Kq"+fmt.Sprint(1e8+r.IntN(1e8))+"+/="
		tree := failureTree{r: r, secrets: []string{host, key, "https://" + host + "/v1"}}
		doc, want := tree.object(5)
		s := fault.NewSecrets([]string{key}, []string{"https://" + host + "/v1", host})
		got := s.JSON([]byte(doc), fault.InFailure)
		if tree.planted == 0 {
			want = ""
		}
		if string(got) != want {
			t.Fatalf("%s\nbecame\n%s\nnot\n%s", doc, got, want)
		}
		if got != nil && !json.Valid(got) {
			t.Fatalf("no JSON any more: %s", got)
		}
	})
}

// FuzzSecretsPass: whatever bytes a failure is made of, nothing that is known of
// the route can be read in what is left of it.
func FuzzSecretsPass(f *testing.F) {
	for _, doc := range []string{`{"error":{"message":"%s"}}`, `["%s"]`, `{"%s":1}`, `{"error":"{\"a\":\"%s\"}"}`, `{"choices":[{"x":"%s"}]}`, `not %s json`} {
		f.Add(fmt.Sprintf(doc, "\\u0067pu-7.rack.site"))
		f.Add(fmt.Sprintf(doc, "Secret+Key/0815"))
		f.Add(fmt.Sprintf(doc, "Secret+Key\\/0815"))
	}
	s := fault.NewSecrets([]string{"Secret+Key/0815"}, []string{"gpu-7.rack.site"})
	f.Fuzz(func(t *testing.T, doc string) {
		got := s.JSON([]byte(doc), fault.InFailure)
		if got == nil {
			got = []byte(doc)
		}
		if json.Valid([]byte(doc)) != json.Valid(got) {
			t.Fatalf("%s became %s", doc, got)
		}
		var v any
		if json.Unmarshal(got, &v) != nil {
			v = string(got)
		}
		if shows(s, v) {
			t.Fatalf("%s became %s", doc, got)
		}
	})
}

// shows reports whether a string or a name in a value shows a secret.
func shows(s fault.Secrets, v any) bool {
	switch v := v.(type) {
	case string:
		return s.In(v)
	case []any:
		for _, e := range v {
			if shows(s, e) {
				return true
			}
		}
	case map[string]any:
		for name, e := range v {
			if s.In(name) || shows(s, e) {
				return true
			}
		}
	}
	return false
}

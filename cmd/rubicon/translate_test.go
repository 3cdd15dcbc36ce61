package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func translateOf(t *testing.T, body string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	sh := &shell{in: strings.NewReader(body), out: &out, err: &errs, env: func(string) (string, bool) { return "", false }}
	code := run(t.Context(), sh, append([]string{"translate"}, args...))
	return outcome{code, out.String(), errs.String()}
}

const messagesBody = `{"model":"claude-x","max_tokens":100,"system":"Be brief","top_k":5,"messages":[{"role":"user","content":"Hi"}]}`

func TestTranslate(t *testing.T) {
	got := translateOf(t, messagesBody, "--from", "messages", "--to", "chat", "--model", "up")
	var body struct {
		Model    string
		Messages []struct{ Role, Content string }
		Limit    int `json:"max_completion_tokens"`
	}
	if err := json.Unmarshal([]byte(got.out), &body); err != nil || got.code != exitOK {
		t.Fatalf("%+v: %v", got, err)
	}
	if body.Model != "up" || body.Limit != 100 || len(body.Messages) != 2 || body.Messages[0].Content != "Be brief" || body.Messages[1].Content != "Hi" {
		t.Errorf("%s", got.out)
	}
	if !strings.HasPrefix(got.err, "dropped top_k 5: ") {
		t.Errorf("notes: %q", got.err)
	}
}

func TestTranslateJSON(t *testing.T) {
	got := translateOf(t, messagesBody, "--from", "messages", "--to", "chat", "--json")
	var all translated
	if err := json.Unmarshal([]byte(got.out), &all); err != nil {
		t.Fatal(err)
	}
	if all.Header != "messages>chat; dropped=top_k:5" || len(all.Notes) != 1 || all.Body == nil || got.err != "" {
		t.Errorf("%+v, stderr %q", all, got.err)
	}
}

func TestTranslateToItself(t *testing.T) {
	got := translateOf(t, messagesBody+"\n", "--from", "messages", "--to", "messages")
	if diff := cmp.Diff(messagesBody+"\n", got.out); diff != "" || got.code != exitOK {
		t.Error(diff)
	}
}

func TestTranslateRefuses(t *testing.T) {
	for _, c := range []struct{ name, body, from, to, out, want string }{
		{"no place", `{"model":"m","messages":[{"role":"user","content":"Hi"}],"n":2,"logit_bias":{"1":2}}`, "chat", "messages", "excluded n: ", "2 of its features"},
		{"no JSON", `{"model"`, "chat", "messages", "", "no valid JSON"},
		{"no request", `[]`, "chat", "messages", "", "reading the chat request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := translateOf(t, c.body, "--from", c.from, "--to", c.to)
			got.oneLine(t, exitFailed, c.want)
			if !strings.HasPrefix(got.out, c.out) || c.out == "" && got.out != "" {
				t.Errorf("stdout %q", got.out)
			}
		})
	}
	translateOf(t, "{}", "--from", "gemini", "--to", "chat").oneLine(t, exitUsage, "from")
}

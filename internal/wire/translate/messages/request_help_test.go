package messages

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rubicon/internal/wire/translate"
)

// able are the flags of a model that can everything.
func able() translate.Flags {
	f := translate.Defaults(translate.Messages)
	f.MidSystem, f.Prefill = true, true
	return f
}

func mustDecode(t testing.TB, body string) *translate.Request {
	t.Helper()
	r, err := decodeRequest([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

// from is a request that a client of another format sent.
func from(turns ...translate.Turn) *translate.Request {
	return &translate.Request{From: translate.Chat, Model: "m", Turns: turns, MaxOutput: translate.Number{Value: 8000, Path: "max_completion_tokens"}}
}

func user(blocks ...translate.Block) translate.Turn {
	return translate.Turn{Role: translate.User, Blocks: blocks, Path: "messages[0]"}
}

func reply(blocks ...translate.Block) translate.Turn {
	return translate.Turn{Role: translate.Assistant, Blocks: blocks, Path: "messages[1]"}
}

func text(s string) translate.Block {
	return translate.Block{Kind: translate.Text, Text: s, Path: "text"}
}

func call(id string) translate.Block {
	return translate.Block{Kind: translate.Call, ID: id, Name: "f", Input: "{}", Path: "call"}
}

func result(id string, inner ...translate.Block) translate.Block {
	return translate.Block{Kind: translate.Result, ID: id, Inner: inner, Path: "result"}
}

func function(name string) translate.Tool {
	return translate.Tool{Name: name, Path: "tools[0]"}
}

// notes shows a report: what became of what, exclusions last.
func notes(rep translate.Report) string {
	var all []string
	for _, n := range rep.Notes {
		all = append(all, string(n.Verb)+" "+string(n.Feature))
		if n.Why == "" || n.Class == "" {
			all = append(all, "WITHOUT A REASON OR A CLASS")
		}
	}
	slices.Sort(all)
	for _, x := range rep.Excluded {
		all = append(all, "excluded "+string(x.Feature))
		if x.Why == "" || x.Do == "" {
			all = append(all, "WITHOUT A REASON OR ADVICE")
		}
	}
	return strings.Join(all, "; ")
}

// check encodes a request and compares one member of the body, or all of it, and
// the report.
func check(t *testing.T, name string, r *translate.Request, f translate.Flags, member, want, told string) {
	t.Helper()
	body, rep := encodeRequest(r, "up", f)
	again, _ := encodeRequest(r, "up", f)
	if !bytes.Equal(body, again) {
		t.Errorf("%s: other bytes the second time: %s and %s", name, body, again)
	}
	if got := notes(rep); got != told {
		t.Errorf("%s: told %q, want %q", name, got, told)
	}
	if len(rep.Excluded) > 0 {
		if body != nil || want != "" {
			t.Errorf("%s: excluded, and a body %s", name, body)
		}
		return
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatalf("%s: %v: %s", name, err, body)
	}
	if got := string(all[member]); got != want {
		t.Errorf("%s: %s is\n%s, want\n%s", name, member, got, want)
	}
}

package messages_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/money/price"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/messages"
)

func TestAnswer(t *testing.T) {
	seen, err := messages.Answer([]byte(`
		{"id":"msg_1","type":"message","role":"assistant","model":"m-1","container":{"id":"container_1"},"stop_reason":"max_tokens","content":[
		{"type":"thinking","thinking":"ab","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"cde"},
		{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":1}},{"type":"server_tool_use","name":"web_search","input":{}}],
		"usage":{"input_tokens":10,"cache_read_input_tokens":2,"cache_creation_input_tokens":3,"output_tokens":7,"service_tier":"batch","server_tool_use":{"web_search_requests":1}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &protocol.Observed{
		Events: 1, OutputEvents: 1, Sequence: -1, ResponseID: "msg_1", Model: "m-1", Tier: "batch", Content: true, TextBytes: 2 + 3 + 7,
		Usage: price.Usage{Input: 10, CachedInput: 2, CacheWrite: 3, Output: 7}, Reported: true, ShowsExecution: true,
		Hosted: map[string]int64{"web_search": 1}, Ran: true,
		State: []protocol.StateID{
			{Kind: protocol.KindContainer, ID: "container_1"},
			{Kind: protocol.KindSealed, ID: protocol.Seal("s")},
			{Kind: protocol.KindSealed, ID: protocol.Seal("d")},
		},
	}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
}

func TestAnswerShapes(t *testing.T) {
	for body, ok := range map[string]bool{
		`{"type":"message","content":[]}`:                         true,
		`{"type":"message","content":[{"type":"text"}, null, 7]}`: true,
		``:                                   false,
		`{}`:                                 false,
		`<html>`:                             false,
		`[]`:                                 false,
		`{"type":"message"}`:                 false,
		`{"type":"message","content":"x"}`:   false,
		`{"type":"message","content":[]`:     false,
		`{"type":"completion","content":[]}`: false,
		overload:                             false,
		typed(start):                         false,
	} {
		seen, err := messages.Answer([]byte(body))
		if (err == nil) != ok || err != nil && err != protocol.ErrNotProtocol {
			t.Errorf("%s: got %+v, %v", body, seen, err)
		}
		if ok && seen.Reported {
			t.Errorf("%s: reported", body)
		}
	}
}

func TestCountTokensAnswer(t *testing.T) {
	p := messages.CountTokens()
	seen, err := p.Answer([]byte(` {"input_tokens":14} `))
	if err != nil || !cmp.Equal(seen.Usage, price.Usage{Input: 14}) || !seen.Reported {
		t.Errorf("got %+v, %v", seen, err)
	}
	for _, body := range []string{``, `{}`, `{"input_tokens":"many"}`, `{"input_tokens":true}`, `{"input_tokens":-1}`, `{"input_tokens":14`, `{"input_tokens":14}x`, overload, `14`} {
		if _, err := p.Answer([]byte(body)); err != protocol.ErrNotProtocol {
			t.Errorf("%s: %v", body, err)
		}
	}
}

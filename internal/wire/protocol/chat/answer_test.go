package chat_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/money/price"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/chat"
)

func TestAnswer(t *testing.T) {
	seen, err := chat.Answer([]byte(` {"id":"chatcmpl-1","object":"chat.completion","model":"m-1","service_tier":"default","choices":[
		{"index":0,"message":{"role":"assistant","content":"abc","audio":{"id":"audio_1","transcript":"de"}},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4}}} `))
	if err != nil {
		t.Fatal(err)
	}
	want := &protocol.Observed{
		Events: 1, OutputEvents: 1, Sequence: -1, ResponseID: "chatcmpl-1", Model: "m-1", Tier: "default", Content: true, TextBytes: 5,
		Usage: price.Usage{Input: 6, CachedInput: 4, Output: 5}, Reported: true, ShowsExecution: true,
		State: []protocol.StateID{{Kind: protocol.KindAudio, ID: "audio_1"}},
	}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
}

func TestAnswerShapes(t *testing.T) {
	for _, c := range []struct {
		name, body   string
		ok, failed   bool
		result, used bool
	}{
		{name: "least", body: `{"choices":[{"message":{}}]}`, ok: true},
		{name: "no usage", body: `{"choices":[{"message":{"content":"x"},"finish_reason":"length"}]}`, ok: true},
		{name: "old completions", body: `{"choices":[{"text":"x"}]}`, ok: true},
		{name: "null error", body: `{"error":null,"choices":[{"message":{"content":"x"}}]}`, ok: true},
		{name: "failed without words", body: `{"choices":[{"message":{"content":""},"finish_reason":"error"}]}`, ok: true, failed: true},
		{name: "failed in the choice", body: `{"choices":[{"message":{"content":"x"},"error":{"code":502,"message":"m"},"finish_reason":"error"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, ok: true, failed: true, result: true, used: true},
		{name: "failed beside", body: `{"choices":[{"message":{}}],"error":{"message":"m"}}`, ok: true, failed: true},
		{name: "nothing", body: ``},
		{name: "HTML", body: `<html>`},
		{name: "empty object", body: `{}`},
		{name: "error", body: `{"error":{"message":"m"}}`},
		{name: "error with no choices", body: `{"error":{"message":"m"},"choices":[]}`},
		{name: "no choices", body: `{"choices":[],"usage":{"prompt_tokens":1}}`},
		{name: "choices null", body: `{"choices":null}`},
		{name: "choices an object", body: `{"choices":{"a":1}}`},
		{name: "empty choice", body: `{"choices":[{}]}`},
		{name: "one choice is nothing", body: `{"choices":[{"message":{}},{}]}`},
		{name: "a choice that is null", body: `{"choices":[null]}`},
		{name: "list", body: `[{"choices":[{"message":{}}]}]`},
		{name: "cut", body: `{"choices":[{"message":{"content":"x"}}]`},
		{name: "a stream", body: "data: {\"choices\":[]}\n\n"},
		{name: "Responses", body: `{"object":"response","output":[]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen, err := chat.Answer([]byte(c.body))
			if (err == nil) != c.ok {
				t.Fatalf("got %+v, %v", seen, err)
			}
			if err != nil {
				if err != protocol.ErrNotProtocol {
					t.Error(err)
				}
				return
			}
			if (seen.Failure != nil) != c.failed || seen.Result != c.result || seen.Reported != c.used {
				t.Errorf("got %+v", seen)
			}
		})
	}
}

func TestEmbeddingsAnswer(t *testing.T) {
	seen, err := chat.AnswerEmbeddings([]byte(`{"object":"list","data":[{"embedding":[0.1]}],"model":"e","usage":{"prompt_tokens":8,"total_tokens":8}}`))
	if err != nil || !cmp.Equal(seen.Usage, price.Usage{Input: 8}) || !seen.Reported || seen.Model != "e" {
		t.Errorf("got %+v, %v", seen, err)
	}
	seen, err = chat.AnswerEmbeddings([]byte(`{"data":[{"embedding":"AAAA"}]}`))
	if err != nil || seen.Reported {
		t.Errorf("without usage: %+v, %v", seen, err)
	}
	for _, body := range []string{``, `{}`, `{"data":[]}`, `{"data":{}}`, `{"error":{"message":"m"}}`, `{"error":"x","data":[1]}`, `{"data":[1]`, `[]`} {
		if seen, err := chat.AnswerEmbeddings([]byte(body)); err != protocol.ErrNotProtocol {
			t.Errorf("%s: got %+v, %v", body, seen, err)
		}
	}
}

package chat_test

import (
	"testing"

	"rubicon/internal/wire/protocol"
)

// TestContent: what a customer pays for when nothing follows.
func TestContent(t *testing.T) {
	const named = `{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]}`
	ended := choice(`"delta":{},"finish_reason":"tool_calls"`)
	for _, c := range []struct {
		name   string
		chunks []string
		want   bool
	}{
		{"a role", []string{role}, false},
		{"text", []string{hello}, true},
		{"reasoning", []string{delta(`{"reasoning_content":"x"}`)}, true},
		{"a refusal", []string{delta(`{"refusal":"x"}`)}, true},
		{"a call begins", []string{delta(named)}, false},
		{"a call with an argument", []string{delta(named), delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}`)}, true},
		{"a finished call without any", []string{delta(named), ended}, true},
		{"an end of nothing", []string{role, stop}, false},
		{"audio", []string{delta(`{"audio":{"id":"audio_1","data":"aGk="}}`)}, true},
		{"audio to come", []string{delta(`{"audio":{"id":"audio_1","data":"","expires_at":1}}`)}, false},
		{"an image", []string{delta(`{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}`)}, true},
		{"no image", []string{delta(`{"images":[{"type":"image_url","index":0,"image_url":{"url":""}}]}`)}, false},
		{"content in parts", []string{delta(`{"content":[{"type":"image","data":"aGk="}]}`)}, true},
		{"an empty part", []string{delta(`{"content":[{"type":"text","text":""}]}`)}, false},
		{"a vendor's field", []string{delta(`{"vendor":"x"}`)}, false},
		{"logprobs", []string{choice(`"delta":{},"logprobs":{"content":[{"token":"x"}]}`)}, true},
	} {
		if _, seen := run(protocol.ReaderOptions{}, c.chunks...); seen.Content != c.want {
			t.Errorf("%s: content %v", c.name, seen.Content)
		}
	}
}

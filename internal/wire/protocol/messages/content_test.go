package messages_test

import "testing"

// TestContent: what a customer pays for when nothing follows.
func TestContent(t *testing.T) {
	const ended = `{"type":"content_block_stop","index":0}`
	tool := block(`{"type":"tool_use","id":"toolu_1","name":"f","input":{}}`)
	thinking := block(`{"type":"thinking","thinking":"","signature":""}`)
	for _, c := range []struct {
		name   string
		events []string
		want   bool
	}{
		{"the opening", []string{start}, false},
		{"an empty text", []string{block(`{"type":"text","text":""}`), delta(`{"type":"text_delta","text":""}`), ended}, false},
		{"text at once", []string{block(`{"type":"text","text":"x"}`)}, true},
		{"text", []string{delta(`{"type":"text_delta","text":"x"}`)}, true},
		{"thinking", []string{thinking, delta(`{"type":"thinking_delta","thinking":"x"}`)}, true},
		{"an argument", []string{tool, delta(`{"type":"input_json_delta","partial_json":"{"}`)}, true},
		{"a call begins", []string{tool}, false},
		{"a call begins, with an empty argument", []string{tool, delta(`{"type":"input_json_delta","partial_json":""}`)}, false},
		{"a finished call without any", []string{tool, ended}, true},
		{"sealed thinking, not finished", []string{thinking, delta(`{"type":"signature_delta","signature":"s"}`)}, false},
		{"finished sealed thinking", []string{thinking, delta(`{"type":"signature_delta","signature":"s"}`), ended}, true},
		{"finished redacted thinking", []string{block(`{"type":"redacted_thinking","data":"x"}`), ended}, true},
		{"the closing numbers", []string{start, closing}, false},
	} {
		var wire []string
		for _, e := range c.events {
			wire = append(wire, typed(e))
		}
		if _, r := run(wire...); r.Seen().Content != c.want {
			t.Errorf("%s: content %v", c.name, r.Seen().Content)
		}
	}
}

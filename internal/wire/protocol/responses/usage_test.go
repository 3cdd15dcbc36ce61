package responses

import (
	"fmt"
	"strings"
	"testing"

	"rubicon/internal/money/price"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

func TestUsage(t *testing.T) {
	const huge = 1 << 40
	for _, c := range []struct {
		raw  string
		want price.Usage
		ok   bool
	}{
		{`{"input_tokens":10,"output_tokens":5,"total_tokens":15}`, price.Usage{Input: 10, Output: 5}, true},
		{`{"input_tokens":10,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"output_tokens":5}`,
			price.Usage{Input: 3, CachedInput: 4, CacheWrite: 3, Output: 5}, true},
		{`{"input_tokens_details":{"cache_write_tokens":3,"cached_tokens":4},"input_tokens":5,"output_tokens":1}`,
			price.Usage{Input: -2, CachedInput: 4, CacheWrite: 3, Output: 1}, true},
		{`{"input_tokens":1,"input_tokens_details":null,"output_tokens":null}`, price.Usage{Input: 1}, true},
		{`{"input_tokens":0,"output_tokens":0}`, price.Usage{}, true},
		{`{"input_tokens":10.0,"output_tokens":"5"}`, price.Usage{Input: 10, Output: 5}, true},
		{`{"input_tokens":1e1,"output_tokens":0.5}`, price.Usage{Input: 10, Output: -1}, true},
		{`{"input_tokens":-3,"output_tokens":-5}`, price.Usage{Input: -3, Output: -5}, true},
		{`{"input_tokens":9007199254740993,"output_tokens":3000000000}`, price.Usage{Input: huge, Output: 3000000000}, true},
		{`{"output_tokens":5}`, price.Usage{Output: 5}, true},
		{`{"input_tokens":"many","output_tokens":[]}`, price.Usage{Input: -1, Output: -1}, true},
		{`{"input_tokens":true,"output_tokens":false}`, price.Usage{Input: -1, Output: -1}, true},
		{`{"input_tokens":" 10 ","output_tokens":"-5"}`, price.Usage{Input: 10, Output: -5}, true},
		{`{"input_tokens":1,"output_tokens":1,"input_tokens_details":{"cached_tokens":true}}`, price.Usage{Input: 2, CachedInput: -1, Output: 1}, true},
		{`{}`, price.Usage{}, false},
		{`{"total_tokens":5}`, price.Usage{}, false},
		{`null`, price.Usage{}, false},
		{`7`, price.Usage{}, false},
	} {
		u, ok := readUsage([]byte(c.raw))
		if ok != c.ok || u.Input != c.want.Input || u.CachedInput != c.want.CachedInput || u.CacheWrite != c.want.CacheWrite || u.Output != c.want.Output {
			t.Errorf("%s: %+v, %v", c.raw, u, ok)
		}
	}
}

// TestUsageAsSign is docs/contract.md#s3-row-17: which usage is a sign that the request executed.
func TestUsageAsSign(t *testing.T) {
	const full = `"usage":{"input_tokens":3,"output_tokens":2}`
	for _, c := range []struct {
		name                        string
		events                      []string
		executed, reported, opening bool
	}{
		{"null in lifecycle", []string{`{"type":"response.created","response":{"usage":null}}`}, false, false, false},
		{"in lifecycle", []string{`{"type":"response.created","response":{` + full + `}}`}, false, false, true},
		{"zeros in lifecycle", []string{`{"type":"response.in_progress","response":{"usage":{"input_tokens":0,"output_tokens":0}}}`}, false, false, false},
		{"in an output event", []string{`{"type":"vendor.x",` + full + `}`}, true, false, false},
		{"in an output event's response", []string{`{"type":"vendor.x","response":{` + full + `}}`}, true, false, false},
		{"null in an output event", []string{`{"type":"vendor.x","usage":null,"response":{"usage":null}}`}, false, false, false},
		{"in a heartbeat", []string{`{"type":"ping",` + full + `}`}, false, false, false},
		{"in failed", []string{`{"type":"response.failed","response":{` + full + `}}`}, true, true, false},
		{"zeros in failed", []string{`{"type":"response.failed","response":{"usage":{"input_tokens":0,"output_tokens":0}}}`}, true, true, false},
		{"empty in failed", []string{`{"type":"response.failed","response":{"usage":{}}}`}, true, false, false},
		{"null in failed", []string{`{"type":"response.failed","response":{"usage":null}}`}, false, false, false},
		{"in error", []string{`{"type":"error","code":"x",` + full + `}`}, true, true, false},
		{"inside error", []string{`{"type":"error","error":{` + full + `}}`}, true, true, false},
		{"in error, then null", []string{`{"type":"error",` + full + `}`, `{"type":"response.failed","response":{"usage":null}}`}, true, true, false},
		{"output in failed", []string{`{"type":"response.failed","response":{"output":[{}]}}`}, true, false, false},
		{"no output in failed", []string{`{"type":"response.failed","response":{"output":[]}}`}, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(protocol.ReaderOptions{})
			for _, e := range c.events {
				if _, err := r.Read(frame("", e)); err != nil {
					t.Fatal(err)
				}
			}
			s := r.Seen()
			if s.ShowsExecution != c.executed || s.Reported != c.reported || s.OpeningUsage != c.opening {
				t.Errorf("executed %v, reported %v, opening %v", s.ShowsExecution, s.Reported, s.OpeningUsage)
			}
			if s.OpeningUsage && (s.Usage.Input != 3 || s.Usage.Output != 0) {
				t.Errorf("usage at the opening: %+v", s.Usage)
			}
		})
	}
}

func TestTextCountsOnce(t *testing.T) {
	const whole = `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"abc"}]}}`
	const loose = `{"type":"response.output_item.done","item":{"type":"function_call","arguments":"abc"}}`
	const ended = `{"type":"response.completed","response":{"output":[{"type":"message","content":[{"text":"abcd"}]}]}}`
	delta := func(typ, rest string) string { return `{"type":"` + typ + `","delta":"abc"` + rest + `}` }
	for _, c := range []struct {
		name   string
		events []string
		want   int64
	}{
		{"deltas of all kinds", []string{
			delta("response.output_text.delta", ""), delta("response.refusal.delta", ""), delta("response.reasoning_text.delta", ""),
			delta("response.reasoning_summary_text.delta", ""), delta("response.function_call_arguments.delta", ""),
			delta("response.custom_tool_call_input.delta", ""), delta("response.mcp_call_arguments.delta", ""),
			delta("response.code_interpreter_call_code.delta", ""), delta("response.audio.transcript.delta", ""), delta("vendor.x.delta", "")}, 30},
		{"what is no text", []string{delta("response.audio.delta", ""), delta("vendor.x", ""), delta("keepalive", ""),
			delta("response.shell_call_output_content.delta", ""), `{"type":"response.output_text.delta","delta":{"a":"b"}}`}, 0},
		{"decoded length", []string{`{"type":"response.output_text.delta","delta":"\u00e9\n\ud83d\ude00é"}`}, 2 + 1 + 4 + 2},
		{"delta, done and end", []string{delta("response.output_text.delta", `,"output_index":0`), whole, ended}, 3},
		{"done and end", []string{whole, whole, ended}, 3},
		{"end alone", []string{ended}, 4},
		{"delta of another item", []string{delta("response.output_text.delta", `,"output_index":1`), whole, ended}, 6},
		{"delta without a place", []string{delta("response.output_text.delta", ""), whole}, 3},
		{"done without a place", []string{loose, loose, whole}, 3},
		{"reasoning, tools and actions", []string{
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","summary":[{"text":"ab"}],"content":[{"text":"cd"}]}}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"custom_tool_call","input":"é"}}`,
			`{"type":"response.output_item.done","output_index":2,"item":{"type":"local_shell_call","action":{"command":["ls"]}}}`,
			`{"type":"response.output_item.done","output_index":3,"item":{"type":"web_search_call","action":{"query":"ls"}}}`}, 4 + 2 + 18},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(protocol.ReaderOptions{})
			for _, e := range c.events {
				if _, err := r.Read(frame("", e)); err != nil {
					t.Fatal(err)
				}
			}
			if got := r.Seen().TextBytes; got != c.want {
				t.Errorf("%d bytes of text, want %d", got, c.want)
			}
		})
	}
}

func TestUsageBesideTheResponse(t *testing.T) {
	const beside = "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"object\":\"response\"%s},\"usage\":{\"input_tokens\":10,\"output_tokens\":5}}\n\n"
	for own, want := range map[string]price.Usage{
		"":              {Input: 10, Output: 5},
		`,"usage":null`: {Input: 10, Output: 5},
		`,"usage":{"input_tokens":1,"output_tokens":2}`: {Input: 1, Output: 2},
	} {
		r := read(strings.NewReader(fmt.Sprintf(beside, own)))
		if u := r.Seen.Usage; !r.Seen.Reported || u.Input != want.Input || u.Output != want.Output {
			t.Errorf("%q: %+v, reported %v", own, u, r.Seen.Reported)
		}
	}
}

func TestNamed(t *testing.T) {
	for record, want := range map[string]bool{
		"data: {\"type\":\"response.created\"}\n\n":                          false,
		"event: response.created\ndata: {\"type\":\"response.created\"}\n\n": false,
		"event: response.created\ndata: {\"response\":{}}\n\n":               true,
		"event: response.created\ndata: {\"type\":null}\n\n":                 true,
		"data: {\"x\":1}\n\n": false,
		": comment\n\n":       false,
	} {
		f, err := sse.NewDecoder(strings.NewReader(record), 1<<20).Next()
		if err != nil {
			t.Fatal(err)
		}
		ev, err := NewReader(protocol.ReaderOptions{}).Read(f)
		if err != nil || ev.Named != want {
			t.Errorf("%q: %v, %v", record, ev.Named, err)
		}
	}
}

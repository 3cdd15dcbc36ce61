package messages_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/money/price"
)

func messageDelta(usage string) string {
	return `{"type":"message_delta","delta":{"stop_reason":null},"usage":` + usage + `}`
}

func messageStart(usage string) string {
	return `{"type":"message_start","message":{"id":"msg_1","usage":` + usage + `}}`
}

func TestUsage(t *testing.T) {
	opened := price.Usage{Input: 10, CachedInput: 2, CacheWrite: 3}
	with := func(u price.Usage, out int64) price.Usage { u.Output = out; return u }
	for _, c := range []struct {
		name                        string
		events                      []string
		want                        price.Usage
		reported, opening, executed bool
	}{
		{"nothing", nil, price.Usage{}, false, false, false},
		{"opening: its output means nothing, and it is no sign of execution", []string{start, text}, opened, false, true, false},
		{"opening without usage", []string{`{"type":"message_start","message":{"id":"msg_1","usage":null}}`}, price.Usage{}, false, false, false},
		{"closing", []string{start, closing, stop}, with(opened, 7), true, true, true},
		{"cumulative: the last value wins", []string{start, messageDelta(`{"output_tokens":5}`), messageDelta(`{"output_tokens":9}`)}, with(opened, 9), true, true, true},
		{"null and absent keep the last value", []string{start, messageDelta(`{"input_tokens":100,"output_tokens":5,"cache_read_input_tokens":null}`), messageDelta(`{"input_tokens":null,"output_tokens":6}`)},
			price.Usage{Input: 100, CachedInput: 2, CacheWrite: 3, Output: 6}, true, true, true},
		{"all input at the end", []string{messageStart(`{"input_tokens":0,"output_tokens":0}`), messageDelta(`{"input_tokens":50,"cache_read_input_tokens":20,"cache_creation_input_tokens":5,"output_tokens":6}`)},
			price.Usage{Input: 50, CachedInput: 20, CacheWrite: 5, Output: 6}, true, true, true},
		{"a zero takes back no input", []string{start, messageDelta(`{"input_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":6}`)}, with(opened, 6), true, true, true},
		{"nor one as a text", []string{start, messageDelta(`{"input_tokens":"0","output_tokens":"6"}`)}, with(opened, 6), true, true, true},
		{"nor zeros by lifetime", []string{start, messageDelta(`{"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":6}`)}, with(opened, 6), true, true, true},
		{"a smaller count does", []string{start, messageDelta(`{"input_tokens":4,"output_tokens":6}`)}, price.Usage{Input: 4, CachedInput: 2, CacheWrite: 3, Output: 6}, true, true, true},
		{"output may fall to zero", []string{start, messageDelta(`{"output_tokens":5}`), messageDelta(`{"output_tokens":0}`)}, opened, true, true, true},
		{"zero output is an answer too", []string{start, messageDelta(`{"output_tokens":0}`), stop}, opened, true, true, true},
		{"written tokens by lifetime", []string{messageStart(`{"input_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":3,"ephemeral_1h_input_tokens":4}}`)},
			price.Usage{Input: 1, CacheWrite: 7}, false, true, false},
		{"the total of them counts", []string{messageStart(`{"cache_creation":{"ephemeral_5m_input_tokens":3},"cache_creation_input_tokens":9}`)},
			price.Usage{CacheWrite: 9}, false, true, false},
		{"closing without output", []string{start, messageDelta(`{"input_tokens":10}`)}, opened, false, true, true},
		{"delta without usage", []string{start, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`}, opened, false, true, false},
		{"delta with null", []string{start, messageDelta(`null`)}, opened, false, true, false},
		{"in an error event", []string{start, `{"type":"error","error":{"type":"api_error","message":"m"},"usage":{"output_tokens":4}}`}, with(opened, 4), true, true, true},
		{"in the error", []string{start, `{"type":"error","error":{"type":"api_error","message":"m","usage":{"output_tokens":4}}}`}, with(opened, 4), true, true, true},
		{"empty, in an error event", []string{start, `{"type":"error","error":{"message":"m"},"usage":{}}`}, opened, false, true, true},
		{"none in an error event", []string{start, overload}, opened, false, true, false},
		{"before an error event", []string{start, closing, overload}, with(opened, 7), true, true, true},
		{"in an event nobody knows", []string{start, `{"type":"new_thing","usage":{"output_tokens":4}}`}, with(opened, 4), true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var wire []string
			for _, e := range c.events {
				wire = append(wire, typed(e))
			}
			_, r := run(wire...)
			seen := r.Seen()
			if d := cmp.Diff(c.want, seen.Usage); d != "" || seen.Reported != c.reported || seen.OpeningUsage != c.opening || seen.ShowsExecution != c.executed {
				t.Errorf("reported %v, opening %v, executed %v\n%s", seen.Reported, seen.OpeningUsage, seen.ShowsExecution, d)
			}
		})
	}
}

func TestUsageThatCannotBeIsAnAnomaly(t *testing.T) {
	for _, u := range []string{
		`{"output_tokens":-1}`, `{"output_tokens":3e9}`, `{"output_tokens":0.5}`, `{"output_tokens":1e400}`,
		`{"output_tokens":true}`, `{"output_tokens":"many"}`, `{"input_tokens":[],"output_tokens":1}`,
		`{"cache_creation":{"ephemeral_5m_input_tokens":true,"ephemeral_1h_input_tokens":9},"output_tokens":1}`,
		`{"input_tokens":-5,"output_tokens":1}`, `{"cache_read_input_tokens":-5,"output_tokens":1}`,
	} {
		_, r := run(typed(start), typed(messageDelta(u)))
		if _, anomaly := price.Normalize(r.Seen().Usage); !anomaly || !r.Seen().Reported {
			t.Errorf("%s: %+v", u, r.Seen().Usage)
		}
	}
}

func TestHostedCalls(t *testing.T) {
	use := func(name string) string {
		return typed(block(`{"type":"server_tool_use","name":"` + name + `","input":{}}`))
	}
	mcp := typed(block(`{"type":"mcp_tool_use","name":"f","server_name":"s","input":{}}`))
	told := func(u string) string { return typed(messageDelta(`{"output_tokens":1,"server_tool_use":` + u + `}`)) }
	for _, c := range []struct {
		name   string
		events []string
		want   map[string]int64
	}{
		{"none", []string{typed(start), typed(closing)}, nil},
		{"the client's tools", []string{typed(block(`{"type":"tool_use","name":"web_search","input":{}}`))}, nil},
		{"as told", []string{told(`{"web_search_requests":2,"web_fetch_requests":1,"code_execution_requests":3}`)}, map[string]int64{"web_search": 2, "web_fetch": 1, "code_execution": 3}},
		{"a tool of tomorrow", []string{told(`{"moon_landing_requests":1}`)}, map[string]int64{"moon_landing": 1}},
		{"cumulative: the last value wins", []string{told(`{"web_search_requests":3}`), told(`{"web_search_requests":2}`)}, map[string]int64{"web_search": 2}},
		{"zeros and nulls", []string{told(`{"web_search_requests":0,"web_fetch_requests":null}`), told(`null`)}, nil},
		{"by blocks, until told", []string{use("web_search"), use("web_search")}, map[string]int64{"web_search": 2}},
		{"told, with blocks", []string{use("web_search"), use("web_search"), told(`{"web_search_requests":1,"web_fetch_requests":0}`)}, map[string]int64{"web_search": 1}},
		{"told to be free", []string{use("web_search"), told(`{"web_search_requests":0}`)}, map[string]int64{}},
		{"blocks of what is not told", []string{use("bash_code_execution"), use("text_editor_code_execution"), mcp, use("tool_search_tool_regex"), told(`{"web_search_requests":1}`)},
			map[string]int64{"code_execution": 2, "mcp": 1, "tool_search": 1, "web_search": 1}},
	} {
		_, r := run(c.events...)
		if d := cmp.Diff(c.want, r.Seen().Hosted); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestTier(t *testing.T) {
	_, r := run(typed(start), typed(messageDelta(`{"output_tokens":1,"service_tier":"priority"}`)))
	if r.Seen().Tier != "priority" {
		t.Errorf("got %q", r.Seen().Tier)
	}
	_, r = run(typed(start), typed(messageDelta(`{"output_tokens":1,"service_tier":null}`)))
	if r.Seen().Tier != "standard" {
		t.Errorf("got %q", r.Seen().Tier)
	}
}

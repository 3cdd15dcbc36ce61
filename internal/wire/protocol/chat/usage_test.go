package chat_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/money/price"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/chat"
)

func broken() *fault.Error { return fault.New(fault.UpstreamStreamError, "") }

func closing(u string) string { return `{"choices":[],"usage":` + u + `}` }

func TestUsageOfProviders(t *testing.T) {
	for _, c := range []struct {
		name, chunk string
		want        price.Usage
	}{
		{"OpenAI", closing(`{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":60,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":8}}`),
			price.Usage{Input: 40, CachedInput: 60, Output: 20}},
		{"xAI: reasoning beside completion", closing(`{"prompt_tokens":432,"completion_tokens":68,"total_tokens":636,"prompt_tokens_details":{"cached_tokens":153},"completion_tokens_details":{"reasoning_tokens":136},"num_sources_used":0}`),
			price.Usage{Input: 279, CachedInput: 153, Output: 204}},
		{"DeepSeek", closing(`{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`),
			price.Usage{Input: 36, CachedInput: 64, Output: 20}},
		{"Moonshot", `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":4,"cached_tokens":2}}]}`,
			price.Usage{Input: 7, CachedInput: 2, Output: 4}},
		{"Groq", `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":9,"completion_tokens":4,"total_time":0.1}}}`,
			price.Usage{Input: 9, Output: 4}},
		{"OpenRouter", `{"choices":[{"index":0,"delta":{"content":"","role":"assistant"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":4,"cost":0.01,"is_byok":false,"prompt_tokens_details":{"cached_tokens":50,"cache_write_tokens":30}}}`,
			price.Usage{Input: 20, CachedInput: 50, CacheWrite: 30, Output: 4}},
		{"Vercel", closing(`{"prompt_tokens":100,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":0},"cache_creation_input_tokens":30}`),
			price.Usage{Input: 70, CacheWrite: 30, Output: 4}},
		{"LiteLLM", closing(`{"prompt_tokens":100,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":50,"cache_creation_tokens":30},"cache_read_input_tokens":50,"cache_creation_input_tokens":30}`),
			price.Usage{Input: 20, CachedInput: 50, CacheWrite: 30, Output: 4}},
		{"names of Responses", closing(`{"input_tokens":10,"output_tokens":4,"input_tokens_details":{"cached_tokens":5}}`),
			price.Usage{Input: 5, CachedInput: 5, Output: 4}},
		{"completion left out", closing(`{"prompt_tokens":9,"total_tokens":12}`), price.Usage{Input: 9, Output: 3}},
		{"nulls", closing(`{"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":null}}`), price.Usage{Input: 9, Output: 3}},
		{"texts", closing(`{"prompt_tokens":"9","completion_tokens":" 3 ","prompt_tokens_details":{"cached_tokens":"4"}}`), price.Usage{Input: 5, CachedInput: 4, Output: 3}},
		{"total that does not fit", closing(`{"prompt_tokens":9,"completion_tokens":3,"total_tokens":99,"completion_tokens_details":{"reasoning_tokens":2}}`), price.Usage{Input: 9, Output: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, seen := run(protocol.ReaderOptions{}, hello, stop, c.chunk)
			if d := cmp.Diff(c.want, seen.Usage); d != "" || !seen.Reported || !seen.ShowsExecution || seen.OpeningUsage {
				t.Errorf("%+v\n%s", seen, d)
			}
		})
	}
}

func TestUsageThatCannotBeIsAnAnomaly(t *testing.T) {
	for _, u := range []string{
		`{"prompt_tokens":-1,"completion_tokens":5}`,
		`{"prompt_tokens":10,"completion_tokens":-5}`,
		`{"prompt_tokens":10,"completion_tokens":3e9}`,
		`{"prompt_tokens":1e300,"completion_tokens":5}`,
		`{"prompt_tokens":10,"completion_tokens":1.5}`,
		`{"prompt_tokens":-9223372036854775808,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":9223372036854775807}}`,
		`{"prompt_tokens":10,"input_tokens":-3,"completion_tokens":5}`,
		`{"prompt_tokens":10,"completion_tokens":true}`,
		`{"prompt_tokens":"ten","completion_tokens":5}`,
		`{"prompt_tokens":{},"completion_tokens":5}`,
		`{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":false}}`,
	} {
		_, seen := run(protocol.ReaderOptions{}, hello, stop, closing(u))
		if _, anomaly := price.Normalize(seen.Usage); !anomaly || !seen.Reported {
			t.Errorf("%s: %+v", u, seen.Usage)
		}
	}
}

func TestUsageMoments(t *testing.T) {
	running := func(u string) string { return `{"choices":[{"index":0,"delta":{"content":"x"}}],"usage":` + u + `}` }
	opening := `{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":10,"completion_tokens":1}}`
	for _, c := range []struct {
		name                        string
		lines                       []string
		want                        price.Usage
		reported, opening, executed bool
	}{
		{"none", []string{role, hello, stop}, price.Usage{}, false, false, false},
		{"null on every chunk", []string{`{"choices":[{"index":0,"delta":{"content":"x"}}],"usage":null}`, stop}, price.Usage{}, false, false, false},
		{"after the finish", []string{role, hello, stop, usage}, price.Usage{Input: 10, Output: 5}, true, false, true},
		{"on the finish", []string{hello, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}`}, price.Usage{Input: 10, Output: 5}, true, false, true},
		{"on the finish, nothing answered", []string{role, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":0}}`}, price.Usage{Input: 10}, true, false, true},
		{"opening is no sign of execution", []string{opening}, price.Usage{Input: 10}, false, true, false},
		{"opening with empty choices", []string{usage}, price.Usage{Input: 10}, false, true, false},
		{"opening, then nothing more", []string{opening, hello, stop, finish}, price.Usage{Input: 10}, false, true, false},
		{"opening, then the end", []string{opening, hello, stop, closing(`{"completion_tokens":7}`)}, price.Usage{Input: 10, Output: 7}, true, true, true},
		{"on every chunk, cut", []string{opening, running(`{"prompt_tokens":10,"completion_tokens":1}`), running(`{"prompt_tokens":10,"completion_tokens":2}`)}, price.Usage{Input: 10, Output: 2}, true, true, true},
		{"on every chunk, last wins", []string{running(`{"prompt_tokens":10,"completion_tokens":9}`), running(`null`), stop, closing(`{"prompt_tokens":10,"completion_tokens":3}`)}, price.Usage{Input: 10, Output: 3}, true, false, true},
		{"with the failure", []string{role, `{"error":{"message":"m"},"usage":{"prompt_tokens":10,"completion_tokens":3}}`}, price.Usage{Input: 10, Output: 3}, true, false, true},
		{"empty, with the failure", []string{role, `{"error":{"message":"m"},"usage":{}}`}, price.Usage{}, false, false, true},
		{"null, with the failure", []string{role, `{"error":{"message":"m"},"usage":null}`}, price.Usage{}, false, false, false},
		{"opening, then a failure", []string{opening, `{"error":{"message":"m"}}`}, price.Usage{Input: 10}, false, true, false},
		{"before the failure", []string{running(`{"prompt_tokens":10,"completion_tokens":1}`), `{"error":{"message":"m"}}`}, price.Usage{Input: 10, Output: 1}, true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, seen := run(protocol.ReaderOptions{StripUsage: true}, c.lines...)
			if d := cmp.Diff(c.want, seen.Usage); d != "" || seen.Reported != c.reported || seen.OpeningUsage != c.opening || seen.ShowsExecution != c.executed {
				t.Errorf("reported %v, opening %v, executed %v\n%s", seen.Reported, seen.OpeningUsage, seen.ShowsExecution, d)
			}
		})
	}
}

func TestHostedCalls(t *testing.T) {
	for _, c := range []struct {
		name, chunk string
		want        map[string]int64
	}{
		{"none", usage, nil},
		{"zero", closing(`{"num_sources_used":0,"server_tool_use":{"web_search_requests":0}}`), nil},
		{"OpenRouter", closing(`{"server_tool_use":{"web_search_requests":2,"web_fetch_requests":1}}`), map[string]int64{"web_search": 2, "web_fetch": 1}},
		{"LiteLLM", closing(`{"prompt_tokens_details":{"web_search_requests":3}}`), map[string]int64{"web_search": 3}},
		{"Perplexity", closing(`{"num_search_queries":4}`), map[string]int64{"web_search": 4}},
		{"xAI", closing(`{"num_sources_used":12}`), map[string]int64{"live_search_source": 12}},
		{"xAI, details", closing(`{"num_server_side_tools_used":3,"server_side_tool_usage_details":{"web_search_calls":2,"x_search_calls":1,"mcp_calls":0}}`), map[string]int64{"web_search": 2, "x_search": 1}},
		{"Vercel", delta(`{"provider_metadata":{"gateway":{"billableWebSearchCalls":2}}}`), map[string]int64{"web_search": 2}},
	} {
		_, seen := run(protocol.ReaderOptions{}, hello, c.chunk, c.chunk)
		if d := cmp.Diff(c.want, seen.Hosted); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestUsageOfRefusals(t *testing.T) {
	for body, executed := range map[string]bool{
		`{"error":{"message":"m"},"usage":{"prompt_tokens":9,"completion_tokens":3}}`: true,
		`{"error":{"message":"m","usage":{"prompt_tokens":9,"completion_tokens":3}}}`: true,
		`{"error":{"message":"m","usage":null},"usage":null}`:                         false,
		`{"error":"m"}`: false,
		`["m"]`:         false,
	} {
		seen := &protocol.Observed{}
		chat.FailureUsage([]byte(body), seen)
		if seen.ShowsExecution != executed || seen.Reported != executed || executed && (seen.Usage.Input != 9 || seen.Usage.Output != 3) {
			t.Errorf("%s: %+v", body, seen)
		}
	}
}

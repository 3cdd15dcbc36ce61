package e2e

import (
	"encoding/json"
	"strings"

	"rubicon/internal/wire/protocol/recorded"
)

// What transcripts say is read here in the plainest way, by nothing of the
// product's own.

// tokens are a usage by class.
type tokens struct{ input, cached, written, output int64 }

func dataOf(record string) string {
	var data []string
	for line := range strings.Lines(record) {
		if rest, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "data:"); ok {
			data = append(data, strings.TrimPrefix(rest, " "))
		}
	}
	return strings.Join(data, "\n")
}

// usageOf is the usage that an exchange reports.
func usageOf(e recorded.Exchange) (u tokens, known bool) {
	if !e.Stream {
		known = u.object(e.Protocol, []byte(e.Body))
		return u, known
	}
	for _, r := range records(e.Normal()) {
		known = u.read(e.Protocol, r) || known
	}
	return u, known
}

// read takes in the usage of an event; false if it has none.
func (u *tokens) read(protocol, record string) bool {
	return u.object(protocol, []byte(dataOf(record)))
}

func (u *tokens) object(protocol string, raw []byte) (known bool) {
	var v map[string]any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	for _, place := range []any{v, v["response"], v["message"], v["delta"]} {
		holder, _ := place.(map[string]any)
		usage, ok := holder["usage"].(map[string]any)
		switch {
		case !ok:
		case protocol == "messages":
			u.messages(usage)
			known = true
		default:
			u.openai(usage)
			known = true
		}
	}
	return known
}

func num(v any) (int64, bool) {
	n, ok := v.(float64)
	return int64(n), ok
}

// messages: the last value of each number counts.
func (u *tokens) messages(usage map[string]any) {
	for name, to := range map[string]*int64{"input_tokens": &u.input, "cache_read_input_tokens": &u.cached,
		"cache_creation_input_tokens": &u.written, "output_tokens": &u.output} {
		if n, ok := num(usage[name]); ok {
			*to = n
		}
	}
}

// openai: the classes of the input are parts of its total.
func (u *tokens) openai(usage map[string]any) {
	var of = func(names ...string) (most int64) {
		for _, name := range names {
			v := any(usage)
			for _, step := range strings.Split(name, ".") {
				m, _ := v.(map[string]any)
				v = m[step]
			}
			n, _ := num(v)
			most = max(most, n)
		}
		return most
	}
	in, out := of("input_tokens", "prompt_tokens"), of("output_tokens", "completion_tokens")
	reasoning, total := of("completion_tokens_details.reasoning_tokens"), of("total_tokens")
	if reasoning > 0 && total == in+out+reasoning { // xAI
		out += reasoning
	}
	u.cached = of("input_tokens_details.cached_tokens", "prompt_tokens_details.cached_tokens", "cached_tokens", "cache_read_input_tokens")
	u.written = of("cache_creation_input_tokens", "prompt_tokens_details.cache_write_tokens")
	u.input, u.output = in-u.cached-u.written, out
}

// withoutUsageChunk is a Chat stream without the chunk that only tells usage.
func withoutUsageChunk(stream string) string {
	var b strings.Builder
	for _, r := range records(stream) {
		var v struct {
			Choices []any
			Usage   map[string]any
		}
		if err := json.Unmarshal([]byte(dataOf(r)), &v); err == nil && len(v.Choices) == 0 && v.Usage != nil {
			continue
		}
		b.WriteString(r)
	}
	return b.String()
}

// textOf is how many bytes of text, reasoning, refusals and tool arguments an
// event says.
func textOf(protocol, record string) (n int64) {
	var v map[string]any
	if json.Unmarshal([]byte(dataOf(record)), &v) != nil {
		return 0
	}
	count := func(v any) {
		s, _ := v.(string)
		n += int64(len(s))
	}
	switch protocol {
	case "responses":
		if typ, _ := v["type"].(string); strings.HasSuffix(typ, ".delta") {
			count(v["delta"])
		}
	case "messages":
		if d, ok := v["delta"].(map[string]any); ok && v["type"] == "content_block_delta" {
			count(d["text"])
			count(d["thinking"])
			count(d["partial_json"])
		}
	case "chat":
		choices, _ := v["choices"].([]any)
		for _, c := range choices {
			choice, _ := c.(map[string]any)
			textOfDelta(choice, count)
		}
	}
	return n
}

// textOfDelta counts a Chat delta. Vendors say reasoning under two names, some
// under both at once.
func textOfDelta(choice map[string]any, count func(any)) {
	d, _ := choice["delta"].(map[string]any)
	count(d["content"])
	count(d["refusal"])
	if d["reasoning_content"] != nil {
		count(d["reasoning_content"])
	} else {
		count(d["reasoning"])
	}
	calls, _ := d["tool_calls"].([]any)
	for _, call := range calls {
		f, _ := call.(map[string]any)["function"].(map[string]any)
		count(f["arguments"])
	}
}

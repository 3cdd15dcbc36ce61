package responses

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/money/price"
	"rubicon/internal/wire/protocol"
)

func TestAnswer(t *testing.T) {
	const message = `{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","text":"héy"}]}`
	for _, c := range []struct {
		name, body string
		want       protocol.Observed
	}{
		{"completed", `{"id":"resp_1","object":"response","status":"completed","model":"m-1","service_tier":"flex","error":null,"output":[` + message + `],"usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":1},"output_tokens":2}}`,
			protocol.Observed{Events: 1, OutputEvents: 1, ResponseID: "resp_1", Model: "m-1", Tier: "flex", Usage: price.Usage{Input: 2, CachedInput: 1, Output: 2}, Reported: true,
				ShowsExecution: true, Content: true, TextBytes: 4, Sequence: -1, State: ids("response", "resp_1", "item", "msg_1")}},
		{"incomplete, no usage", `{"id":"resp_1","object":"response","status":"incomplete","output":[],"usage":null}`,
			protocol.Observed{Events: 1, ResponseID: "resp_1", Incomplete: true, Sequence: -1, State: ids("response", "resp_1")}},
		{"failed", `{"object":"response","status":"failed","error":{"code":"server_error","message":"m"},"output":[]}`,
			protocol.Observed{Events: 1, Sequence: -1, Failure: &protocol.FailureInfo{Code: "server_error", Message: "m"}}},
		{"failed without error", `{"object":"response","status":"failed","output":[]}`,
			protocol.Observed{Events: 1, Sequence: -1, Failure: &protocol.FailureInfo{}}},
		{"failed with a result and usage", `{"object":"response","status":"failed","error":{"code":"c"},"output":[{"id":"i"}],"usage":{"input_tokens":1,"output_tokens":1}}`,
			protocol.Observed{Events: 1, OutputEvents: 1, Sequence: -1, Failure: &protocol.FailureInfo{Code: "c"}, Result: true, Content: true, ShowsExecution: true, Reported: true,
				Usage: price.Usage{Input: 1, Output: 1}, State: ids("item", "i")}},
		{"error although completed", `{"object":"response","status":"completed","error":{"code":"c"},"output":[]}`,
			protocol.Observed{Events: 1, Sequence: -1, Failure: &protocol.FailureInfo{Code: "c"}}},
		{"in progress", `{"object":"response","status":"in_progress","output":[]}`, protocol.Observed{Events: 1, Sequence: -1}},
		{"no object, but output", `{"id":"r","output":[]}`, protocol.Observed{Events: 1, ResponseID: "r", Sequence: -1, State: ids("response", "r")}},
		{"compaction", `{"id":"resp_2","object":"response.compaction","output":[{"id":"cmp_1","type":"compaction","encrypted_content":"s"}],"usage":{"input_tokens":9,"output_tokens":1}}`,
			protocol.Observed{Events: 1, OutputEvents: 1, ResponseID: "resp_2", Content: true, Sequence: -1, ShowsExecution: true, Reported: true, Usage: price.Usage{Input: 9, Output: 1},
				State: ids("response", "resp_2", "item", "cmp_1", "sealed", protocol.Seal("s"))}},
		{"hosted calls", `{"object":"response","status":"completed","output":[{"id":"a","type":"web_search_call","status":"completed"},{"id":"a","type":"web_search_call","status":"completed"},
			{"id":"b","type":"web_search_call","status":"failed"},{"type":"web_search_call"},{"id":"c","type":"file_search_call","status":"completed"},{"id":"d","type":"mcp_call"},
			{"id":"e","type":"image_generation_call","status":"completed"},{"id":"f","type":"code_interpreter_call","status":"completed","container_id":"cntr"},
			{"id":"g","type":"shell_call","status":"completed","environment":{"type":"container_reference","container_id":"cntr"}},
			{"id":"h","type":"shell_call","status":"completed","environment":{"type":"local"}},{"id":"i","type":"shell_call","status":"completed","environment":null},
			{"id":"j","type":"local_shell_call","status":"completed"},{"id":"k","type":"computer_call","status":"completed"},{"id":"l","type":"function_call","status":"completed"}]}`,
			protocol.Observed{Events: 1, OutputEvents: 1, Content: true, Ran: true, Sequence: -1,
				Hosted: map[string]int64{"web_search": 2, "file_search": 1, "mcp": 1, "image_generation": 1, "code_interpreter": 1, "shell": 1},
				State: ids("item", "a", "item", "b", "item", "c", "item", "d", "item", "e", "item", "f", "container", "cntr", "item", "g", "item", "h",
					"item", "i", "item", "j", "item", "k", "item", "l")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Answer([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoAnswer(t *testing.T) {
	for _, body := range []string{``, `{}`, `[]`, `null`, `"x"`, `<html></html>`, `{"error":{"code":"x"}}`, `{"object":"chat.completion","choices":[]}`,
		`{"object":"response"`, `{"object":"response"}x`, `{"object":"list","output":[]}`, `{"output":"x"}`, `{"object":["response"]}`} {
		if got, err := Answer([]byte(body)); err != protocol.ErrNotProtocol || got != nil {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

// TestHostedCallsCountOnce: the item's done event and the final response tell of
// the same call.
func TestHostedCallsCountOnce(t *testing.T) {
	r := NewReader(protocol.ReaderOptions{})
	for _, e := range []string{
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"ws_1","type":"web_search_call","status":"completed"}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"ws_1","type":"web_search_call","status":"completed"}}`,
		`{"type":"response.output_item.done","output_index":1,"item":{"type":"web_search_call","status":"completed"}}`,
		`{"type":"response.completed","response":{"output":[{"id":"ws_1","type":"web_search_call","status":"completed"},{"type":"web_search_call"},{"id":"ws_3","type":"web_search_call"}]}}`,
	} {
		if _, err := r.Read(frame("", e)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]int64{"web_search": 3}, r.Seen().Hosted); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

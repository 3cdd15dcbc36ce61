package responses

import (
	"maps"
	"testing"

	"rubicon/internal/wire/protocol"
)

// TestContent: what a customer pays for when nothing follows.
func TestContent(t *testing.T) {
	item := func(typ, item string) string {
		return `{"type":"response.output_item.` + typ + `","item":` + item + `}`
	}
	for _, c := range []struct {
		name, event string
		want        bool
	}{
		{"an item begins", item("added", `{"type":"message","status":"in_progress","role":"assistant","content":[]}`), false},
		{"a call begins", item("added", `{"type":"function_call","name":"f","call_id":"c","arguments":""}`), false},
		{"a search begins", item("added", `{"type":"web_search_call","status":"in_progress","action":{"type":"search","query":"q"}}`), false},
		{"a call begins with arguments", item("added", `{"type":"function_call","name":"f","arguments":"{"}`), true},
		{"an image as a whole", item("added", `{"type":"image_generation_call","result":"aGk="}`), true},
		{"an image to come", item("added", `{"type":"image_generation_call","result":""}`), false},
		{"an empty part", `{"type":"response.content_part.added","part":{"type":"output_text","text":"","annotations":[]}}`, false},
		{"a part with text", `{"type":"response.content_part.added","part":{"type":"output_text","text":"x"}}`, true},
		{"an empty delta", `{"type":"response.output_text.delta","delta":""}`, false},
		{"text", `{"type":"response.output_text.delta","delta":"x"}`, true},
		{"reasoning", `{"type":"response.reasoning_summary_text.delta","delta":"x"}`, true},
		{"a refusal", `{"type":"response.refusal.delta","delta":"x"}`, true},
		{"arguments", `{"type":"response.function_call_arguments.delta","delta":"{"}`, true},
		{"audio", `{"type":"response.audio.delta","delta":"aGk="}`, true},
		{"half an image", `{"type":"response.image_generation_call.partial_image","partial_image_b64":"aGk="}`, true},
		{"the text of a stream without deltas", `{"type":"response.output_text.done","text":"x"}`, true},
		{"the end of no text", `{"type":"response.output_text.done","text":""}`, false},
		{"progress of a tool", `{"type":"response.web_search_call.searching","item_id":"ws_1"}`, false},
		{"an event that nobody knows", `{"type":"vendor.note","note":"x"}`, false},
		{"a piece that nobody knows", `{"type":"vendor.thing.delta","delta":"x"}`, true},
		{"a finished call", item("done", `{"type":"function_call","status":"completed","name":"f","arguments":""}`), true},
		{"a finished sealed item", item("done", `{"type":"reasoning","summary":[],"encrypted_content":"s"}`), true},
		{"a failed search", item("done", `{"type":"web_search_call","status":"failed"}`), false},
		{"a cut item with text", item("done", `{"type":"message","status":"incomplete","content":[{"type":"output_text","text":"x"}]}`), true},
		{"a failure that holds text", `{"type":"response.failed","response":{"output":[{"type":"message","status":"incomplete","content":[{"text":"x"}]}]}}`, true},
		{"a failure that holds nothing", `{"type":"response.failed","response":{"output":[{"type":"message","status":"in_progress","content":[]}]}}`, false},
	} {
		r := NewReader(protocol.ReaderOptions{})
		if _, err := r.Read(frame("", c.event)); err != nil {
			t.Fatal(err)
		}
		if r.Seen().Content != c.want {
			t.Errorf("%s: content %v", c.name, r.Seen().Content)
		}
	}
}

// TestSearchesAreBilled: of web searches the searches, and where the provider
// counts calls by itself, its count.
func TestSearchesAreBilled(t *testing.T) {
	const calls = `{"id":"a","type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}},
		{"id":"b","type":"web_search_call","status":"completed","action":{"type":"open_page","url":"u"}},
		{"id":"c","type":"web_search_call","status":"completed","action":{"type":"find_in_page","pattern":"p"}}`
	for _, c := range []struct {
		name, output, usage string
		want                map[string]int64
	}{
		{"by items", calls, `{}`, map[string]int64{"web_search": 1}},
		{"pages alone", `{"id":"b","type":"web_search_call","status":"completed","action":{"type":"open_page"}}`, `{}`, nil},
		{"of an older API", `{"id":"b","type":"web_search_call","status":"completed"}`, `{}`, map[string]int64{"web_search": 1}},
		{"by details", calls, `{"server_side_tool_usage_details":{"web_search_calls":2,"x_search_calls":0}}`, map[string]int64{"web_search": 2}},
		{"by details, without items", ``, `{"num_server_side_tools_used":3,"server_side_tool_usage_details":{"web_search_calls":2,"code_interpreter_calls":1}}`,
			map[string]int64{"web_search": 2, "code_interpreter": 1}},
	} {
		seen, err := Answer([]byte(`{"object":"response","status":"completed","output":[` + c.output + `],"usage":` + c.usage + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(seen.Hosted, c.want) || !seen.Ran {
			t.Errorf("%s: %v, ran %v", c.name, seen.Hosted, seen.Ran)
		}
	}
}

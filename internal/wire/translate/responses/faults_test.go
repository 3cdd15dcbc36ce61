package responses_test

import (
	"strings"
	"testing"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
	"rubicon/internal/wire/translate/chat"
	"rubicon/internal/wire/translate/messages"
	"rubicon/internal/wire/translate/responses"
)

// across is a request of one format in another: its body, and what was told, in
// short.
func across(t *testing.T, from, to translate.Codec, f translate.Flags, body string) (string, string) {
	t.Helper()
	r, err := from.DecodeRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	out, rep := to.EncodeRequest(r, "private", f)
	told := ""
	for _, n := range rep.Notes {
		if !n.Quiet {
			told += " " + string(n.Verb) + " " + n.Path
		}
	}
	for _, x := range rep.Excluded {
		told += " excluded " + x.Path
	}
	return string(out), strings.TrimSpace(told)
}

func usual(c translate.Codec) translate.Flags { return translate.Defaults(c.Format) }

func TestFault01ReasoningAlone(t *testing.T) {
	body := `{"model":"m","store":false,"input":[{"role":"user","content":"hi"},{"type":"reasoning","id":"rs_1","summary":[]},{"type":"reasoning","summary":[{"type":"summary_text","text":"why"}]},{"role":"user","content":"so"}]}`
	for _, to := range []translate.Codec{chat.Codec(), messages.Codec(), responses.Codec()} {
		out, _ := across(t, responses.Codec(), to, usual(to), body)
		for _, key := range []string{"messages", "input"} {
			el := jsonscan.Array(jsonscan.Get([]byte(out), key))
			for el.Next() {
				if content := jsonscan.Get(el.Value(), "content"); jsonscan.Get(el.Value(), "role") != nil && (content == nil || jsonscan.Empty(content)) {
					t.Errorf("%s: a message without content: %s", to.Format, out)
				}
			}
		}
	}
}

func TestFault02ReasoningGoesBack(t *testing.T) {
	f := usual(chat.Codec())
	f.ReasoningBack = true
	out, _ := across(t, responses.Codec(), chat.Codec(), f, `{"model":"m","store":false,"input":[{"role":"user","content":"hi"},{"type":"reasoning","summary":[{"type":"summary_text","text":"why"}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"r"}]}`)
	if !strings.Contains(out, `{"role":"assistant","reasoning_content":"why","content":null,"tool_calls":[{"id":"c"`) {
		t.Error(out)
	}
}

func TestFault10And11OneCallAndItsID(t *testing.T) {
	out, told := across(t, chat.Codec(), responses.Codec(), usual(responses.Codec()), `{"model":"m","parallel_tool_calls":false,"tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_x","type":"function","function":{"name":"f","arguments":"{\"a\": 1.0}"}}]},{"role":"tool","tool_call_id":"call_x","content":"r"}]}`)
	for _, want := range []string{`"call_id":"call_x","name":"f","arguments":"{\"a\": 1.0}"`, `"type":"function_call_output","call_id":"call_x","output":"r"`, `"parallel_tool_calls":false`, `"strict":false`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s lacks %s", out, want)
		}
	}
	if told != "" {
		t.Error(told)
	}
}

// Codex sends tools that only OpenAI knows with every request.
func TestFault15And16ToolsOfAnotherVendor(t *testing.T) {
	body := `{"model":"m","store":false,"input":"hi","tools":[{"type":"web_search"},{"type":"local_shell"},{"type":"never_heard_of","x":1},{"type":"function","name":"f","parameters":{"type":"object"},"strict":false}]`
	for _, to := range []translate.Codec{chat.Codec(), messages.Codec()} {
		out, told := across(t, responses.Codec(), to, usual(to), body+`}`)
		if !strings.Contains(told, "dropped tools[0] dropped tools[1] dropped tools[2]") || strings.Contains(out, "never_heard_of") || !strings.Contains(out, `"name":"f"`) {
			t.Errorf("%s: %s\n%s", to.Format, told, out)
		}
		if _, told = across(t, responses.Codec(), to, usual(to), body+`,"tool_choice":{"type":"web_search"}}`); !strings.Contains(told, "excluded tool_choice") {
			t.Errorf("%s: a forced tool of another vendor: %s", to.Format, told)
		}
	}
}

func TestFault13And14ToolsOfCodex(t *testing.T) {
	body := `{"model":"m","max_output_tokens":99,"store":false,"input":[{"role":"user","content":"hi"},{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"*** Begin"},{"type":"custom_tool_call_output","call_id":"c","output":"ok"},{"type":"function_call","call_id":"d","namespace":"files","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"d","output":"x"}],
		"tools":[{"type":"custom","name":"apply_patch","description":"edits","format":{"type":"grammar","syntax":"lark","definition":"start: hunk"}},{"type":"namespace","name":"files","description":"of the user","tools":[{"type":"function","name":"read","description":"reads","parameters":{"type":"object"},"strict":false}]}]}`
	for _, to := range []translate.Codec{chat.Codec(), messages.Codec()} {
		out, told := across(t, responses.Codec(), to, usual(to), body)
		for _, want := range []string{`start: hunk`, `"files__read"`, `About all tools of files: of the user\n\nreads`, `*** Begin`} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %s lacks %s", to.Format, out, want)
			}
		}
		if told != "wrapped tools[0] wrapped tools[1].tools[0]" {
			t.Errorf("%s: %s", to.Format, told)
		}
	}
}

func TestFault18DeferredTools(t *testing.T) {
	for _, to := range []translate.Codec{chat.Codec(), messages.Codec()} {
		out, told := across(t, responses.Codec(), to, usual(to), `{"model":"m","max_output_tokens":99,"store":false,"input":"hi","tools":[{"type":"tool_search"},{"type":"function","name":"late","parameters":{"type":"object"},"defer_loading":true,"strict":false}]}`)
		if !strings.Contains(out, `"late"`) || strings.Contains(out, "defer_loading") || told != "dropped tools[0] changed tools[1]" {
			t.Errorf("%s: %s\n%s", to.Format, told, out)
		}
		_, told = across(t, responses.Codec(), to, usual(to), `{"model":"m","max_output_tokens":99,"store":false,"input":[{"role":"user","content":"hi"},{"type":"tool_search_call","arguments":{}},{"type":"tool_search_output","tools":[]}]}`)
		if told != "excluded input[1] excluded input[2]" {
			t.Errorf("%s: %s", to.Format, told)
		}
	}
	out, told := across(t, messages.Codec(), responses.Codec(), usual(responses.Codec()), `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"late","input_schema":{"type":"object"},"defer_loading":true}]}`)
	if !strings.Contains(out, `"late"`) || strings.Contains(out, "defer_loading") || !strings.Contains(told, "changed tools[0]") {
		t.Errorf("%s\n%s", told, out)
	}
}

func TestFault19ImagesInResults(t *testing.T) {
	body := `{"model":"m","store":false,"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}]}`
	out, told := across(t, responses.Codec(), chat.Codec(), usual(chat.Codec()), body)
	if !strings.Contains(out, `"content":"see"`) || !strings.Contains(out, `"image_url":{"url":"data:image/png;base64,AAAA"}`) || told != "moved input[2].output[1]" {
		t.Errorf("%s\n%s", told, out)
	}
	out, told = across(t, responses.Codec(), messages.Codec(), usual(messages.Codec()), body)
	if !strings.Contains(out, `"data":"AAAA"`) || strings.Contains(told, "moved") {
		t.Errorf("%s\n%s", told, out)
	}
}

func TestFault22And23And24And35Demands(t *testing.T) {
	none := usual(responses.Codec())
	none.Structured = "none"
	for body, want := range map[string]string{
		`"n":2`: "excluded n",
		`"response_format":{"type":"json_object"}`:                                        "excluded response_format",
		`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}}`: "excluded response_format",
		`"logit_bias":{"1":2}`: "excluded logit_bias",
	} {
		if _, told := across(t, chat.Codec(), responses.Codec(), none, `{"model":"m","messages":[{"role":"user","content":"hi"}],`+body+`}`); told != want {
			t.Errorf("%s: %s", body, told)
		}
	}
	if _, told := across(t, chat.Codec(), responses.Codec(), none, `{"model":"m","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AA","format":"wav"}}]}]}`); !strings.Contains(told, "excluded messages[0]") {
		t.Error(told)
	}
}

func TestFault46StateIsRefused(t *testing.T) {
	for _, to := range []translate.Codec{chat.Codec(), messages.Codec()} {
		for body, path := range map[string]string{
			`"input":"hi","store":false,"previous_response_id":"resp_1"`:                               "previous_response_id",
			`"input":"hi","store":false,"conversation":"c"`:                                            "conversation",
			`"input":"hi","store":false,"prompt":{"id":"p"}`:                                           "prompt",
			`"input":"hi","store":true`:                                                                "store",
			`"input":[{"role":"user","content":"x"},{"type":"item_reference","id":"i"}],"store":false`: "input[1]",
			`"input":[{"role":"user","content":[{"type":"input_file","file_id":"f"}]}],"store":false`:  "input[0].content[0]",
			`"input":"hi","store":false,"background":true`:                                             "background",
			`"input":"hi","store":false,"truncation":"auto"`:                                           "truncation",
		} {
			if _, told := across(t, responses.Codec(), to, usual(to), `{"model":"m",`+body+`}`); !strings.Contains(told, "excluded "+path) {
				t.Errorf("%s: %s: %s", to.Format, body, told)
			}
		}
		if _, told := across(t, responses.Codec(), to, usual(to), `{"model":"m","input":"hi"}`); !strings.Contains(told, "dropped store") {
			t.Errorf("%s: a store that is not said: %s", to.Format, told)
		}
	}
}

// answer plays an upstream's stream to a Responses client, and gives the types
// of the events and the last one.
func answer(t *testing.T, from translate.Codec, datas ...string) (string, string) {
	t.Helper()
	client, err := responses.Codec().DecodeRequest([]byte(`{"model":"m","input":"hi","store":false}`))
	if err != nil {
		t.Fatal(err)
	}
	d := from.NewDecoder()
	e := responses.Codec().NewEncoder(client, translate.Identity{ResponseID: "resp_own", Model: "m", Upstream: from.Format, Flags: usual(from)})
	var outs []translate.Out
	for _, data := range datas {
		events, err := d.Event("", []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			outs = e.Events(outs, ev)
		}
	}
	for _, ev := range d.End() {
		outs = e.Events(outs, ev)
	}
	names := ""
	for _, o := range outs {
		names += " " + strings.TrimPrefix(o.Name, "response.")
	}
	return strings.TrimSpace(names), string(outs[len(outs)-1].Data)
}

func TestFault28Refusals(t *testing.T) {
	_, last := answer(t, messages.Codec(), `{"type":"message_start","message":{"id":"m","model":"x","usage":{"input_tokens":1}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"x","explanation":"not this"}},"usage":{"output_tokens":1}}`, `{"type":"message_stop"}`)
	for _, want := range []string{`"type":"response.incomplete"`, `"incomplete_details":{"reason":"content_filter"}`, `{"type":"refusal","refusal":"not this"}`} {
		if !strings.Contains(last, want) {
			t.Errorf("%s lacks %s", last, want)
		}
	}
	_, last = answer(t, chat.Codec(), `{"id":"x","choices":[{"index":0,"delta":{"refusal":"no"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`)
	if !strings.Contains(last, `{"type":"refusal","refusal":"no"}`) {
		t.Error(last)
	}
	_, last = answer(t, chat.Codec(), `{"id":"x","choices":[{"index":0,"delta":{"content":"a"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`, `[DONE]`)
	if !strings.Contains(last, `"incomplete_details":{"reason":"content_filter"}`) {
		t.Error(last)
	}
}

// An end that nobody told is no end: all that is open is closed, and the answer
// failed.
func TestFault30NoFinishReason(t *testing.T) {
	names, last := answer(t, chat.Codec(), `{"id":"x","choices":[{"index":0,"delta":{"content":"a"}}]}`)
	if !strings.HasSuffix(names, "output_text.delta output_text.done content_part.done output_item.done error failed") || !strings.Contains(last, `"status":"failed"`) {
		t.Errorf("%s\n%s", names, last)
	}
}

func TestFault29UnknownEndOfOthers(t *testing.T) {
	_, last := answer(t, messages.Codec(), `{"type":"message_start","message":{"id":"m","model":"x"}}`, `{"type":"message_delta","delta":{"stop_reason":"whim"}}`, `{"type":"message_stop"}`)
	if !strings.Contains(last, `"type":"response.incomplete"`) || !strings.Contains(last, `"reason":"whim"`) {
		t.Error(last)
	}
}

package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// asked is an answer of a provider, as far as these tests look.
type asked struct {
	status int
	ID     string
	Tools  []json.RawMessage
	Output []struct {
		CallID string `json:"call_id"`
	}
	Error struct{ Message, Type, Code, Param string }
}

func ask(t *testing.T, p *Provider, path, body string) (a asked) {
	t.Helper()
	w := httptest.NewServer(p)
	defer w.Close()
	resp, err := http.Post(w.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	a.status = resp.StatusCode
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		t.Fatal(err)
	}
	return a
}

// talkative answers, calls a tool, breaks off after the beginning, or says every event.
func talkative(account *Account) *Provider {
	return New(Options{Account: account, Scripts: map[string]Script{
		"answer":                  Play(Answer("Hello", nil)),
		"tool":                    Play(Step{Do: "answer", Tools: []ToolCall{{Name: "f", Args: "{}"}}}),
		"broken":                  Play(Created(), FIN()),
		"events":                  Play(Created(), Text("Hello"), Completed(nil)),
		"fails":                   Play(ReplyError(500, "server_error")),
		"POST /responses/compact": Play(Answer("", nil)),
	}})
}

const notFound = "Previous response with id '%s' not found."

// A response is continued where it is known, and only there; scripts that say more than "an answer" play as written.
func TestContinuations(t *testing.T) {
	account := &Account{}
	p, same, other := talkative(account), talkative(account), talkative(nil)
	first := ask(t, p, "/v1/responses", `{"model":"answer"}`).ID
	unstored := ask(t, p, "/v1/responses", `{"model":"answer","store":false}`).ID
	second := ask(t, p, "/v1/responses", `{"model":"events","previous_response_id":"`+first+`"}`).ID
	gone := ask(t, p, "/v1/responses", `{"model":"answer"}`).ID
	p.acct.remove(gone)
	cases := []struct {
		name      string
		at        *Provider
		path      string
		model, id string
		refused   bool
	}{
		{"known", p, "/v1/responses", "answer", first, false},
		{"known, two deep", p, "/v1/responses", "answer", second, false},
		{"of the same account", same, "/v1/responses", "answer", first, false},
		{"of another account", other, "/v1/responses", "answer", first, true},
		{"never made", p, "/v1/responses", "answer", "resp_nobody", true},
		{"not stored", p, "/v1/responses", "answer", unstored, true},
		{"deleted", p, "/v1/responses", "answer", gone, true},
		{"compact", p, "/v1/responses/compact", "answer", "resp_nobody", true},
		{"compact of a known one", p, "/v1/responses/compact", "answer", first, false},
		{"input_tokens", p, "/v1/responses/input_tokens", "answer", "resp_nobody", true},
		{"another API's field", p, "/v1/chat/completions", "answer", "resp_nobody", false},
		{"said event by event", p, "/v1/responses", "events", "resp_nobody", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := ask(t, c.at, c.path, fmt.Sprintf(`{"model":%q,"previous_response_id":%q}`, c.model, c.id))
			e := got.Error
			switch {
			case !c.refused && (got.status != 200 || e.Message != ""):
				t.Errorf("%+v", got)
			case c.refused && (got.status != 400 || e.Message != fmt.Sprintf(notFound, c.id) || e.Type != "invalid_request_error" ||
				e.Code != "previous_response_not_found" || e.Param != "previous_response_id"):
				t.Errorf("%+v", got)
			}
		})
	}
	if got := ask(t, p, "/v1/responses", `{"model":"fails","previous_response_id":"resp_nobody"}`); got.status != 500 {
		t.Errorf("a scripted failure: %+v", got)
	}
	p.Reset()
	if got := ask(t, p, "/v1/responses", `{"model":"answer","previous_response_id":"`+first+`"}`); got.status != 400 {
		t.Errorf("after a reset: %+v", got)
	}
}

// A response whose stream broke off was made all the same.
func TestBrokenResponseIsContinued(t *testing.T) {
	p := talkative(nil)
	w := httptest.NewServer(p)
	defer w.Close()
	resp, err := http.Post(w.URL+"/v1/responses", "application/json", strings.NewReader(`{"model":"broken","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := ask(t, p, "/v1/responses", `{"model":"answer","previous_response_id":"resp_000001"}`); got.status != 200 {
		t.Errorf("%+v", got)
	}
}

// The output of a tool call belongs to a call of the input, or of what is continued.
func TestToolOutputs(t *testing.T) {
	p := talkative(nil)
	first := ask(t, p, "/v1/responses", `{"model":"tool"}`)
	called, made := first.ID, first.Output[0].CallID
	later := ask(t, p, "/v1/responses", `{"model":"answer","previous_response_id":"`+called+`","input":"wait"}`).ID
	given := ask(t, p, "/v1/responses", `{"model":"answer","input":[{"type":"custom_tool_call","call_id":"call_9","name":"x","input":""}]}`).ID
	output := func(kind, id string) string {
		return fmt.Sprintf(`{"type":"%s_output","call_id":%q,"output":""}`, kind, id)
	}
	call := `{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"},`
	cases := []struct {
		name, previous, input string
		message               string
	}{
		{"a call in the input", "", call + output("function_call", "call_1"), ""},
		{"no call", "", output("function_call", "call_1"), "No tool call found for function call output with call_id call_1."},
		{"another call", "", call + output("function_call", "call_2"), "No tool call found for function call output with call_id call_2."},
		{"no custom call", "", output("custom_tool_call", "c"), "No tool call found for custom tool call output with call_id c."},
		{"a call before", called, output("function_call", made), ""},
		{"a call two before", later, output("function_call", made), ""},
		{"a call in an earlier input", given, output("custom_tool_call", "call_9"), ""},
		{"not called before", later, output("function_call", "call_2"), "No tool call found for function call output with call_id call_2."},
		{"a call that is referred to", "", `{"type":"item_reference","id":"fc_1"},` + output("function_call", "call_1"), ""},
		{"the output of a hosted call", "", `{"type":"web_search_call","id":"ws_1"}`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			previous := "null"
			if c.previous != "" {
				previous = `"` + c.previous + `"`
			}
			got := ask(t, p, "/v1/responses", `{"model":"answer","previous_response_id":`+previous+`,"input":[`+c.input+`]}`)
			want := 200
			if c.message != "" {
				want = 400
			}
			if got.status != want || got.Error.Message != c.message || (want == 400 && (got.Error.Param != "input" || got.Error.Code != "")) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Function tools come back with every member that the API has for them; others, and what was said, as they came.
func TestToolsAreEchoed(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"function","name":"f"}`:                                                 `{"type":"function","name":"f","description":null,"parameters":null,"strict":true}`,
		`{"strict":false,"name":"f","type":"function","parameters":{"a":1.50}}`:          `{"strict":false,"name":"f","type":"function","parameters":{"a":1.50},"description":null}`,
		`{"type":"function","name":"f","description":"d","parameters":{},"strict":null}`: `{"type":"function","name":"f","description":"d","parameters":{},"strict":true}`,
		`{"type":"web_search","filters":null}`:                                           `{"type":"web_search","filters":null}`,
		`"odd"`:                                                                          `"odd"`,
	} {
		got := ask(t, talkative(nil), "/v1/responses", `{"model":"answer","tools":[`+in+`]}`)
		if len(got.Tools) != 1 || string(got.Tools[0]) != want {
			t.Errorf("%s came back as %s", in, got.Tools)
		}
	}
	if got := ask(t, talkative(nil), "/v1/responses", `{"model":"answer","tools":null}`); got.Tools == nil || len(got.Tools) != 0 {
		t.Errorf("no tools: %s", got.Tools)
	}
}

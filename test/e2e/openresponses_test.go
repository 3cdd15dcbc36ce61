package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"rubicon/internal/lab/sim"
	"rubicon/test/stand"
)

// These are the cases of the public Open Responses suite, in our own words: a
// gateway in front of the scripted provider passes all of them, whichever of its
// models they are run with. One of them (that a response object may name the
// phase of a message) sends nothing there; here such an answer goes through.

const openResponsesConfig = `
channels:
  - {name: ch, protocol: responses, base_url: "{up}", allow_private: true, credentials: [{name: k, key: "{key}"}]}
models:
  - {name: talk, price: {input: "1", output: "1"}, channels: [{channel: ch, upstream_model: ok}]}
  - {name: tool, price: {input: "1", output: "1"}, channels: [{channel: ch, upstream_model: ok-tool}]}
  - {name: phases, price: {input: "1", output: "1"}, channels: [{channel: ch, upstream_model: phases}]}
`

const phasedOutput = `[{"id":"msg_1","type":"message","status":"completed","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"Let me see.","annotations":[]}]},` +
	`{"id":"msg_2","type":"message","status":"completed","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"Four.","annotations":[]}]}]`

func openResponses(t *testing.T) *stand.Gateway {
	scripts := sim.CatalogScripts()
	scripts["phases"] = sim.Play(sim.Step{Do: "answer", Text: "Four.", Output: json.RawMessage(phasedOutput)})
	return stand.Start(t, stand.Options{Config: openResponsesConfig, Peers: map[string]stand.Peer{"up": sim.New(sim.Options{Scripts: scripts})}})
}

// userSays and assistantSays are messages of a conversation.
func userSays(text string) string {
	return fmt.Sprintf(`{"type":"message","role":"user","content":%q}`, text)
}
func assistantSays(text, more string) string {
	return fmt.Sprintf(`{"type":"message","role":"assistant","content":%q%s}`, text, more)
}

const weatherTool = `"tools":[{"type":"function","name":"weather","description":"The weather somewhere.","parameters":{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}}]`

func TestOpenResponsesHTTP(t *testing.T) {
	s := openResponses(t)
	picture := `{"type":"message","role":"user","content":[{"type":"input_text","text":"What is it?"},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]}`
	cases := []struct {
		name, path, members string
		stream              bool
		only                string // the model that it is about; any if empty
		status              int    // 200 if 0
		item                string // a type of item that is in the output
	}{
		{name: "a text", members: `"input":[` + userSays("Say hello.") + `]`},
		{name: "phases in the input", members: `"input":[` + assistantSays("Looking.", `,"phase":"commentary"`) + `,` + assistantSays("Four.", `,"phase":"final_answer"`) + `,` + userSays("Again?") + `]`},
		{name: "phases in the output", only: "phases", members: `"input":"How many?"`, item: "message"},
		{name: "a stream", stream: true, members: `"input":[` + userSays("Count.") + `]`},
		{name: "a system message", members: `"input":[{"type":"message","role":"system","content":"Be brief."},` + userSays("Hello.") + `]`},
		{name: "a tool call", only: "tool", members: `"input":[` + userSays("Will it rain?") + `],` + weatherTool, item: "function_call"},
		{name: "a tool call in a stream", only: "tool", stream: true, members: `"input":[` + userSays("Will it rain?") + `],` + weatherTool, item: "function_call"},
		{name: "a picture", members: `"input":[` + picture + `]`},
		{name: "several turns", members: `"input":[` + userSays("I am Ann.") + `,` + assistantSays("Hello Ann.", "") + `,` + userSays("Who am I?") + `]`},
		{name: "compaction", path: "/compact", members: `"prompt_cache_key":"one","input":[` + userSays("Tuesday, then.") + `,` + assistantSays("Tuesday.", "") + `]`, item: "compaction"},
		{name: "compaction without a model", path: "/compact", only: "none", members: `"input":[` + userSays("Tuesday.") + `]`, status: 400},
	}
	for _, c := range cases {
		for _, model := range []string{"talk", "tool", "phases", "none"} {
			if c.only != "" && c.only != model || c.only == "" && model == "none" {
				continue
			}
			t.Run(c.name+" of "+model, func(t *testing.T) {
				body := fmt.Sprintf(`{"model":%q,"stream":%v,%s}`, model, c.stream, c.members)
				if model == "none" {
					body = "{" + c.members + "}"
				}
				got := s.Post(s.Default, "/v1/responses"+c.path, body)
				if want := max(c.status, http.StatusOK); got.Status != want {
					t.Fatalf("status %d: %s", got.Status, got.Body)
				}
				if c.status != 0 {
					return
				}
				final := got.Body
				if c.stream {
					final = streamed(t, got)
				}
				checkFinal(t, final, c.path == "/compact", c.item)
			})
		}
	}
}

// streamed checks every event of a stream and gives the final response.
func streamed(t *testing.T, got stand.Reply) (final string) {
	t.Helper()
	events, err := got.Events()
	if err != nil || len(events) == 0 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	for _, ev := range events {
		if r := checkEvent(t, ev.Data); r != "" {
			final = r
		}
	}
	return final
}

// wsTurn is what a turn on a socket has to come to: a completed response, any
// failure, or the failure with this code.
type wsTurn struct {
	members string // $PREV is the id of the connection's first response, $LOST that of another connection
	end     string
}

const completed, anyFailure, notFound = "completed", "failure", "previous_response_not_found"

func TestOpenResponsesWebSocket(t *testing.T) {
	s := openResponses(t)
	first := wsTurn{`"store":false,"input":"Remember amber."`, completed}
	cases := []struct {
		name  string
		turns []wsTurn
	}{
		{"a response", []wsTurn{{`"input":[` + userSays("Count.") + `]`, completed}}},
		{"one after the other", []wsTurn{first, {`"store":false,"input":"Second."`, completed}}},
		{"a continuation", []wsTurn{first, {`"store":false,"previous_response_id":"$PREV","input":"Which word?"`, completed}}},
		{"after reconnecting", []wsTurn{{`"store":false,"previous_response_id":"$LOST","input":"Go on."`, notFound}, {`"store":false,"input":[` + userSays("Anew.") + `]`, completed}}},
		{"of what never was", []wsTurn{{`"store":false,"previous_response_id":"resp_never","input":"Go on."`, notFound}}},
		{"a failed continuation forgets", []wsTurn{first,
			{`"store":false,"previous_response_id":"$PREV","input":[{"type":"function_call_output","call_id":"call_never","output":"nothing"}]`, anyFailure},
			{`"store":false,"previous_response_id":"$PREV","input":"Which word?"`, notFound}}},
		{"after a compaction", []wsTurn{{`"store":false,"tools":[],"input":$COMPACTED`, completed}}},
	}
	for _, model := range []string{"talk", "tool"} {
		base := compacted(t, s, model)
		lost := converse(t, s, model, []wsTurn{first}, nil)
		for _, c := range cases {
			t.Run(c.name+" of "+model, func(t *testing.T) {
				converse(t, s, model, c.turns, strings.NewReplacer("$LOST", lost, "$COMPACTED", base))
			})
		}
	}
}

// compacted compacts a conversation and gives the input that goes on from there.
func compacted(t *testing.T, s *stand.Gateway, model string) string {
	t.Helper()
	got := s.Post(s.Default, "/v1/responses/compact", fmt.Sprintf(`{"model":%q,"input":[%s]}`, model, userSays("Remember slate.")))
	var c struct{ Output []json.RawMessage }
	if err := json.Unmarshal([]byte(got.Body), &c); err != nil || got.Status != 200 {
		t.Fatalf("compacting: %d %s", got.Status, got.Body)
	}
	input, _ := json.Marshal(append(c.Output, json.RawMessage(userSays("Go on."))))
	return string(input)
}

// converse plays turns on a connection and gives the id of its first response.
func converse(t *testing.T, s *stand.Gateway, model string, turns []wsTurn, names *strings.Replacer) (prev string) {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/v1/responses",
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + s.Default.Key}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close(websocket.StatusNormalClosure, "")
	for i, turn := range turns {
		members := strings.ReplaceAll(turn.members, "$PREV", prev)
		if names != nil {
			members = names.Replace(members)
		}
		if err := ws.Write(t.Context(), websocket.MessageText, []byte(fmt.Sprintf(`{"type":"response.create","model":%q,%s}`, model, members))); err != nil {
			t.Fatal(err)
		}
		end, id := hear(t, ws)
		if end != turn.end && !(turn.end == anyFailure && end != completed) {
			t.Errorf("turn %d ended with %s, not %s", i+1, end, turn.end)
		}
		if prev == "" {
			prev = id
		}
	}
	return prev
}

// hear reads a turn to its end: completed, or the code of its failure.
func hear(t *testing.T, ws *websocket.Conn) (end, id string) {
	t.Helper()
	for {
		_, data, err := ws.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		final := checkEvent(t, string(data))
		var e struct {
			Type  string
			Error struct{ Code string }
		}
		_ = json.Unmarshal(data, &e)
		switch {
		case e.Type == "error":
			return e.Error.Code, ""
		case final != "":
			return completed, checkFinal(t, final, false, "")
		}
	}
}

package wsapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
)

// inputOf gives the input items that upstream got, byte for byte.
func inputOf(t *testing.T, call sim.Call) []json.RawMessage {
	t.Helper()
	var body struct {
		Input []json.RawMessage
		Prev  string `json:"previous_response_id"`
		Store *bool
		Model string
	}
	if err := json.Unmarshal([]byte(call.Body), &body); err != nil {
		t.Fatalf("%v in %s", err, call.Body)
	}
	if body.Prev != "" || body.Store == nil || *body.Store {
		t.Errorf("upstream got %s", call.Body)
	}
	return body.Input
}

func equal(t *testing.T, got []json.RawMessage, want ...string) {
	t.Helper()
	var g []string
	for _, raw := range got {
		g = append(g, string(raw))
	}
	if strings.Join(g, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(g, "\n"), strings.Join(want, "\n"))
	}
}

// odd are output items that no encoder writes the same way.
const (
	oddReasoning = `{"type" : "reasoning","id":"rs_1", "summary":[],"encrypted_content":"gAAA\u0041=","x":1.50}`
	oddCall      = `{ "type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{\"a\": 1}","status":"completed" }`
)

func TestAContinuationIsSelfContained(t *testing.T) {
	first := sim.Calls(
		[]sim.Step{sim.Raw("data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n" +
			"data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"x\",\"id\":\"not this\"}}\n\n" +
			"data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"output\":[ " + oddReasoning + " ,\t" + oddCall + "],\"usage\":{\"input_tokens\":10,\"output_tokens\":5}}}\n\n"), sim.End()},
		[]sim.Step{{Do: "answer", ID: "resp_2", Text: "two", Usage: sim.Tokens(10, 0, 5)}},
		[]sim.Step{sim.Answer("three", sim.Tokens(10, 0, 5))})
	w := start(t, "", first, hello())
	c := w.dial()
	c.create(`"input":[ {"role" : "user","content":"one"} ],"tools":[]`)
	c.good()
	output := `{"type":"function_call_output","call_id":"call_1",  "output":"42"}`
	c.create(`"previous_response_id":"resp_1","input":[` + output + `],"temperature":0.10`)
	two := c.good()
	c.create(`"previous_response_id":"resp_2","input":"three"`)
	c.good()
	calls := w.a.Calls("up-a")
	one := `{"role" : "user","content":"one"}`
	equal(t, inputOf(t, calls[1]), one, oddReasoning, oddCall, output)
	if !strings.Contains(calls[1].Body, `"temperature":0.10`) || strings.Contains(calls[1].Body, "previous_response_id") {
		t.Errorf("upstream got %s", calls[1].Body)
	}
	equal(t, inputOf(t, calls[2]), one, oddReasoning, oddCall, output, string(two.Response.Output[0]),
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"three"}]}`)
}

// TestDoneItemsStandIn: a provider whose terminal event has no output.
func TestDoneItemsStandIn(t *testing.T) {
	a := sim.Calls([]sim.Step{sim.Raw("data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n" +
		"data: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":" + oddCall + "}\n\n" +
		"data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":" + oddReasoning + "}\n\n" +
		"data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"output\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":5}}}\n\n"), sim.End()},
		[]sim.Step{sim.Answer("two", nil)})
	w := start(t, "", a, hello())
	c := w.dial()
	c.create(`"store":false`)
	c.good()
	c.create(`"previous_response_id":"resp_1","store":null`)
	c.good()
	equal(t, inputOf(t, w.a.Calls("up-a")[1]), oddReasoning, oddCall)
}

// chain runs one turn and gives its response's id.
func (c *client) chain(members string) string {
	c.t.Helper()
	c.create(members)
	return c.good().Response.ID
}

func TestAContinuationIsReplayed(t *testing.T) {
	for name, tt := range map[string]struct {
		config   string
		attempts int
	}{"on": {"", 2}, "off": {"replay: {default_store: false, local_continuations: false}", 1}} {
		t.Run(name, func(t *testing.T) {
			a := sim.Calls([]sim.Step{sim.Answer("one", nil)}, []sim.Step{sim.Created(), sim.Failed("server_error")})
			w := start(t, tt.config, a, hello())
			c := w.dial()
			c.create(`"previous_response_id":"` + c.chain(`"input":"one"`) + `","input":"two"`)
			c.turn()
			if r := w.last(); len(r.Attempts) != tt.attempts {
				t.Errorf("attempts %+v", r.Attempts)
			} else if reason := r.Attempts[0].Reason; reason != map[int]string{1: "stateful_continuation", 2: "replay_failed_event"}[tt.attempts] {
				t.Errorf("reason %s", reason)
			}
		})
	}
}

func TestStoredAndForeignAndUnknown(t *testing.T) {
	w := start(t, "replay: {default_store: upstream}", hello(), hello())
	c := w.dial()
	missing := func(c *client, id string) {
		t.Helper()
		before := len(w.a.Calls("")) + len(w.b.Calls(""))
		c.create(`"store":false,"previous_response_id":"` + id + `","input":"two"`)
		if f := c.refused("previous_response_not_found", 400); f.Error.Param != "previous_response_id" {
			t.Errorf("param in %s", f.raw)
		}
		if got := len(w.a.Calls("")) + len(w.b.Calls("")); got != before {
			t.Error("upstream was called")
		}
	}
	stored := c.chain(`"input":"one"`) // store is absent: providers keep it
	explicit := c.chain(`"input":"one","store":true`)
	local := c.chain(`"input":"one","store":false`)
	for i, id := range []string{stored, explicit} {
		c.chain(`"previous_response_id":"` + id + `","input":"two"`)
		calls := w.a.Calls("up-a")
		if last := calls[len(calls)-1].Body; !strings.Contains(last, `"previous_response_id":"`+id+`"`) || !strings.Contains(last, `"input":"two"`) {
			t.Errorf("stored %d: upstream got %s", i, last)
		}
	}
	other := w.dial() // the same customer, another connection
	missing(other, local)
	foreign := dialAs(t, w.Gateway, w.NewCustomer("1.00"))
	for _, id := range []string{local, stored, explicit, "resp_never"} {
		missing(foreign, id)
	}
	c.chain(`"previous_response_id":"` + local + `","input":"two","store":false`)
	// A local continuation that is to be stored is: it goes on upstream.
	kept := c.chain(`"previous_response_id":"` + local + `","input":"two","store":true`)
	c.chain(`"previous_response_id":"` + kept + `","input":"three"`)
	calls := w.a.Calls("up-a")
	if last := calls[len(calls)-1].Body; !strings.Contains(last, kept) {
		t.Errorf("upstream got %s", last)
	}
}

// TestUnstoredOnTopOfStored: what continues a stored response without being
// stored itself is continued from both.
func TestUnstoredOnTopOfStored(t *testing.T) {
	w := start(t, "replay: {default_store: upstream}", hello(), hello())
	c := w.dial()
	stored := c.chain(`"input":"one"`)
	for _, step := range []string{`"store":false`, `"generate":false`} {
		c2 := c.chain(`"input":"two","previous_response_id":"` + stored + `",` + step)
		c.chain(`"input":"three","previous_response_id":"` + c2 + `"`)
		calls := w.a.Calls("up-a")
		body := calls[len(calls)-1].Body
		if !strings.Contains(body, `"previous_response_id":"`+stored+`"`) || !strings.Contains(body, `"two"`) || !strings.Contains(body, `"three"`) ||
			strings.Contains(body, `"one"`) || !strings.Contains(body, `"store":false`) {
			t.Errorf("%s: upstream got %s", step, body)
		}
	}
}

func TestTheGatewaysStoreOptionIsNamed(t *testing.T) {
	w := start(t, "", hello(), hello())
	id := w.dial().chain(`"input":"one"`)
	c := w.dial()
	c.create(`"previous_response_id":"` + id + `"`)
	if f := c.refused("previous_response_not_found", 400); !strings.Contains(f.Error.Message, "default_store") {
		t.Errorf("message %q", f.Error.Message)
	}
}

func TestAFailedContinuationForgetsItsParent(t *testing.T) {
	a := sim.Calls([]sim.Step{sim.Answer("one", nil)}, []sim.Step{sim.Created(), sim.Item("message"), sim.Part(), sim.Text("x"), sim.Reset()},
		[]sim.Step{sim.Answer("one", nil)}, []sim.Step{sim.ReplyError(400, "invalid_prompt")}, []sim.Step{sim.Answer("one", nil)})
	w := start(t, "", a, hello())
	c := w.dial()
	for range 2 {
		id := c.chain(`"input":"one"`)
		c.create(`"input":"two","previous_response_id":"` + id + `"`)
		c.turn()
		c.create(`"input":"two","previous_response_id":"` + id + `"`)
		c.refused("previous_response_not_found", 400)
	}
	// Refused before an attempt: the parent stays.
	id := c.chain(`"input":"one"`)
	c.create(`"background":true,"previous_response_id":"` + id + `"`)
	c.refused("unsupported_parameter", 400)
	c.create(`"service_tier":"gold","previous_response_id":"` + id + `"`)
	c.refused("unsupported_parameter", 400)
	c.chain(`"input":"two","previous_response_id":"` + id + `"`)
}

func TestMemoryForgetsTheLeastRecentlyUsed(t *testing.T) {
	w := start(t, "ws: {memory: 10KiB}", hello(), hello())
	c := w.dial()
	text := func(n int) string { return fmt.Sprintf(`"input":"%s"`, strings.Repeat("x", n)) }
	one, two := c.chain(text(3000)), c.chain(text(3000))
	c.chain(`"previous_response_id":"` + one + `"`) // one is used; the new one pushes two out
	c.create(`"previous_response_id":"` + two + `"`)
	c.refused("previous_response_not_found", 400)
	c.chain(`"previous_response_id":"` + one + `"`)
	huge := c.chain(text(20000)) // alone too large: nothing is forgotten for it
	c.create(`"previous_response_id":"` + huge + `"`)
	c.refused("previous_response_not_found", 400)
	c.chain(`"previous_response_id":"` + one + `"`)
}

// TestSealedItemsGoHome: encrypted reasoning is bound to the account that made
// it; while that is away, the client is told to resend.
func TestSealedItemsGoHome(t *testing.T) {
	sealed := "data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n" +
		"data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"output\":[" + oddReasoning + "],\"usage\":{\"input_tokens\":10,\"output_tokens\":5}}}\n\n"
	b := sim.Calls([]sim.Step{sim.Raw(sealed), sim.End()}, []sim.Step{sim.Answer("two", nil)})
	w := start(t, "", hello(), b)
	w.Operate("POST", "/admin/v1/channels/ch-a/pause", map[string]any{"reason": "x"}, nil)
	c := w.dial()
	c.chain(`"input":"one"`)
	w.Operate("POST", "/admin/v1/channels/ch-a/resume", map[string]any{"reason": "x"}, nil)
	two := c.chain(`"input":"two","previous_response_id":"resp_1"`)
	if len(w.a.Calls("")) != 0 || len(w.b.Calls("up-b")) != 2 {
		t.Errorf("calls %d, %d", len(w.a.Calls("")), len(w.b.Calls("up-b")))
	}
	w.Operate("POST", "/admin/v1/channels/ch-b/pause", map[string]any{"reason": "x"}, nil)
	c.create(`"input":"three","previous_response_id":"` + two + `"`)
	if f := c.refused("previous_response_not_found", 400); f.Error.Param != "previous_response_id" {
		t.Errorf("got %s", f.raw)
	}
	if r := w.last(); r.Outcome != journal.OutcomeRejected {
		t.Errorf("record %+v", r)
	}
	// Without sealed items an unavailable model is what it is.
	w.Operate("POST", "/admin/v1/channels/ch-a/pause", map[string]any{"reason": "x"}, nil)
	c.create(`"generate":false,"input":"plain"`)
	plain := c.good().Response.ID
	c.create(`"previous_response_id":"` + plain + `"`)
	c.refused("all_channels_failed", 503)
}

func TestConversationsAreNotRemembered(t *testing.T) {
	w := start(t, "state: {unknown_ids: pass}", hello(), hello())
	c := w.dial()
	id := c.chain(`"input":"one","conversation":"conv_1"`)
	c.create(`"previous_response_id":"` + id + `"`)
	c.refused("previous_response_not_found", 400)
}

func TestUnknownIDsPass(t *testing.T) {
	// Event by event, because a whole answer is only for responses that the provider made.
	knows := sim.Play(sim.Created(), sim.Item("message"), sim.Part(), sim.Text("Hello"), sim.Completed(sim.Tokens(10, 0, 5)))
	w := start(t, "state: {unknown_ids: pass}", knows, hello())
	c := w.dial()
	c.chain(`"previous_response_id":"resp_elsewhere","input":"x"`)
	if body := w.a.Calls("up-a")[0].Body; !strings.Contains(body, "resp_elsewhere") {
		t.Errorf("upstream got %s", body)
	}
}

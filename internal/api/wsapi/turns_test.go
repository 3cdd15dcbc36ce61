package wsapi_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
	"rubicon/internal/wire/sse"
)

func TestATurnIsUpstreamsBytes(t *testing.T) {
	// Fixed ids and bytes, odd spacing, a field over several lines, CRLF, comments.
	raw := ": hi\r\n\r\nevent: response.created\r\ndata: {\"type\":\"response.created\",  \"response\":{\"id\":\"resp_raw\",\"odd\":1}}\r\n\r\n" +
		"data: {\"type\":\"keepalive\"}\n\n" +
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\ndata: \"delta\":\"Hé\\u00e9\"}\n\n" +
		": still here\n\n" +
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_raw\",\"status\":\"completed\",\"usage\":{\"input_tokens\":10,\"output_tokens\":5}}}\n\n"
	w := start(t, "", sim.Play(sim.Raw(raw), sim.End()), hello())
	c := w.dial()
	c.create(`"input":"hi"`)
	var got []string
	for _, f := range c.turn() {
		got = append(got, f.raw)
	}
	d := sse.NewDecoder(strings.NewReader(raw), 1<<20)
	defer d.Release()
	var want []string
	for f, err := d.Next(); err == nil; f, err = d.Next() {
		if f.HasData {
			want = append(want, string(f.Data))
		}
	}
	if len(want) != 4 || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	r := w.by("resp_raw")
	if r.Surface != journal.SurfaceResponsesWS || r.Charge.String() != paid || !r.Stream || r.Outcome != journal.OutcomeCompleted {
		t.Errorf("record %+v", r)
	}
	body := w.a.Calls("up-a")[0].Body
	if body != `{"store":false,"stream":true,"model":"up-a","input":"hi"}` {
		t.Errorf("upstream got %s", body)
	}
}

func TestTextThatIsNoUTF8StaysAFrame(t *testing.T) {
	w := start(t, "", sim.Play(sim.Raw("data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\xffb\"}\n\n"), sim.Answer("x", nil)), hello())
	c := w.dial()
	c.create(`"input":"hi"`)
	if f := c.next(); f.Delta != "a\uFFFDb" {
		t.Errorf("got %q", f.raw)
	}
	c.good()
}

func TestTurnsHaveTheirOwnRequests(t *testing.T) {
	w := start(t, "", hello(), hello())
	c := w.dial("X-Client-Request-Id", "mine", "OpenAI-Beta", "responses_websockets=2026-02-06, other=1")
	var ids []string
	for range 3 {
		c.create(`"input":"hi"`)
		r := w.by(c.good().Response.ID)
		if r.ClientRequestID != "mine" || r.Charge.String() != paid {
			t.Errorf("record %+v", r)
		}
		ids = append(ids, r.RequestID)
	}
	if ids[0] == ids[1] || ids[1] == ids[2] || c.resp.Header.Get("X-Request-Id") == ids[0] {
		t.Errorf("ids %v", ids)
	}
	for _, call := range w.a.Calls("up-a") {
		if beta := call.Header.Get("Openai-Beta"); beta != "other=1" {
			t.Errorf("upstream got OpenAI-Beta %q", beta)
		}
	}
}

// TestReplayIsNotSeen: the second attempt's events alone.
func TestReplayIsNotSeen(t *testing.T) {
	for name, bad := range map[string]sim.Script{
		"failed event":     sim.Play(sim.Created(), sim.InProgress(), sim.Failed("server_is_overloaded")),
		"error and failed": sim.Play(sim.Created(), sim.Error("server_error"), sim.Wait(50*time.Millisecond), sim.Failed("server_is_overloaded")),
		"error alone":      sim.Play(sim.Created(), sim.Error("server_error"), sim.End()),
		"500":              sim.Play(sim.ReplyError(500, "server_error")),
		"reset":            sim.Play(sim.Reply(200), sim.Reset()),
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, "", bad, hello())
			c := w.dial()
			c.create(`"input":"hi"`)
			all := c.turn()
			if last := all[len(all)-1]; last.Type != "response.completed" || !strings.HasPrefix(last.Response.ID, "resp_b") {
				t.Errorf("ended with %s", last.raw)
			}
			for _, f := range all {
				if f.Response.ID != "" && !strings.HasPrefix(f.Response.ID, "resp_b") {
					t.Errorf("a frame of the first attempt: %s", f.raw)
				}
			}
			r := w.by(all[len(all)-1].Response.ID)
			if len(r.Attempts) != 2 || r.Attempts[0].Verdict != "replay" || r.Charge.String() != paid {
				t.Errorf("record %+v", r)
			}
		})
	}
}

// TestFailures: one ending frame each, with the status that clients insist on.
func TestFailures(t *testing.T) {
	open := []sim.Step{sim.Created(), sim.Item("message"), sim.Part(), sim.Text("Hel")}
	play := func(more ...sim.Step) sim.Script { return sim.Play(append(append([]sim.Step{}, open...), more...)...) }
	for _, tt := range []struct {
		name       string
		a          sim.Script
		store      string // no replay with true
		typ, code  string
		status     int
		retryAfter string
		before     string // types before the ending
		outcome    journal.Outcome
	}{
		{name: "cut after output", a: play(sim.Wait(20*time.Millisecond), sim.Reset()), typ: "error", code: "stream_read_error", status: 502,
			before: "response.created response.output_item.added response.content_part.added response.output_text.delta", outcome: journal.OutcomePartial},
		{name: "clean end after output", a: play(sim.End()), typ: "error", code: "stream_read_error", status: 502,
			before: "response.created response.output_item.added response.content_part.added response.output_text.delta", outcome: journal.OutcomePartial},
		{name: "failed after output", a: play(sim.Failed("server_error")), typ: "response.failed", code: "server_error",
			before: "response.created response.output_item.added response.content_part.added response.output_text.delta", outcome: journal.OutcomePartial},
		{name: "error after output", a: play(sim.Error("server_error"), sim.End()), typ: "error", code: "server_error", status: 502,
			before: "response.created response.output_item.added response.content_part.added response.output_text.delta", outcome: journal.OutcomePartial},
		{name: "error, then failed, after output", a: play(sim.Error("server_error"), sim.Wait(20*time.Millisecond), sim.Failed("server_is_overloaded")), typ: "response.failed", code: "server_is_overloaded",
			before: "response.created response.output_item.added response.content_part.added response.output_text.delta", outcome: journal.OutcomePartial},
		{name: "failed first", a: sim.Play(sim.Failed("server_error")), store: "true", typ: "response.failed", code: "server_error", outcome: journal.OutcomeFailed},
		{name: "failed behind held events", a: sim.Play(sim.Created(), sim.Failed("server_error")), store: "true", typ: "response.failed", code: "server_error",
			before: "response.created", outcome: journal.OutcomeFailed},
		{name: "nested error behind held events", a: sim.Play(sim.Created(), sim.Error("rate_limit_exceeded"), sim.End()), store: "true", typ: "error", code: "rate_limit_exceeded", status: 429, retryAfter: "1",
			before: "response.created", outcome: journal.OutcomeFailed},
		{name: "flat error", a: sim.Play(sim.Created(), sim.Step{Do: "error", Code: "server_error", Flat: true}, sim.End()), store: "true", typ: "error", code: "server_error", status: 502,
			before: "response.created", outcome: journal.OutcomeFailed},
		{name: "untyped error", a: sim.Play(sim.Created(), sim.Event("", `{"error":{"code":"server_error","message":"x"}}`), sim.End()), store: "true", typ: "error", code: "server_error", status: 502,
			before: "response.created", outcome: journal.OutcomeFailed},
		{name: "error as a string", a: sim.Play(sim.Created(), sim.Event("error", `"boom"`), sim.End()), store: "true", typ: "error", status: 502,
			before: "response.created", outcome: journal.OutcomeFailed},
		{name: "400", a: sim.Play(sim.ReplyError(400, "context_length_exceeded")), typ: "error", code: "context_length_exceeded", status: 400, outcome: journal.OutcomeFailed},
		{name: "429", a: sim.Play(sim.Step{Do: "fail", Status: 429, Code: "rate_limit_exceeded", RetryAfter: "7"}), typ: "error", code: "all_channels_failed", status: 503, outcome: journal.OutcomeRejected, store: "two"},
		{name: "read error behind held events", a: sim.Play(sim.Created(), sim.Wait(20*time.Millisecond), sim.Reset()), typ: "error", code: "stream_read_error", status: 502,
			before: "response.created", outcome: journal.OutcomeFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := hello()
			if tt.store == "two" {
				b = tt.a
			}
			w := start(t, "", tt.a, b)
			c := w.dial()
			members := `"input":"hi"`
			switch tt.store {
			case "true":
				members += `,"store":true`
			case "two": // the first create cools both channels down
				c.create(members)
				if f := c.turn(); f[0].Status != 429 || f[0].Headers["retry-after"] == "" || f[0].Error.RetryAfter == nil {
					t.Errorf("got %s", f[0].raw)
				}
			}
			c.create(members)
			all := c.turn()
			last := all[len(all)-1]
			code := cmp.Or(last.Code, last.Error.Code, last.Response.Error.Code)
			if last.Type != tt.typ || code != tt.code || last.Status != tt.status {
				t.Errorf("ended with %s", last.raw)
			}
			if before := types(all[:len(all)-1]); before != tt.before {
				t.Errorf("before the ending: %s", before)
			}
			if tt.retryAfter != "" && last.Headers["retry-after"] != tt.retryAfter {
				t.Errorf("headers %v", last.Headers)
			}
			if r := w.last(); r.Outcome != tt.outcome {
				t.Errorf("outcome %s, want %s", r.Outcome, tt.outcome)
			}
			if err := w.a.Script("up-a", hello()); err != nil {
				t.Fatal(err)
			}
			if tt.store == "two" {
				return
			}
			c.create(`"input":"again"`)
			c.good()
		})
	}
}

// slow is a first answer that takes its time.
func slow() sim.Script {
	return sim.Calls([]sim.Step{sim.Created(), sim.Item("message"), sim.Part(), sim.Text("first"), sim.Wait(700 * time.Millisecond), sim.Completed(sim.Tokens(10, 0, 5))},
		[]sim.Step{sim.Answer("next", sim.Tokens(10, 0, 5))})
}

func TestTheQueueKeepsOrderAndIsBounded(t *testing.T) {
	w := start(t, "", slow(), hello())
	c := w.dial()
	c.create(`"input":"turn 0"`)
	for c.next().Type != "response.output_text.delta" { // it runs
	}
	for i := range 7 {
		c.create(fmt.Sprintf(`"input":"turn %d"`, i+1))
	}
	for range 3 {
		f := c.refused("response_already_active", 429)
		if f.Error.RetryAfter == nil || f.Headers["retry-after"] == "" {
			t.Errorf("no delay in %s", f.raw)
		}
		if r := w.Record(f.Error.RequestID); r.Outcome != journal.OutcomeRejected || r.PublicModel != "m" {
			t.Errorf("record %+v", r)
		}
	}
	for range 5 {
		c.good()
	}
	calls := w.a.Calls("up-a")
	if len(calls) != 5 {
		t.Fatalf("%d upstream calls", len(calls))
	}
	for i, call := range calls {
		if want := fmt.Sprintf(`"input":"turn %d"`, i); !strings.Contains(call.Body, want) {
			t.Errorf("call %d: %s", i, call.Body)
		}
	}
}

func TestRefusedCreatesWaitForTheirTurn(t *testing.T) {
	w := start(t, "", slow(), hello())
	c := w.dial()
	c.create(`"input":"turn 0"`)
	c.create(`"input":"turn 1","background":true`)
	c.create(`"input":"turn 2"`)
	c.send(`{"type":"response.cancel"}`) // this one does not
	for {
		f := c.next()
		if f.Type == "error" && f.Error.Code == "unsupported_event" {
			break
		}
		if f.Type == "error" || f.Type == "response.completed" {
			t.Fatalf("before the cancel was refused: %s", f.raw)
		}
	}
	c.good()
	c.refused("unsupported_parameter", 400)
	c.good()
}

// TestThePlaceIsFreeBeforeTheEnding: with no queue at all a client can send the
// next create as soon as it has read an ending, of any kind.
func TestThePlaceIsFreeBeforeTheEnding(t *testing.T) {
	bad := []sim.Step{sim.Created(), sim.Item("message"), sim.Part(), sim.Text("x"), sim.Failed("server_error")}
	good := []sim.Step{sim.Answer("Hello", sim.Tokens(10, 0, 5))}
	var calls [][]sim.Step
	for i := range 60 {
		calls = append(calls, [][]sim.Step{good, bad}[i%2])
	}
	w := start(t, "ws: {queued_turns: 0}", sim.Calls(calls...), hello())
	c := w.dial()
	for i := range 60 {
		switch i % 5 {
		case 4:
			c.create(`"generate":false`)
		default:
			c.create(`"input":"hi"`)
		}
		for _, f := range c.turn() {
			if f.Error.Code == "response_already_active" {
				t.Fatalf("turn %d was refused", i)
			}
		}
	}
}

func TestWarmUp(t *testing.T) {
	w := start(t, "", hello(), hello())
	poor := w.NewCustomer("")
	c := dialAs(t, w.Gateway, poor)
	c.create(`"generate":false,"input":[{"role":"user","content":"one"}],"instructions":"be kind","tools":[]`)
	all := c.turn()
	if types(all) != "response.created response.completed" {
		t.Fatalf("got %s", types(all))
	}
	id := all[1].Response.ID
	if !strings.HasPrefix(id, "resp_") || all[0].Response.ID != id || all[1].Response.Status != "completed" || all[1].Response.Model != "m" || len(all[1].Response.Output) != 0 {
		t.Errorf("got %s", all[1].raw)
	}
	var usage map[string]any
	if err := json.Unmarshal(all[1].Response.Usage, &usage); err != nil || usage["input_tokens"] != 0.0 || usage["total_tokens"] != 0.0 {
		t.Errorf("usage %s", all[1].Response.Usage)
	}
	if n := len(w.a.Calls("")) + len(w.b.Calls("")); n != 0 {
		t.Errorf("%d upstream calls", n)
	}
	r := w.last()
	if r.ResponseID != id || r.Outcome != journal.OutcomeCompleted || r.Charge != 0 || len(r.Attempts) != 0 || len(w.Kinds(r.RequestID)) != 0 {
		t.Errorf("record %+v, transactions %v", r, w.Kinds(r.RequestID))
	}
	// It is free, but what continues it is not.
	c.create(`"previous_response_id":"` + id + `","input":"two"`)
	c.refused("insufficient_balance", 402)
	w.Operate("POST", "/admin/v1/customers/"+poor.ID+"/credits", map[string]any{"amount": "1.00", "reason": "x"}, nil)
	c.create(`"previous_response_id":"` + id + `","input":"two","instructions":"be kind"`)
	c.good()
	want := `{"stream":true,"store":false,"model":"up-a","input":[{"role":"user","content":"one"},{"type":"message","role":"user","content":[{"type":"input_text","text":"two"}]}],"instructions":"be kind"}`
	if got := w.a.Calls("up-a")[0].Body; got != want {
		t.Errorf("upstream got\n%s\nwant\n%s", got, want)
	}
}

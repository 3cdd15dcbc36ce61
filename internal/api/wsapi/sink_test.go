package wsapi

import (
	"testing"
	"time"

	"rubicon/internal/engine/turn"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

func TestFailureFrames(t *testing.T) {
	f := &fault.Error{Code: "c", Status: 502, Type: "server_error", Message: "m"}
	slow := &fault.Error{Code: "c", Status: 429, Type: "rate_limit_error", Message: "m", RetryAfter: 2500 * time.Millisecond}
	event := func(typ, data string) protocol.Event {
		return protocol.Event{Class: protocol.Failure, Type: typ, Data: []byte(data)}
	}
	object := func(f *fault.Error) string { return string(f.AppendObject(nil, "")) }
	for _, tt := range []struct {
		name string
		e    turn.ShownFailure
		want string
	}{
		{"status", turn.ShownFailure{Form: turn.FormStatus, Error: f}, string(fault.Frame(f))},
		{"ours", turn.ShownFailure{Form: turn.FormOurs, Error: slow}, string(fault.Frame(slow))},
		{"failed", turn.ShownFailure{Form: turn.FormEvent, Error: f, Events: []protocol.Event{event("response.failed", `{"type":"response.failed", "x":1}`)}}, `{"type":"response.failed", "x":1}`},
		{"failed by its name", turn.ShownFailure{Form: turn.FormEvent, Error: f, Events: []protocol.Event{{Type: "response.failed", Named: true, Data: []byte(`{"x":1}`)}}}, `{"type":"response.failed","x":1}`},
		{"error, then failed", turn.ShownFailure{Form: turn.FormEvent, Error: f, Events: []protocol.Event{event("error", `{"type":"error"}`), event("response.failed", `{"type":"response.failed"}`)}}, `{"type":"response.failed"}`},
		{"error", turn.ShownFailure{Form: turn.FormEvent, Error: f, Events: []protocol.Event{event("error", `{"type":"error", "code":"c"}`)}},
			`{"error":` + object(f) + `,"status":502,"type":"error", "code":"c"}`},
		{"nested error", turn.ShownFailure{Form: turn.FormEvent, Error: f, Events: []protocol.Event{event("error", `{"type":"error","error":{"code":7, "message":"n","type":null,"x":[1],"request_id":"theirs","retryable":"no"}}`)}},
			`{"status":502,"type":"error","error":{"param":null,"retry_after":null,"after_output":false,"code":7, "message":"n","type":"server_error","x":[1],"request_id":null,"retryable":false}}`},
		{"an error that is a text", turn.ShownFailure{Form: turn.FormEvent, Error: f, Events: []protocol.Event{event("error", `{"type":"error","error":"n"}`)}},
			`{"status":502,"type":"error","error":` + object(f) + `}`},
		{"error with a status", turn.ShownFailure{Form: turn.FormEvent, Error: f, Events: []protocol.Event{event("error", `{"type":"error","status":503}`)}},
			`{"error":` + object(f) + `,"type":"error","status":503}`},
		{"error with no real status", turn.ShownFailure{Form: turn.FormEvent, Error: f, Events: []protocol.Event{event("error", `{"type":"error","status":"failed"}`)}},
			`{"error":` + object(f) + `,"type":"error","status":502}`},
		{"error with a delay", turn.ShownFailure{Form: turn.FormEvent, Error: slow, Events: []protocol.Event{event("error", `{"type":"error"}`)}},
			`{"error":` + object(slow) + `,"headers":{"retry-after":"3"},"status":429,"type":"error"}`},
		{"error with headers", turn.ShownFailure{Form: turn.FormEvent, Error: slow, Events: []protocol.Event{event("error", `{"type":"error","headers":{"x-organization":"ours","retry-after":"3"}}`)}},
			`{"error":` + object(slow) + `,"status":429,"type":"error","headers":{"retry-after":"3"}}`},
		{"error with headers and no delay", turn.ShownFailure{Form: turn.FormEvent, Error: f, Events: []protocol.Event{event("error", `{"type":"error","headers":{"x-organization":"ours"}}`)}},
			`{"error":` + object(f) + `,"status":502,"type":"error"}`},
		{"error without a type", turn.ShownFailure{Form: turn.FormEvent, Error: f, Events: []protocol.Event{event("", `{"error":{"message":"n"}}`)}},
			`{"status":502,"type":"error","error":{"type":"server_error","code":"c","param":null,"request_id":null,"retryable":false,"retry_after":null,"after_output":false,"message":"n"}}`},
		{"no object", turn.ShownFailure{Form: turn.FormEvent, Error: f, Events: []protocol.Event{event("error", `"boom"`)}}, string(fault.Frame(f))},
		{"no event", turn.ShownFailure{Form: turn.FormEvent, Error: f}, string(fault.Frame(f))},
	} {
		if got := string(failure(tt.e)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestTypedFrames(t *testing.T) {
	for _, tt := range []struct {
		name string
		ev   protocol.Event
		want string
	}{
		{"says its type", protocol.Event{Type: "a", Data: []byte(`{"type": "a"}`)}, `{"type": "a"}`},
		{"by its name", protocol.Event{Type: "a", Named: true, Data: []byte(`{ "x":1}`)}, `{"type":"a", "x":1}`},
		{"null", protocol.Event{Type: "a", Named: true, Data: []byte(`{"type":null}`)}, `{"type":"a"}`},
		{"no object", protocol.Event{Type: "a", Named: true, Data: []byte(`"x"`)}, `"x"`},
		{"no type at all", protocol.Event{Data: []byte(`{"x":1}`)}, `{"x":1}`},
	} {
		if got := string(typed(tt.ev)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

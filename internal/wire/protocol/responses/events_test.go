package responses

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// frame makes the record that an event with this name ("" none) and data is.
func frame(name, data string) sse.Frame {
	raw := sse.AppendEvent(nil, name, []byte(data))
	return sse.Frame{Raw: raw, Name: []byte(name), Data: []byte(data), HasData: true}
}

func TestEvents(t *testing.T) {
	const hidden = true
	for _, c := range []struct {
		name, data string
		class      protocol.Class
		typ        string
		hidden     bool
		stage      protocol.Stage
		refused    bool
	}{
		{data: `{"type":"response.created","response":{}}`, class: protocol.Lifecycle, typ: "response.created"},
		{data: `{"type":"response.queued"}`, class: protocol.Lifecycle, typ: "response.queued"},
		{data: `{"type":"response.in_progress"}`, class: protocol.Lifecycle, typ: "response.in_progress"},
		{data: `{"type":"keepalive"}`, class: protocol.Heartbeat, typ: "keepalive"},
		{data: `{"type":"ping","x":1}`, class: protocol.Heartbeat, typ: "ping"},
		{name: "ping", data: `{}`, class: protocol.Heartbeat, typ: "ping"},
		{name: "keepalive", data: `null`, class: protocol.Heartbeat, typ: "keepalive"},
		{data: `{}`, class: protocol.Heartbeat},
		{data: `{"a":1}`, class: protocol.Heartbeat},
		{data: `{"error":null}`, class: protocol.Heartbeat},
		{data: `[1,2]`, class: protocol.Heartbeat},
		{data: `"x"`, class: protocol.Heartbeat},
		{data: ` 1 `, class: protocol.Heartbeat},
		{data: `{"type":"response.completed","response":{}}`, class: protocol.Terminal, typ: "response.completed", stage: protocol.Closed},
		{data: `{"type":"response.incomplete"}`, class: protocol.Terminal, typ: "response.incomplete", stage: protocol.Closed},
		{name: "response.completed", data: `{"response":{}}`, class: protocol.Terminal, typ: "response.completed", stage: protocol.Closed},
		{data: `{"type":"response.failed","response":{}}`, class: protocol.Failure, typ: "response.failed", stage: protocol.Closed},
		{data: `{"type":"error","code":"x"}`, class: protocol.Failure, typ: "error", stage: protocol.Finishing},
		{data: `{"type":"error","error":{"code":"x"}}`, class: protocol.Failure, typ: "error", stage: protocol.Finishing},
		{name: "error", data: `{"code":"x"}`, class: protocol.Failure, typ: "error", stage: protocol.Finishing},
		{name: "error", data: `"overloaded"`, class: protocol.Failure, typ: "error", stage: protocol.Finishing},
		{data: `{"error":{"code":"x"}}`, class: protocol.Failure, stage: protocol.Finishing},
		{data: `{"error":"overloaded"}`, class: protocol.Failure, stage: protocol.Finishing},
		{data: `{"type":"response.output_text.delta","delta":"x"}`, class: protocol.Output, typ: "response.output_text.delta"},
		{data: `{"type":"response.output_item.added"}`, class: protocol.Output, typ: "response.output_item.added"},
		{data: `{"type":"response.compaction.compacting"}`, class: protocol.Output, typ: "response.compaction.compacting"},
		{data: `{"type":"vendor.new"}`, class: protocol.Output, typ: "vendor.new"},
		{data: `{"type":"Response.Created"}`, class: protocol.Output, typ: "Response.Created"},
		{data: `{"type":7}`, class: protocol.Output, typ: "7"},
		{name: "vendor.new", data: `[]`, class: protocol.Output, typ: "vendor.new"},
		// The JSON type counts before the name.
		{name: "response.created", data: `{"type":"vendor.new"}`, class: protocol.Output, typ: "vendor.new"},
		{name: "error", data: `{"type":"response.created"}`, class: protocol.Lifecycle, typ: "response.created"},
		{name: "response.created", data: `{"type":null}`, class: protocol.Lifecycle, typ: "response.created"},
		{name: "response.created", data: `{"type":""}`, class: protocol.Lifecycle, typ: "response.created"},
		// The last of repeated members counts, and escapes do not hide a type.
		{data: `{"type":"response.created","type":"vendor.new"}`, class: protocol.Output, typ: "vendor.new"},
		{data: `{"\u0074ype":"response.\u0063reated"}`, class: protocol.Lifecycle, typ: "response.created"},
		// No data, no event.
		{name: "response.completed", data: ``, class: protocol.Heartbeat, hidden: hidden},
		{data: `  `, class: protocol.Heartbeat, hidden: hidden},
		{data: `[DONE]`, class: protocol.Heartbeat, hidden: hidden},
		// Not of the protocol.
		{name: "response.completed", data: `1`, refused: true},
		{data: `<html>`, refused: true},
		{data: `{"type":"response.completed"`, refused: true},
		{data: `{"type":"response.completed"} x`, refused: true},
		{data: `{'type':'ping'}`, refused: true},
	} {
		t.Run(c.name+" "+c.data, func(t *testing.T) {
			r := NewReader(protocol.ReaderOptions{})
			f := frame(c.name, c.data)
			ev, err := r.Read(f)
			if c.refused {
				if err != protocol.ErrNotProtocol {
					t.Fatalf("got %v, %v; want ErrNotProtocol", ev, err)
				}
				return
			}
			want := protocol.Event{Class: c.class, Type: c.typ, Raw: f.Raw, Data: f.Data, Hidden: c.hidden,
				Named: c.typ != "" && c.typ == c.name && !strings.Contains(c.data, c.typ)}
			if strings.TrimSpace(c.data) == "" {
				want.Data = nil
			}
			if diff := cmp.Diff(want, ev); err != nil || diff != "" {
				t.Errorf("err %v; event (-want +got):\n%s", err, diff)
			}
			if r.Stage() != c.stage {
				t.Errorf("stage %d, want %d", r.Stage(), c.stage)
			}
			events := 1
			if c.class == protocol.Heartbeat {
				events = 0
			}
			if got := r.Seen().Events; got != events {
				t.Errorf("%d events, want %d", got, events)
			}
			if failed := r.Seen().Failure != nil; failed != (c.class == protocol.Failure) {
				t.Errorf("failed: %v", failed)
			}
		})
	}
}

// TestSettling: after an error event only response.failed is of interest.
func TestSettling(t *testing.T) {
	const failure = `{"type":"error","code":"server_error","sequence_number":4}`
	for _, c := range []struct {
		then   string
		class  protocol.Class
		hidden bool
		stage  protocol.Stage
		code   string
	}{
		{`{"type":"keepalive","sequence_number":5}`, protocol.Heartbeat, false, protocol.Finishing, "server_error"},
		{`{}`, protocol.Heartbeat, false, protocol.Finishing, "server_error"},
		{`{"type":"response.failed","response":{"error":{"code":"slow_down"}}}`, protocol.Failure, false, protocol.Closed, "slow_down"},
		{`{"type":"response.completed","response":{"usage":{"input_tokens":1}}}`, protocol.Heartbeat, true, protocol.Closed, "server_error"},
		{`{"type":"error","code":"second"}`, protocol.Heartbeat, true, protocol.Closed, "server_error"},
		{`{"error":{"code":"second"}}`, protocol.Heartbeat, true, protocol.Closed, "server_error"},
		{`{"type":"response.output_text.delta","delta":"x"}`, protocol.Heartbeat, true, protocol.Closed, "server_error"},
		{`[DONE]`, protocol.Heartbeat, true, protocol.Closed, "server_error"},
		{`<html>`, protocol.Heartbeat, true, protocol.Closed, "server_error"},
	} {
		t.Run(c.then, func(t *testing.T) {
			r := NewReader(protocol.ReaderOptions{})
			for _, data := range []string{failure, c.then} {
				ev, err := r.Read(frame("", data))
				if err != nil {
					t.Fatal(err)
				}
				if data == c.then && (ev.Class != c.class || ev.Hidden != c.hidden) {
					t.Errorf("got %v hidden %v", ev.Class, ev.Hidden)
				}
			}
			s := r.Seen()
			if r.Stage() != c.stage || s.Failure.Code != c.code || s.OutputEvents != 0 || s.Reported {
				t.Errorf("stage %d, seen %+v, failed %+v", r.Stage(), s, s.Failure)
			}
			if c.stage == protocol.Closed {
				ev, err := r.Read(frame("", `{"type":"response.completed"}`))
				if err != nil || !ev.Hidden || ev.Class != protocol.Heartbeat || r.Seen().Failure == nil {
					t.Errorf("an event after the end: %+v, %v", ev, err)
				}
			}
		})
	}
}

func TestFailures(t *testing.T) {
	yes := true
	for _, c := range []struct {
		name   string
		events []string
		want   protocol.FailureInfo
	}{
		{"flat", []string{`{"type":"error","code":"c","message":"m","param":"p"}`},
			protocol.FailureInfo{Code: "c", Message: "m", Param: "p"}},
		{"nested", []string{`{"type":"error","error":{"type":"t","code":"c","message":"m","param":null}}`},
			protocol.FailureInfo{Code: "c", Type: "t", Message: "m"}},
		{"flat and nested", []string{`{"type":"error","code":"flat","message":"m1","param":"p1","error":{"code":"nested","retryable":true,"retry_after":2}}`},
			protocol.FailureInfo{Code: "nested", Message: "m1", Param: "p1", Retryable: &yes, RetryAfter: 2 * time.Second}},
		{"numeric code", []string{`{"type":"error","error":{"code":503,"message":"m"}}`},
			protocol.FailureInfo{Code: "503", Message: "m"}},
		{"a string", []string{`{"type":"error","error":"all busy"}`}, protocol.FailureInfo{Message: "all busy"}},
		{"a list", []string{`{"error":[{"message":"m"}]}`}, protocol.FailureInfo{Message: "m"}},
		{"untyped", []string{`{"error":{"code":"c","type":"t"}}`}, protocol.FailureInfo{Code: "c", Type: "t"}},
		{"status and headers", []string{`{"type":"error","status":429,"error":{"type":"t"},"headers":{"Retry-After":"1.5"}}`},
			protocol.FailureInfo{Type: "t", Status: 429, RetryAfter: 1500 * time.Millisecond}},
		{"absurd delays", []string{`{"type":"error","code":"c","headers":{"retry-after":"-4"},"error":{"retry_after":1e300}}`},
			protocol.FailureInfo{Code: "c", RetryAfter: 24 * time.Hour}},
		{"failed", []string{`{"type":"response.failed","response":{"error":{"code":"c","message":"m"}}}`},
			protocol.FailureInfo{Code: "c", Message: "m"}},
		{"failed without error", []string{`{"type":"response.failed","response":{"error":null}}`}, protocol.FailureInfo{}},
		{"failed without response", []string{`{"type":"response.failed","error":{"code":"c"}}`}, protocol.FailureInfo{Code: "c"}},
		{"failed decides", []string{`{"type":"error","error":{"code":"e","type":"et","message":"em","retryable":true}}`,
			`{"type":"response.failed","response":{"error":{"code":"f","message":"fm"}}}`},
			protocol.FailureInfo{Code: "f", Message: "fm", Retryable: &yes}},
		{"failed has no code", []string{`{"type":"error","error":{"code":"e","type":"et","message":"em"}}`,
			`{"type":"response.failed","response":{"error":{"message":"fm"}}}`},
			protocol.FailureInfo{Code: "e", Type: "et", Message: "fm"}},
		{"failed is empty", []string{`{"type":"error","code":"e","message":"em"}`, `{"type":"response.failed","response":null}`},
			protocol.FailureInfo{Code: "e", Message: "em"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(protocol.ReaderOptions{})
			for _, e := range c.events {
				if _, err := r.Read(frame("", e)); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(&c.want, r.Seen().Failure); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

package responses

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// complete is what strict clients want of a response object.
var complete = strings.Fields(`id object created_at completed_at status incomplete_details model previous_response_id instructions output error tools
	tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature reasoning usage
	max_output_tokens max_tool_calls store background service_tier safety_identifier prompt_cache_key metadata user`)

type ended struct {
	names []string
	data  []map[string]any
}

func decode(t *testing.T, b []byte) (out ended) {
	t.Helper()
	d := sse.NewDecoder(bytes.NewReader(b), 1<<20)
	for {
		f, err := d.Next()
		if err == io.EOF {
			return out
		}
		if err != nil || f.Tail {
			t.Fatalf("%v, tail %v, in %q", err, f.Tail, b)
		}
		var m map[string]any
		if err := json.Unmarshal(f.Data, &m); err != nil {
			t.Fatalf("%v in %s", err, f.Data)
		}
		if m["type"] != string(f.Name) {
			t.Errorf("event %s is named %s", m["type"], f.Name)
		}
		out.names = append(out.names, string(f.Name))
		out.data = append(out.data, m)
	}
}

// opened is a reader that has read the first n records of a stream.
func opened(t *testing.T, name string, n int) protocol.Reader {
	t.Helper()
	r := NewReader(protocol.ReaderOptions{Model: "public/model"})
	d := sse.NewDecoder(bytes.NewReader(stream(t, name)), 1<<20)
	for range n {
		f, err := d.Next()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(f); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func broken() *fault.Error {
	f := fault.New(fault.StreamReadError, "It \"broke\"\n off.")
	f.RequestID, f.AfterOutput, f.RetryAfter = "req_01abc", true, 2*time.Second
	return f
}

func TestEndingAfterOutput(t *testing.T) {
	r := opened(t, "text", 6)
	dst := Ending([]byte("event: x\ndata: {\"type\":\"x\"}\n\n"), r, broken(), false)
	got := decode(t, dst)
	if !slices.Equal(got.names, []string{"x", "error", "response.failed"}) {
		t.Fatalf("events %q", got.names)
	}
	nested := map[string]any{"message": "It \"broke\"\n off.", "type": "server_error", "code": "stream_read_error", "param": nil,
		"request_id": "req_01abc", "retryable": true, "retry_after": 2.0, "after_output": true}
	want := map[string]any{"type": "error", "sequence_number": 6.0, "code": "stream_read_error", "message": "It \"broke\"\n off.", "param": nil, "error": nested}
	if diff := cmp.Diff(want, got.data[1]); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if got.data[2]["sequence_number"] != 7.0 {
		t.Errorf("sequence number %v", got.data[2]["sequence_number"])
	}
	resp := got.data[2]["response"].(map[string]any)
	for _, name := range complete {
		if _, ok := resp[name]; !ok {
			t.Errorf("no %q in the response", name)
		}
	}
	for name, want := range map[string]any{
		"id": "resp_t1", "model": "model-1-2026-01-01", "status": "failed", "object": "response", "created_at": 1760000000.0, "completed_at": nil,
		"instructions": "Be brief.", "store": false, "temperature": 1.0, "top_p": 0.98, "usage": nil, "error": nested, "output": []any{},
		"reasoning": map[string]any{"effort": "medium", "summary": nil}, "prompt_cache_key": "pk-1", "incomplete_details": nil,
	} {
		if diff := cmp.Diff(want, resp[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestEndingReads: what we write is a failure to a reader of ours, and to one
// that goes on after what upstream had sent.
func TestEndingReads(t *testing.T) {
	sent := stream(t, "text")
	sent = sent[:bytes.Index(sent, []byte("event: response.output_text.done"))]
	got := read(bytes.NewReader(Ending(bytes.Clone(sent), opened(t, "text", 8), broken(), false)))
	if got.Err != nil || got.Stage != protocol.Closed || got.Seen.Failure == nil || got.Seen.Failure.Code != "stream_read_error" ||
		got.Seen.ResponseID != "resp_t1" || got.Seen.Sequence != 9 || len(got.Seen.State) != 2 || got.Seen.ShowsExecution {
		t.Errorf("%+v, %+v", got, got.Seen.Failure)
	}
}

func TestEndingAfterErrorEvent(t *testing.T) {
	r := opened(t, "error_nested", 3)
	got := decode(t, Ending(nil, r, broken(), true))
	if !slices.Equal(got.names, []string{"response.failed"}) || got.data[0]["sequence_number"] != 3.0 {
		t.Errorf("%q %v", got.names, got.data)
	}
}

func TestEndingWithoutCreated(t *testing.T) {
	for name, r := range map[string]protocol.Reader{
		"no event":    NewReader(protocol.ReaderOptions{Model: "public/model"}),
		"only output": opened(t, "text", 0),
	} {
		if name == "only output" {
			if _, err := r.Read(frame("", `{"type":"response.output_text.delta","delta":"x"}`)); err != nil {
				t.Fatal(err)
			}
		}
		got := decode(t, Ending(nil, r, broken(), false))
		resp := got.data[1]["response"].(map[string]any)
		if resp["id"] != "resp_01abc" || resp["model"] != "public/model" || got.data[0]["sequence_number"] != 0.0 || got.data[1]["sequence_number"] != 1.0 {
			t.Errorf("%s: %v", name, got.data)
		}
		for _, name := range complete {
			if _, ok := resp[name]; !ok {
				t.Errorf("no %q in the response", name)
			}
		}
	}
}

// TestEndingKeepsLittle: what the client knows anyhow is not kept by the megabyte.
func TestEndingKeepsLittle(t *testing.T) {
	r := NewReader(protocol.ReaderOptions{})
	big := strings.Repeat("x", keepLimit)
	if _, err := r.Read(frame("", `{"type":"response.created","response":{"id":"resp_1","instructions":"`+big+`","tools":[{"name":"`+big+`"}],"top_p":0.5,"output":[{"id":"o"}],"status":"in_progress"}}`)); err != nil {
		t.Fatal(err)
	}
	got := decode(t, Ending(nil, r, broken(), true))
	resp := got.data[0]["response"].(map[string]any)
	want := map[string]any{"id": "resp_1", "instructions": nil, "tools": []any{}, "top_p": 0.5, "output": []any{}, "status": "failed"}
	for name, v := range want {
		if diff := cmp.Diff(v, resp[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestEndingReportsUsage: usage that upstream's error event carried is not lost.
func TestEndingReportsUsage(t *testing.T) {
	r := NewReader(protocol.ReaderOptions{})
	if _, err := r.Read(frame("", `{"type":"error","code":"c","usage":{"input_tokens":3,"output_tokens":2,"total_tokens":5}}`)); err != nil {
		t.Fatal(err)
	}
	f := broken()
	f.Code = "" // an upstream error without a code
	got := decode(t, Ending(nil, r, f, true))
	resp := got.data[0]["response"].(map[string]any)
	if diff := cmp.Diff(map[string]any{"input_tokens": 3.0, "output_tokens": 2.0, "total_tokens": 5.0}, resp["usage"]); diff != "" {
		t.Error(diff)
	}
	if resp["error"].(map[string]any)["code"] != nil {
		t.Errorf("code %v", resp["error"])
	}
}

func TestProtocol(t *testing.T) {
	p := Protocol()
	if p.Name != "responses" || p.Path != "/responses" || !p.HoldsShown {
		t.Errorf("%+v", p)
	}
	if p.ParseRequest == nil || p.Upstream == nil || p.NewReader == nil || p.Answer == nil || p.Ending == nil || p.ErrorBody == nil {
		t.Error("a function is missing")
	}
	if tail := p.NewReader(protocol.ReaderOptions{}).Tail(); tail != nil {
		t.Errorf("tail %q", tail)
	}
}

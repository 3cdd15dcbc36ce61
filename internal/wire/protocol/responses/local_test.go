package responses

import (
	"encoding/json"
	"strings"
	"testing"

	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

func TestLocalIsACompleteAnswer(t *testing.T) {
	l := Local{ID: "resp_1", Model: "m/x", CreatedAt: 1700000000,
		Request: []byte(`{"type":"response.create","model":"m/x","store":true,"reasoning":{"effort":"low"},"instructions":"` + strings.Repeat("x", keepLimit) + `","tools":[{"type":"function","name":"f"}],"output":[1],"previous_response_id":null}`)}
	r := NewReader(protocol.ReaderOptions{})
	for i, data := range [][]byte{l.Created(), l.Completed()} {
		if _, err := r.Read(sse.Frame{Data: data, HasData: true, Raw: sse.AppendEvent(nil, "", data)}); err != nil {
			t.Fatalf("event %d is not of the protocol: %v", i, err)
		}
		var ev struct {
			Type           string
			SequenceNumber int `json:"sequence_number"`
			Response       map[string]json.RawMessage
		}
		if err := json.Unmarshal(data, &ev); err != nil {
			t.Fatal(err)
		}
		if ev.SequenceNumber != i || len(ev.Response) != len(members) {
			t.Errorf("event %d: sequence %d, %d members", i, ev.SequenceNumber, len(ev.Response))
		}
		for name, want := range map[string]string{
			"id": `"resp_1"`, "model": `"m/x"`, "object": `"response"`, "created_at": "1700000000", "error": "null", "output": "[]", "store": "false",
			"reasoning": `{"effort":"low"}`, "tools": `[{"type":"function","name":"f"}]`, "instructions": "null", "previous_response_id": "null",
			"status":       []string{`"in_progress"`, `"completed"`}[i],
			"usage":        []string{"null", noUsage}[i],
			"completed_at": []string{"null", "1700000000"}[i],
		} {
			if got := string(ev.Response[name]); got != want {
				t.Errorf("event %d: %s = %s, want %s", i, name, got, want)
			}
		}
	}
	if s := r.Seen(); r.Stage() != protocol.Closed || s.ResponseID != "resp_1" || !s.Reported || s.Usage.Input+s.Usage.Output != 0 || s.OutputEvents != 0 {
		t.Errorf("read as %+v at stage %v", s, r.Stage())
	}
}

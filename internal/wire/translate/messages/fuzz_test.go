package messages

import (
	"bytes"
	"strings"
	"testing"

	"rubicon/internal/wire/translate"
)

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model":"m","max_tokens":5,"system":"s","messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"a","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"data:a;base64,b"}}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		first, err := decodeRequest(body)
		if err != nil {
			return
		}
		encoded, rep := encodeRequest(first, first.Model, able())
		if len(rep.Excluded) > 0 || len(rep.Notes) > 0 {
			return
		}
		second, err := decodeRequest(encoded)
		if err != nil {
			t.Fatalf("%v: %s", err, encoded)
		}
		again, rep := encodeRequest(second, second.Model, able())
		if len(rep.Excluded) > 0 || !bytes.Equal(encoded, again) {
			t.Errorf("%s became %s, then %s (%s)", body, encoded, again, notes(rep))
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"type":"message","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"a","name":"f","input":{}}],"stop_reason":"tool_use","usage":{"output_tokens":1}}`))
	f.Add([]byte(`{"content":[{"type":"thinking","thinking":"a","signature":"b"},{"type":"server_tool_use","input":{}}],"stop_reason":"x"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		events, err := newAnswerDecoder().Whole(body)
		if err != nil {
			return
		}
		out, _ := encode(events)
		checkStream(t, out)
		want := say(t, events)
		got := say(t, decode(t, out))
		if want.Failed != got.Failed && want.Ended || want.Stop.Word != got.Stop.Word || len(want.Blocks) != len(got.Blocks) {
			t.Errorf("%s: %+v, then %+v", body, want, got)
		}
	})
}

func FuzzStream(f *testing.F) {
	f.Add("{\"type\":\"message_start\",\"message\":{}}\n{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{}}}\n{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"partial_json\":\"{}\"}}\n{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n{\"type\":\"message_stop\"}")
	f.Add("{\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"text\":\"a\",\"signature\":\"s\"}}\n{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"server_tool_use\"}}\n{\"type\":\"message_stop\"}")
	f.Fuzz(func(t *testing.T, stream string) {
		d := newAnswerDecoder()
		var events []translate.Event
		for line := range strings.Lines(stream) {
			got, err := d.Event("", []byte(line))
			if err != nil {
				break
			}
			events = append(events, got...)
		}
		want := say(t, events)
		out, _ := encode(events)
		checkStream(t, out)
		got := say(t, decode(t, out))
		if got.Ended != want.Ended || got.Stop.Word != want.Stop.Word || want.Ended && len(want.Blocks) != len(got.Blocks) {
			t.Errorf("%q: %+v, then %+v", stream, want, got)
		}
	})
}

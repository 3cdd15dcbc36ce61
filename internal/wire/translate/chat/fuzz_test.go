package chat

import (
	"encoding/json"
	"strings"
	"testing"

	"rubicon/internal/wire/protocol/recorded"
	"rubicon/internal/wire/translate"
)

// Whatever is read can be written, and what was written reads and writes the
// same again.
func FuzzRequest(f *testing.F) {
	for i, x := range recorded.Load(f, "chat") {
		if i%8 == 0 {
			f.Add([]byte(x.Request))
		}
	}
	f.Add([]byte(`{"model":"m","messages":[{"role":"function","name":"f","content":"x"},{"role":"assistant","function_call":{"name":"f","arguments":{}}},{"role":"function","content":"1"}]}`))
	f.Add([]byte(`{"messages":[{"role":"assistant","extra_content":{"google":{"thought_signature":"x"}},"tool_calls":[{"id":"a","extra_content":{"google":{"thought_signature":"y"}},"custom":{"name":"f"}}]},{"role":"tool","tool_call_id":"a","content":[]}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"AA"}},{"type":"input_audio","input_audio":{"data":"A"}},"x"],"cache_control":{}}],"tool_choice":{"type":"allowed_tools"},"tools":[{"type":"custom","custom":{}}]}`))
	flags := []translate.Flags{usual(), {}, with(func(f *translate.Flags) {
		f.CustomTools, f.ReasoningBack, f.Cache, f.ReasoningField, f.SingleSystem, f.ResultImages = true, true, "breakpoints", "reasoning_details", true, true
	})}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) {
			return
		}
		r, err := decodeRequest(body)
		if err != nil {
			return
		}
		for _, from := range []translate.Format{translate.Chat, translate.Responses} {
			r.From = from
			for _, f := range flags {
				again(t, r, f)
			}
		}
	})
}

func again(t *testing.T, r *translate.Request, f translate.Flags) {
	out, report := encodeRequest(r, "up", f)
	for _, n := range report.Notes {
		if n.Path == "" && n.Feature != translate.FeatureUnknown || n.Why == "" || n.Class == "" {
			t.Fatalf("a note without words: %+v", n)
		}
	}
	if len(report.Excluded) > 0 {
		return
	}
	if !json.Valid(out) {
		t.Fatalf("no JSON: %s", out)
	}
	if twice, _ := encodeRequest(r, "up", f); string(twice) != string(out) {
		t.Fatalf("not the same twice: %s\n%s", out, twice)
	}
	second, err := decodeRequest(out)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if r.From != translate.Chat {
		return
	}
	third, report := encodeRequest(second, "up", f)
	if len(report.Excluded) == 0 && string(third) != string(out) {
		t.Fatalf("written again:\n%s\n%s", out, third)
	}
}

// Whatever an upstream sends, the events come in order, and what the client
// gets is JSON with one ending at most.
func FuzzAnswer(f *testing.F) {
	for i, x := range recorded.Load(f, "chat") {
		if i%8 != 0 {
			continue
		}
		var lines []string
		if x.Stream {
			for _, fr := range frames(f, x.Normal()) {
				lines = append(lines, fr.data)
			}
		} else {
			lines = append(lines, x.Body)
		}
		f.Add(strings.Join(lines, "\n"), 3)
	}
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{}"}},{"id":"a"},{"function":{"name":"f"}}],"function_call":{"name":"g"},"extra_content":{"google":{"thought_signature":"s"}}},"finish_reason":"stop"}]}`+"\n[DONE]", 1)
	f.Add(`{"choices":[{"delta":{"reasoning_details":[{"text":"a","index":1},{"text":"b","index":2,"data":"x"},3],"annotations":[{}],"refusal":"r","content":[{"type":"text","text":"x"},{}]},"finish_reason":7}],"error":[]}`, 0)
	f.Fuzz(func(t *testing.T, stream string, stop int) {
		d := newAnswerDecoder()
		var events []translate.Event
		for i, line := range strings.Split(stream, "\n") {
			if i == stop {
				break
			}
			got, err := d.Event("", []byte(line))
			if err != nil {
				return
			}
			events = append(events, got...)
		}
		check(t, append(events, d.End()...))
		if events, err := newAnswerDecoder().Whole([]byte(stream)); err == nil {
			check(t, events)
		}
	})
}

func check(t *testing.T, events []translate.Event) {
	got := tell(t, events)
	if got.Ended == (got.Failed != "") {
		t.Fatalf("neither a good nor a bad end: %+v", got)
	}
	r := client(true)
	r.Tools = []translate.Tool{{Kind: translate.Custom, Name: "f"}}
	out, classes := encode(r, events)
	endings := 0
	for i, o := range out {
		if classes[i] == translate.OutTerminal || classes[i] == translate.OutFailure {
			endings++
		}
		if o.data != done && !json.Valid([]byte(o.data)) {
			t.Fatalf("no JSON: %s", o.data)
		}
	}
	if endings != 1 {
		t.Fatalf("%d endings: %v", endings, out)
	}
	body, err := encodeWhole(client(false), events)
	if (err == nil) != got.Ended || err == nil && !json.Valid(body) {
		t.Fatalf("%s: %v", body, err)
	}
}

package responses

import (
	"testing"

	"rubicon/internal/wire/protocol"
)

// TestDeltasAllocateNothing is the promise of the hot path.
func TestDeltasAllocateNothing(t *testing.T) {
	r := NewReader(protocol.ReaderOptions{})
	for _, data := range []string{
		`{"type":"response.output_text.delta","sequence_number":12,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"Gr\u00fc\u00dfe, \"Welt\"","logprobs":[],"obfuscation":"x8Kq"}`,
		`{"type":"response.function_call_arguments.delta","sequence_number":13,"item_id":"fc_1","output_index":2,"delta":"{\"a\":"}`,
		`{"type":"response.reasoning_summary_text.delta","sequence_number":14,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":"hm"}`,
		`{"type":"vendor.thought.delta","delta":"x"}`,
		`{"type":"response.web_search_call.searching","output_index":0,"item_id":"ws_1"}`,
		`{"type":"keepalive"}`,
	} {
		f := frame("an.event", data)
		read := func() {
			if _, err := r.Read(f); err != nil {
				t.Fatal(err)
			}
		}
		read() // an item's first delta is noted
		if n := testing.AllocsPerRun(200, read); n != 0 {
			t.Errorf("%v allocations for %s", n, data)
		}
	}
}

func BenchmarkDelta(b *testing.B) {
	r := NewReader(protocol.ReaderOptions{})
	f := frame("response.output_text.delta", `{"type":"response.output_text.delta","sequence_number":12,"item_id":"msg_68c0f4dd8a9c819","output_index":1,"content_index":0,"delta":" world","logprobs":[],"obfuscation":"x8KqabcdEFGH"}`)
	b.SetBytes(int64(len(f.Data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Read(f); err != nil {
			b.Fatal(err)
		}
	}
}

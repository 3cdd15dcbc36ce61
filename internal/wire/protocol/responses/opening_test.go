package responses

import (
	"testing"

	"rubicon/internal/wire/protocol"
)

// TestOpenings: what is still empty is held; anything in it commits.
func TestOpenings(t *testing.T) {
	const item, part, summary = "response.output_item.added", "response.content_part.added", "response.reasoning_summary_part.added"
	for _, c := range []struct {
		typ, object string
		empty       bool
	}{
		{item, `{"type":"reasoning","id":"rs_1","summary":[]}`, true},
		{item, `{"type":"reasoning","id":"rs_1","status":"in_progress","summary":[],"content":[],"encrypted_content":null}`, true},
		{item, `{"type":"reasoning","summary":[],"content":null,"encrypted_content":""}`, true},
		{item, `{"type":"message","id":"msg_1","role":"assistant","status":"in_progress","phase":"final_answer","content":[]}`, true},
		{item, `{"type":"message","content":[{"type":"output_text","text":"","annotations":[]}]}`, true},
		{item, `{"type":"message","content":[],"of_the_future":null}`, true},
		{item, `{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}]}`, false},
		{item, `{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm"}]}`, false},
		{item, `{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}`, false},
		{item, `{"type":"message","content":[{"type":"output_text","text":"Hi"}]}`, false},
		{item, `{"type":"message","content":["Hi"]}`, false},
		{item, `{"type":"message","content":"Hi"}`, false},
		{item, `{"type":"message","content":[],"of_the_future":"x"}`, false},
		{item, `{"type":"message","content":[],"content":[{"type":"output_text","text":"Hi"}]}`, false},
		{item, `{"type":"function_call","name":"f","arguments":""}`, false},
		{item, `{"type":"web_search_call","id":"ws_1"}`, false},
		{item, `{"id":"x"}`, false},
		{item, `{}`, false},
		{item, `[]`, false},
		{item, `null`, false},
		{part, `{"type":"output_text","text":"","annotations":[],"logprobs":[]}`, true},
		{part, `{"type":"reasoning_text","text":""}`, true},
		{part, `{"type":"refusal","refusal":""}`, true},
		{part, `{"type":"output_text","text":"Hi"}`, false},
		{part, `{"type":"output_text","text":"","annotations":[{"type":"url_citation"}]}`, false},
		{part, `{"text":""}`, false},
		{part, `null`, false},
		{summary, `{"type":"summary_text","text":""}`, true},
		{summary, `{"type":"summary_text","text":"Hm"}`, false},
		{"response.reasoning_summary_part.done", `{"type":"summary_text","text":""}`, false},
	} {
		member := "part"
		if c.typ == item {
			member = "item"
		}
		r := NewReader(protocol.ReaderOptions{})
		ev, err := r.Read(frame("", `{"type":"`+c.typ+`","output_index":0,"`+member+`":`+c.object+`}`))
		want, output := protocol.Output, int64(1)
		if c.empty {
			want, output = protocol.Lifecycle, 0
		}
		if err != nil || ev.Class != want || r.Seen().OutputEvents != output || r.Seen().Events != 1 {
			t.Errorf("%s of %s: %v, %v", c.typ, c.object, ev.Class, err)
		}
	}
}

// An empty opening is no output, but its id is upstream state all the same.
func TestOpeningIsRemembered(t *testing.T) {
	r := NewReader(protocol.ReaderOptions{})
	if _, err := r.Read(frame("", `{"type":"response.output_item.added","item":{"type":"reasoning","id":"rs_1","summary":[]}}`)); err != nil {
		t.Fatal(err)
	}
	if s := r.Seen().State; len(s) != 1 || s[0] != (protocol.StateID{Kind: protocol.KindItem, ID: "rs_1"}) {
		t.Errorf("remembered %v", s)
	}
}

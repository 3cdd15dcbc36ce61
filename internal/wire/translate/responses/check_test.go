package responses

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rubicon/internal/wire/translate"
)

func request(t testing.TB, body string) *translate.Request {
	t.Helper()
	r, err := decodeRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// written are all events of an answer for a client's request.
func written(t testing.TB, r *translate.Request, id translate.Identity, events ...translate.Event) []translate.Out {
	t.Helper()
	e := newAnswerEncoder(r, id)
	var outs []translate.Out
	for _, ev := range events {
		outs = e.Events(outs, ev)
	}
	checkStream(t, outs)
	return outs
}

// obj is a JSON object for checks.
type obj = map[string]any

func parse(t testing.TB, data []byte) obj {
	t.Helper()
	var o obj
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return o
}

// checkStream checks what holds for every stream: numbers without gaps, items
// begun before and ended after what is about them, places and ids on every event,
// and a last event that holds all items as they ended.
func checkStream(t testing.TB, outs []translate.Out) {
	t.Helper()
	begun, ended := map[float64]string{}, map[float64]any{}
	sequence := 0.0
	for i, o := range outs {
		if o.Data == nil {
			continue
		}
		e := parse(t, o.Data)
		typ := e["type"].(string)
		if typ != o.Name {
			t.Errorf("event %q holds %q", o.Name, typ)
		}
		if e["sequence_number"] != sequence {
			t.Errorf("%s has number %v, not %v", typ, e["sequence_number"], sequence)
		}
		sequence++
		if (o.Class == translate.OutTerminal || o.Class == translate.OutFailure && typ != "error") != (i == len(outs)-1 && finished(typ)) {
			t.Errorf("%s of class %d stands at %d of %d", typ, o.Class, i, len(outs))
		}
		place, placed := e["output_index"].(float64)
		switch {
		case typ == "response.output_item.added":
			begun[place], _ = e["item"].(obj)["id"].(string)
		case typ == "response.output_item.done":
			if _, ok := begun[place]; !ok || ended[place] != nil {
				t.Errorf("item %v ends wrongly", place)
			}
			ended[place] = e["item"]
		case placed:
			if id, ok := begun[place]; !ok || id != e["item_id"] || ended[place] != nil {
				t.Errorf("%s is about item %v of %v", typ, e["item_id"], id)
			}
			checkParts(t, typ, e)
		case finished(typ):
			checkEnd(t, e["response"].(obj), begun, ended)
		}
	}
}

func finished(typ string) bool {
	return typ == "response.completed" || typ == "response.incomplete" || typ == "response.failed"
}

// checkParts checks the members that strict clients insist on.
func checkParts(t testing.TB, typ string, e obj) {
	t.Helper()
	wants := map[string][]string{
		"response.output_text.delta": {"content_index", "logprobs", "delta"}, "response.output_text.done": {"content_index", "logprobs", "text"},
		"response.content_part.added": {"content_index", "part"}, "response.content_part.done": {"content_index", "part"},
		"response.reasoning_summary_text.delta": {"summary_index", "delta"}, "response.reasoning_summary_part.added": {"summary_index", "part"},
	}
	for _, name := range wants[typ] {
		if _, ok := e[name]; !ok {
			t.Errorf("%s lacks %s", typ, name)
		}
	}
}

func checkEnd(t testing.TB, r obj, begun map[float64]string, ended map[float64]any) {
	t.Helper()
	output := r["output"].([]any)
	if len(output) != len(begun) || len(ended) != len(begun) {
		t.Errorf("%d items begun, %d ended, %d in the output", len(begun), len(ended), len(output))
		return
	}
	for i, item := range output {
		if fmt.Sprint(item) != fmt.Sprint(ended[float64(i)]) {
			t.Errorf("item %d ends as %v and stands in the output as %v", i, ended[float64(i)], item)
		}
	}
	for _, name := range []string{"id", "object", "created_at", "completed_at", "status", "background", "error", "incomplete_details", "instructions", "max_output_tokens",
		"max_tool_calls", "model", "output", "parallel_tool_calls", "previous_response_id", "prompt_cache_key", "reasoning", "safety_identifier", "service_tier", "store",
		"temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "usage", "user", "metadata"} {
		if _, ok := r[name]; !ok {
			t.Errorf("the response lacks %s", name)
		}
	}
}

// names are the events of a stream by their types, and what of it is the client's
// text: repeated deltas stand once.
func names(outs []translate.Out) string {
	var all []string
	for _, o := range outs {
		all = append(all, strings.TrimPrefix(o.Name, "response."))
	}
	return strings.Join(slices.Compact(all), " ")
}

func lastObject(t testing.TB, outs []translate.Out) obj {
	t.Helper()
	return parse(t, outs[len(outs)-1].Data)["response"].(obj)
}

// items are the output's items in short.
func items(t testing.TB, outs []translate.Out) (all []string) {
	t.Helper()
	for _, v := range lastObject(t, outs)["output"].([]any) {
		it := v.(obj)
		line := fmt.Sprint(it["type"])
		for _, key := range []string{"status", "phase", "call_id", "namespace", "name", "arguments", "input", "content", "summary", "encrypted_content"} {
			if v, ok := it[key]; ok {
				text, _ := json.Marshal(v)
				line += " " + key + "=" + string(text)
			}
		}
		all = append(all, line)
	}
	return all
}

// Short ways to write events.
func open(i int, b translate.Block) translate.Event {
	return translate.Event{Kind: translate.Open, Index: i, Block: b}
}

func say(i int, text string) translate.Event {
	return translate.Event{Kind: translate.Delta, Index: i, Text: text}
}

func input(i int, text string) translate.Event {
	return translate.Event{Kind: translate.Delta, Index: i, Part: translate.PartInput, Text: text}
}

func think(i, paragraph int, text string) translate.Event {
	return translate.Event{Kind: translate.Delta, Index: i, Part: translate.PartSummary, Paragraph: paragraph, Text: text}
}

func shut(i int) translate.Event { return translate.Event{Kind: translate.Close, Index: i} }

func stop(w translate.StopWord) translate.Event {
	return translate.Event{Kind: translate.Stop, Stop: translate.StopReason{Word: w, Original: string(w)}}
}

func called(id, name string) translate.Block {
	return translate.Block{Kind: translate.Call, ID: id, Name: name}
}

package responses

import (
	"bytes"
	"fmt"
	"github.com/google/go-cmp/cmp"
	"slices"
	"strings"
	"testing"

	"rubicon/internal/wire/protocol/recorded"
	"rubicon/internal/wire/translate"
)

// What the format can carry comes back from it, and the second time nothing
// changes.
func checkIdentity(t *testing.T, body []byte) {
	t.Helper()
	first, err := decodeRequest(body)
	if err != nil {
		return
	}
	once, rep := encodeRequest(first, first.Model, able())
	if len(rep.Excluded) > 0 {
		return
	}
	second, err := decodeRequest(once)
	if err != nil {
		t.Fatalf("%s\nbecomes\n%s\n%v", body, once, err)
	}
	twice, rep := encodeRequest(second, second.Model, able())
	if len(rep.Excluded) > 0 || !bytes.Equal(once, twice) {
		t.Fatalf("%s\nbecomes\n%s\nand then\n%s\n%v", body, once, twice, rep.Excluded)
	}
	if d := cmp.Diff(content(first), content(second)); d != "" {
		t.Fatalf("%s\nbecomes\n%s\n%s", body, once, d)
	}
}

// content is what of a request must come back, without the places where it
// stood.
func content(r *translate.Request) map[string][]string {
	all := map[string][]string{}
	add := func(role translate.Role, blocks []translate.Block) {
		for i := range blocks {
			b := blocks[i]
			if b.Kind == translate.Text && b.Text == "" {
				continue
			}
			b.Path, b.Custom = "", b.Custom && b.Kind == translate.Call
			b.Cache = nil // moves where it has no place
			for j := range b.Inner {
				b.Inner[j].Path = ""
			}
			if role == translate.System {
				role = "system"
			}
			if b.Kind == translate.Result || b.Kind == translate.Call {
				b.ID = "" // made anew where it is not legal
				if b.Name != "" {
					b.Name = translate.NamesOf(r, translate.Responses, able()).Wire(b.Namespace, b.Name)
				}
			}
			key := string(role) + " " + b.Kind.String()
			all[key] = append(all[key], brief(&b))
		}
	}
	add("system", r.System)
	for _, t := range r.Turns {
		add(t.Role, t.Blocks)
	}
	for _, s := range r.Settings {
		if !strings.ContainsAny(s.Path, ".[") {
			all["settings"] = append(all["settings"], string(s.Feature)+string(s.Value))
		}
	}
	slices.Sort(all["settings"])
	for key := range all {
		if strings.Contains(key, "result") {
			slices.Sort(all[key]) // stand in the order of their calls
		}
	}
	for _, tool := range r.Tools {
		all["tools"] = append(all["tools"], fmt.Sprint(tool.Kind, tool.Description, string(tool.Schema), tool.Deferred, tool.Grammar, string(tool.Raw)))
	}
	all["rest"] = []string{r.Model, fmt.Sprint(r.Stream, r.Answer.Shape, string(r.Answer.Schema), r.Reasoning.KeepSeals, r.MaxOutput.Value, r.Choice.ParallelOff)}
	return all
}

// seeds are bodies for the fuzzers and the identity.
var seeds = []string{
	codex, plain,
	`{"model":"m","instructions":"i","input":[{"role":"developer","content":"d"},{"role":"user","content":[{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"input_image","image_url":"data:image/png;base64,AA","detail":"low"}]},{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"gA"},{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"t"}]},{"type":"custom_tool_call","call_id":"c1","name":"p","input":"x"},{"type":"function_call","call_id":"c2","namespace":"ns","name":"f","arguments":"{}"},{"type":"custom_tool_call_output","call_id":"c1","output":"y"},{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"z"}]},{"role":"user","content":"b"}],"include":["reasoning.encrypted_content"],"stream":true}`,
	`{"model":"m","input":[{"type":"web_search_call","id":"w"},{"type":"message","role":"user","content":"x"}],"tools":[{"type":"web_search"},{"type":"namespace","name":"n","description":"d","tools":[{"type":"function","name":"a","parameters":{}}]}],"tool_choice":"auto","store":true,"previous_response_id":"r"}`,
	`{"model":"m","input":"x","text":{"format":{"type":"json_schema","name":"n","schema":{"a":1}},"verbosity":"low"},"max_output_tokens":4,"temperature":1.0,"top_logprobs":2,"metadata":{"a":"b"},"prompt_cache_options":{"ttl":"30m"}}`,
}

func TestIdentity(t *testing.T) {
	for _, body := range seeds {
		checkIdentity(t, []byte(body))
	}
	for _, x := range recorded.Load(t, "responses") {
		checkIdentity(t, x.Request)
	}
}

func FuzzRequest(f *testing.F) {
	for _, body := range seeds {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { checkIdentity(t, body) })
}

func FuzzAnswer(f *testing.F) {
	f.Add(strings.Join([]string{created, `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f"}}`, `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}`, ended}, "\n"))
	f.Add(`{"type":"response.output_text.delta","delta":"x"}` + "\n" + `{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"xy"},{"type":"refusal","refusal":"z"}]}}` + "\n" + ended)
	f.Add(`{"type":"response.reasoning_summary_text.delta","delta":"x","summary_index":3}` + "\n" + `{"type":"error","message":"y"}`)
	f.Fuzz(func(t *testing.T, stream string) {
		d := newAnswerDecoder()
		var events []translate.Event
		for _, line := range strings.Split(stream, "\n") {
			got, err := d.Event("", []byte(line))
			if err != nil {
				break
			}
			events = append(events, keep(got)...)
		}
		events = append(events, keep(d.End())...)
		checkEvents(t, events)
		id := identity
		id.Upstream, id.Flags = translate.Responses, translate.Defaults(translate.Responses)
		written(t, request(t, codex), id, events...)
	})
}

// checkEvents checks the order of an answer's events.
func checkEvents(t *testing.T, events []translate.Event) {
	t.Helper()
	next, open, ended := 0, map[int]bool{}, false
	for i, e := range events {
		if ended {
			t.Fatalf("event %d of kind %d stands behind the end", i, e.Kind)
		}
		switch e.Kind {
		case translate.Open:
			if e.Index != next {
				t.Fatalf("block %d opens as %d", next, e.Index)
			}
			open[next] = true
			next++
		case translate.Delta, translate.Cite, translate.Sealed:
			if !open[e.Index] {
				t.Fatalf("event %d is about block %d, which is not open", i, e.Index)
			}
		case translate.Close:
			if !open[e.Index] {
				t.Fatalf("block %d closes twice", e.Index)
			}
			delete(open, e.Index)
		case translate.Stop:
			ended = true
			if len(open) > 0 {
				t.Fatalf("blocks %v are open at the end", open)
			}
		case translate.Failed:
			ended = true
		}
	}
	if !ended {
		t.Fatal("no end")
	}
}

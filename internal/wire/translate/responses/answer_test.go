package responses

import (
	"encoding/json"
	"errors"
	"fmt"
	"github.com/google/go-cmp/cmp"
	"strings"
	"testing"

	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/recorded"
	"rubicon/internal/wire/translate"
)

// told is what an answer's events say, in lines: the texts of a block in one,
// however they came in pieces.
func told(events []translate.Event) []string {
	type block struct {
		head  string
		texts map[string]string
		order []string
		tail  []string
	}
	var lines []string
	blocks := map[int]*block{}
	for _, e := range events {
		switch e.Kind {
		case translate.Start:
			lines = append(lines, fmt.Sprintf("start %s %s", e.ID, e.Model))
		case translate.Open:
			b := e.Block
			blocks[e.Index] = &block{head: fmt.Sprintf("%s id=%s ns=%s name=%s custom=%v type=%s", b.Kind, b.ID, b.Namespace, b.Name, b.Custom, b.Type), texts: map[string]string{}}
		case translate.Delta:
			b := blocks[e.Index]
			key := fmt.Sprintf("%d/%d", e.Part, e.Paragraph)
			if _, had := b.texts[key]; !had {
				b.order = append(b.order, key)
			}
			b.texts[key] += e.Text
			if e.Logprobs != nil {
				b.texts[key+"lp"] += string(e.Logprobs)
			}
		case translate.Cite:
			blocks[e.Index].tail = append(blocks[e.Index].tail, "cite "+string(e.Raw))
		case translate.Sealed:
			blocks[e.Index].tail = append(blocks[e.Index].tail, "seal "+string(e.Seal.Kind)+" "+e.Seal.Data)
		case translate.Close:
			b := blocks[e.Index]
			line := b.head
			for _, key := range b.order {
				line += fmt.Sprintf(" %s=%q", key, b.texts[key])
			}
			lines = append(lines, strings.Join(append([]string{line}, b.tail...), " "))
		case translate.UsageNow:
			lines = append(lines, fmt.Sprintf("usage %+v", e.Usage))
		case translate.Stop:
			lines = append(lines, fmt.Sprintf("stop %s %s", e.Stop.Word, e.Stop.Original))
		case translate.Failed:
			lines = append(lines, fmt.Sprintf("failed %+v", e.Failure))
		}
	}
	return lines
}

// keep gives events bytes of their own: a decoder's are valid until its next.
func keep(events []translate.Event) []translate.Event {
	out := make([]translate.Event, len(events))
	for i, e := range events {
		e.Raw = append(translate.Raw(nil), e.Raw...)
		e.Logprobs = append(translate.Raw(nil), e.Logprobs...)
		e.Block.Raw = append(translate.Raw(nil), e.Block.Raw...)
		if len(e.Raw) == 0 {
			e.Raw = nil
		}
		if len(e.Logprobs) == 0 {
			e.Logprobs = nil
		}
		out[i] = e
	}
	return out
}

// decodeAll reads the data of a stream's events.
func decodeAll(t testing.TB, datas ...string) []translate.Event {
	t.Helper()
	d := newAnswerDecoder()
	var all []translate.Event
	for _, data := range datas {
		events, err := d.Event("", []byte(data))
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		all = append(all, keep(events)...)
	}
	return append(all, keep(d.End())...)
}

func decodeWhole(t testing.TB, body string) []translate.Event {
	t.Helper()
	events, err := newAnswerDecoder().Whole([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return keep(events)
}

// datas are the data of a recorded stream's events.
func datas(stream string) (all []string) {
	for _, record := range strings.Split(stream, "\n\n") {
		for _, line := range strings.Split(record, "\n") {
			if data, ok := strings.CutPrefix(line, "data:"); ok {
				all = append(all, strings.TrimSpace(data))
			}
		}
	}
	return all
}

func same(t *testing.T, want, got []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

const (
	created = `{"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress","output":[]}}`
	ended   = `{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[]}}`
)

// However a provider tells a call, it is told once, whole, and with its name.
func TestDecodeCall(t *testing.T) {
	want := []string{"start resp_1 m", `call id=call_1 ns= name=f custom=false type= 1/0="{\"a\":1}"`, "stop tool_use completed"}
	added := `{"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":""}}`
	delta := func(s string) string {
		return `{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"` + s + `"}`
	}
	argsDone := `{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":"{\"a\":1}"}`
	item := `{"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":"{\"a\":1}"}`
	itemDone := `{"type":"response.output_item.done","output_index":0,"item":` + item + `}`
	for name, stream := range map[string][]string{
		"as documented":             {created, added, delta(`{\"a\"`), delta(`:1}`), argsDone, itemDone, ended},
		"done alone":                {created, added, argsDone, itemDone, ended},
		"the item's end alone":      {created, added, itemDone, ended},
		"no beginning":              {created, itemDone, ended},
		"a rest in done":            {created, added, delta(`{\"a\"`), argsDone, itemDone, ended},
		"no end of the item":        {created, added, delta(`{\"a\":1}`), ended},
		"the last event alone":      {created, `{"type":"response.completed","response":{"status":"completed","output":[` + item + `]}}`},
		"and again in the output":   {created, added, delta(`{\"a\":1}`), itemDone, `{"type":"response.completed","response":{"status":"completed","output":[` + item + `]}}`},
		"with another id there":     {created, added, delta(`{\"a\":1}`), itemDone, strings.Replace(`{"type":"response.completed","response":{"status":"completed","output":[`+item+`]}}`, "fc_1", "fc_other", 1)},
		"no index":                  {created, strings.Replace(added, `"output_index":0,`, "", 1), strings.Replace(delta(`{\"a\":1}`), `"output_index":0,`, "", 1), strings.Replace(itemDone, `"output_index":0,`, "", 1), ended},
		"no ids of items":           {created, strings.Replace(added, `"id":"fc_1",`, "", 1), strings.Replace(delta(`{\"a\":1}`), `"item_id":"fc_1",`, "", 1), strings.Replace(itemDone, `"id":"fc_1",`, "", 1), ended},
		"an id that changes":        {created, added, strings.Replace(delta(`{\"a\":1}`), "fc_1", "fc_2", 1), strings.Replace(itemDone, "fc_1", "fc_3", 1), ended},
		"arguments as an object":    {created, added, strings.Replace(itemDone, `"{\"a\":1}"`, `{"a":1}`, 1), ended},
		"a name that comes late":    {created, strings.Replace(added, `"name":"f",`, "", 1), delta(`{\"a\":1}`), itemDone, ended},
		"a call id that comes late": {created, strings.Replace(added, `"call_id":"call_1",`, "", 1), delta(`{\"a\":1}`), itemDone, ended},
		"begun twice":               {created, added, added, delta(`{\"a\":1}`), itemDone, ended},
	} {
		t.Run(name, func(t *testing.T) { same(t, want, told(decodeAll(t, stream...))) })
	}
}

func TestFault33ArgumentsOnlyInDone(t *testing.T) {
	got := told(decodeAll(t, created,
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"ctc_1","type":"custom_tool_call","call_id":"c","name":"patch","input":""}}`,
		`{"type":"response.custom_tool_call_input.done","output_index":0,"item_id":"ctc_1","input":"*** Begin"}`, ended))
	same(t, []string{"start resp_1 m", `call id=c ns= name=patch custom=true type= 1/0="*** Begin"`, "stop tool_use completed"}, got)
}

// Parallel calls that all claim the same place stay apart.
func TestFault09SamePlace(t *testing.T) {
	got := told(decodeAll(t, created,
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"c1","name":"f"}}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"fc_2","type":"function_call","call_id":"c2","name":"g"}}`,
		`{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc_1","delta":"{}"}`,
		`{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc_2","delta":"[]"}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"c1","name":"f","arguments":"{}"}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"fc_2","type":"function_call","call_id":"c2","name":"g","arguments":"[]"}}`,
		`{"type":"response.completed","response":{"status":"completed","output":[{"id":"fc_1","type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"id":"fc_2","type":"function_call","call_id":"c2","name":"g","arguments":"[]"}]}}`))
	same(t, []string{"start resp_1 m", `call id=c1 ns= name=f custom=false type= 1/0="{}"`, `call id=c2 ns= name=g custom=false type= 1/0="[]"`, "stop tool_use completed"}, got)
}

func TestDecodeText(t *testing.T) {
	citation := `{"type":"url_citation","url":"u"}`
	want := []string{"start resp_1 m", `text id= ns= name= custom=false type= 0/0="Hello" cite ` + citation, "stop end completed"}
	added := `{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}`
	part := `{"type":"response.content_part.added","output_index":0,"content_index":0,"item_id":"msg_1","part":{"type":"output_text","text":""}}`
	delta := `{"type":"response.output_text.delta","output_index":0,"content_index":0,"item_id":"msg_1","delta":"Hel"}`
	cite := `{"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"annotation":` + citation + `}`
	textDone := `{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"Hello"}`
	full := `{"type":"output_text","text":"Hello","annotations":[` + citation + `]}`
	partDone := `{"type":"response.content_part.done","output_index":0,"content_index":0,"part":` + full + `}`
	item := `{"id":"msg_1","type":"message","role":"assistant","content":[` + full + `]}`
	itemDone := `{"type":"response.output_item.done","output_index":0,"item":` + item + `}`
	for name, stream := range map[string][]string{
		"as documented":          {created, added, part, delta, cite, textDone, partDone, itemDone, ended},
		"deltas alone":           {created, delta, `{"type":"response.output_text.delta","delta":"lo"}`, cite, ended},
		"without an opening":     {`{"type":"response.in_progress","response":{"id":"resp_1","model":"m"}}`, delta, cite, textDone, ended},
		"annotations at the end": {created, added, part, delta, partDone, itemDone, ended},
		"the item alone":         {created, itemDone, ended},
		"the output alone":       {created, `{"type":"response.completed","response":{"status":"completed","output":[` + item + `]}}`},
	} {
		t.Run(name, func(t *testing.T) { same(t, want, told(decodeAll(t, stream...))) })
	}
	whole := decodeWhole(t, `{"id":"resp_1","object":"response","model":"m","status":"completed","output":[`+item+`]}`)
	same(t, want, told(whole))
}

func TestFault34ItemsOfOneMessageEach(t *testing.T) {
	got := told(decodeWhole(t, `{"id":"r","model":"m","status":"completed","output":[
		{"id":"msg_1","type":"message","phase":"commentary","content":[{"type":"output_text","text":"plan"}]},
		{"id":"msg_2","type":"message","phase":"final_answer","content":[{"type":"output_text","text":"answer"},{"type":"refusal","refusal":"no"}]}]}`))
	same(t, []string{"start r m", `text id= ns= name= custom=false type= 0/0="plan"`, `text id= ns= name= custom=false type= 0/0="answer"`, `refusal id= ns= name= custom=false type= 0/0="no"`, "stop refusal completed"}, got)
}

func TestDecodeReasoning(t *testing.T) {
	item := `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"content":[{"type":"reasoning_text","text":"raw"}],"encrypted_content":"gAAA"}`
	want := []string{"start resp_1 m", `reasoning id= ns= name= custom=false type= 2/0="one" 2/1="two" 3/0="raw" seal encrypted_content gAAA`, "stop end completed"}
	streamed := decodeAll(t, created,
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`,
		`{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"on"}`,
		`{"type":"response.reasoning_summary_text.done","output_index":0,"summary_index":0,"text":"one"}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"two"}`,
		`{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"raw"}`,
		`{"type":"response.output_item.done","output_index":0,"item":`+item+`}`, ended)
	same(t, want, told(streamed))
	same(t, want, told(decodeWhole(t, `{"id":"resp_1","model":"m","status":"completed","output":[`+item+`]}`)))
}

func TestDecodeStop(t *testing.T) {
	for _, c := range []struct{ end, want string }{
		{`"status":"completed"`, "stop end completed"},
		{`"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}`, "stop length max_output_tokens"},
		{`"status":"incomplete","incomplete_details":{"reason":"content_filter"}`, "stop filter content_filter"},
		{`"status":"incomplete","incomplete_details":{"reason":"steered"}`, "stop steered steered"},
		{`"status":"incomplete","incomplete_details":{"reason":"whim"}`, "stop odd whim"},
		{`"status":"incomplete","incomplete_details":null`, "stop odd incomplete"},
		{`"status":"cancelled"`, "stop odd cancelled"},
		{`"status":"in_progress"`, "stop odd in_progress"},
		{`"status":"failed","error":{"code":"server_error","message":"x"}`, "failed {Code:server_error Type: Message:x Param:}"},
		{`"status":"failed"`, "failed {Code: Type:server_error Message:The provider's answer failed. Param:}"},
	} {
		got := told(decodeWhole(t, `{"id":"r","model":"m",`+c.end+`,"output":[]}`))
		if last := got[len(got)-1]; last != c.want {
			t.Errorf("%s: %s, want %s", c.end, last, c.want)
		}
		if strings.Contains(c.end, `"failed"`) {
			continue
		}
		for _, typ := range []string{"response.incomplete", "response.completed"} {
			if typ == "response.incomplete" && strings.Contains(c.end, "completed\"") {
				continue
			}
			got = told(decodeAll(t, created, `{"type":"`+typ+`","response":{`+c.end+`,"output":[]}}`))
			if last := got[len(got)-1]; last != c.want {
				t.Errorf("%s %s: %s, want %s", typ, c.end, last, c.want)
			}
		}
	}
}

// A word for an end that nobody knows is never a success.
func TestFault29UnknownEnd(t *testing.T) {
	got := told(decodeAll(t, created, `{"type":"response.incomplete","response":{"status":"completed","output":[]}}`))
	same(t, []string{"start resp_1 m", "stop odd incomplete"}, got)
}

func TestDecodeFailure(t *testing.T) {
	want := []string{"start resp_1 m", "failed {Code:rate_limit_exceeded Type:tokens Message:slow Param:}"}
	for _, event := range []string{
		`{"type":"error","code":"rate_limit_exceeded","message":"slow","error":{"type":"tokens","code":"rate_limit_exceeded","message":"slow"}}`,
		`{"type":"response.failed","response":{"status":"failed","error":{"type":"tokens","code":"rate_limit_exceeded","message":"slow"}}}`,
	} {
		same(t, want, told(decodeAll(t, created, event, ended)))
	}
	flat := told(decodeAll(t, created, `{"type":"error","code":"x","message":"y","param":null}`))
	same(t, []string{"start resp_1 m", "failed {Code:x Type: Message:y Param:}"}, flat)
}

func TestFault43Usage(t *testing.T) {
	got := told(decodeAll(t, created, `{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":30,"cache_write_tokens_details":{"ttl_30m_tokens":20,"ttl_12h_tokens":4}},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":109}}}`))
	u := translate.Usage{Fresh: 10, Cached: 60, Write: 6, Write30m: 20, Write12h: 4, Output: 9, Thinking: 5}
	same(t, []string{"start resp_1 m", fmt.Sprintf("usage %+v", u), "stop end completed"}, got)
}

func TestDecodeSilence(t *testing.T) {
	d := newAnswerDecoder()
	for _, data := range []string{"", `{"type":"keepalive"}`, `{"type":"ping"}`} {
		events, err := d.Event("", []byte(data))
		if err != nil || len(events) != 1 || events[0].Kind != translate.Beat {
			t.Errorf("%q: %v %v", data, events, err)
		}
	}
	if events, err := d.Event("", []byte("[1]")); err != nil || len(events) != 0 {
		t.Errorf("%v %v", events, err)
	}
	if _, err := d.Event("", []byte("nope")); !errors.Is(err, protocol.ErrNotProtocol) {
		t.Errorf("%v", err)
	}
	for _, body := range []string{"", "[]", `{"x":1}`, `{"output":"x"}`} {
		if _, err := newAnswerDecoder().Whole([]byte(body)); !errors.Is(err, protocol.ErrNotProtocol) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// A stream that is cut anywhere never ends well.
func TestCutStreams(t *testing.T) {
	for _, x := range recorded.Streams(t, "responses") {
		all := datas(x.Normal())
		for n := range all {
			for _, e := range decodeAll(t, all[:n]...) {
				if e.Kind == translate.Stop {
					t.Fatalf("%s: cut before event %d ends with %s", x.Name, n, e.Stop.Word)
				}
			}
		}
	}
}

// What a recorded answer says in the end is what its events say.
func TestStreamedAndWholeAgree(t *testing.T) {
	for _, x := range recorded.Streams(t, "responses") {
		all := datas(x.Normal())
		var last struct{ Response json.RawMessage }
		if err := json.Unmarshal([]byte(all[len(all)-1]), &last); err != nil || last.Response == nil {
			continue
		}
		t.Run(x.Name, func(t *testing.T) {
			same(t, unsealed(decodeWhole(t, string(last.Response))), unsealed(decodeAll(t, all...)))
		})
	}
}

// unsealed is told without what is sealed: providers seal anew in each event.
func unsealed(events []translate.Event) []string {
	for i := range events {
		if events[i].Kind == translate.Sealed {
			events[i].Seal = &translate.Seal{}
		}
	}
	return told(events)
}

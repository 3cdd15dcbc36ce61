package responses

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rubicon/internal/wire/protocol/recorded"
	"rubicon/internal/wire/translate"
)

var identity = translate.Identity{ResponseID: "resp_own", Model: "public", Created: 7, Upstream: translate.Chat, Flags: translate.Defaults(translate.Chat)}

var (
	start = translate.Event{Kind: translate.Start, ID: "upstream", Model: "private"}
	text  = translate.Block{Kind: translate.Text}
)

const plain = `{"model":"public","input":"hi","store":false}`

func TestEncodeStream(t *testing.T) {
	r := request(t, plain)
	outs := written(t, r, identity, start, open(0, translate.Block{Kind: translate.Think}), think(0, 0, "a"), think(0, 0, "b"), think(0, 3, "c"), shut(0),
		open(1, text), say(1, "Hel"), say(1, "lo"), shut(1), open(2, called("c1", "f")), input(2, "{}"), shut(2), stop(translate.ToolUse))
	want := "created in_progress " +
		"output_item.added reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done " +
		"reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done output_item.done " +
		"output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done " +
		"output_item.added function_call_arguments.delta function_call_arguments.done output_item.done completed"
	if got := names(outs); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	same(t, []string{
		`reasoning summary=[{"text":"ab","type":"summary_text"},{"text":"c","type":"summary_text"}]`,
		`message status="completed" phase="commentary" content=[{"annotations":[],"logprobs":[],"text":"Hello","type":"output_text"}]`,
		`function_call status="completed" call_id="c1" name="f" arguments="{}"`,
	}, items(t, outs))
	for i, o := range outs[:2] {
		if o.Class != translate.OutLifecycle {
			t.Errorf("event %d is of class %d", i, o.Class)
		}
	}
}

// The same events make the same answer, streamed or whole.
func TestEncodeWhole(t *testing.T) {
	r := request(t, plain)
	e := newAnswerEncoder(r, identity)
	if _, err := e.Whole(); err != ErrUnfinished {
		t.Errorf("an answer that did not end is %v", err)
	}
	var outs []translate.Out
	for _, ev := range []translate.Event{start, open(0, text), say(0, "x"), shut(0), stop(translate.End)} {
		outs = e.Events(outs, ev)
	}
	body, err := e.Whole()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := parse(t, body), lastObject(t, outs); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if more := e.Events(nil, say(0, "late")); more != nil {
		t.Errorf("behind the end comes %v", more)
	}
}

func TestEncodePhases(t *testing.T) {
	r := request(t, plain)
	own := translate.Block{Kind: translate.Text, Phase: "final_answer"}
	for name, c := range map[string]struct {
		events []translate.Event
		want   []string
	}{
		"the last is the answer": {[]translate.Event{open(0, text), say(0, "a"), shut(0), open(1, text), say(1, "b"), shut(1), stop(translate.End)}, []string{"commentary", "final_answer"}},
		"a call follows":         {[]translate.Event{open(0, text), say(0, "a"), shut(0), open(1, called("c", "f")), input(1, "{}"), shut(1), stop(translate.ToolUse)}, []string{"commentary", ""}},
		"upstream's own wins":    {[]translate.Event{open(0, own), say(0, "a"), shut(0), open(1, text), say(1, "b"), shut(1), stop(translate.End)}, []string{"final_answer", "final_answer"}},
		"cut":                    {[]translate.Event{open(0, text), say(0, "a"), shut(0), stop(translate.Length)}, []string{""}},
		"side by side":           {[]translate.Event{open(0, text), say(0, "a"), open(1, called("c", "f")), input(1, "{}"), shut(0), shut(1), stop(translate.ToolUse)}, []string{"commentary", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range lastObject(t, written(t, r, identity, append([]translate.Event{start}, c.events...)...))["output"].([]any) {
				phase, _ := v.(obj)["phase"].(string)
				got = append(got, phase)
			}
			same(t, c.want, got)
		})
	}
}

func TestEncodeStop(t *testing.T) {
	refusal := translate.Block{Kind: translate.Refusal}
	said := []translate.Event{start, open(0, text), say(0, "x"), shut(0)}
	refused := []translate.Event{start, open(0, refusal), say(0, "no"), shut(0)}
	for _, c := range []struct {
		events  []translate.Event
		stop    translate.StopReason
		profile string
		status  string
		reason  string
	}{
		{said, translate.StopReason{Word: translate.End}, "", "completed", ""},
		{said, translate.StopReason{Word: translate.StopSeq}, "", "completed", ""},
		{said, translate.StopReason{Word: translate.Length}, "", "incomplete", "max_output_tokens"},
		{said, translate.StopReason{Word: translate.ContextFull}, "", "incomplete", "max_output_tokens"},
		{said, translate.StopReason{Word: translate.Filter}, "", "incomplete", "content_filter"},
		{said, translate.StopReason{Word: translate.Filter}, codexProfile, "failed", "content_filter"},
		{refused, translate.StopReason{Word: translate.Refused}, "", "completed", ""},
		{refused, translate.StopReason{Word: translate.Refused}, codexProfile, "failed", "content_filter"},
		{said, translate.StopReason{Word: translate.Refused, Explains: "because"}, "", "incomplete", "content_filter"},
		{said, translate.StopReason{Word: translate.Steered}, "", "incomplete", "steered"},
		{said, translate.StopReason{Word: translate.Paused}, "", "failed", "upstream_paused"},
		{said, translate.StopReason{Word: translate.Odd, Original: "whim"}, "", "incomplete", "whim"},
		{said, translate.StopReason{Word: translate.Odd, Original: "completed"}, "", "incomplete", "unknown"},
		{said, translate.StopReason{}, "", "incomplete", "unknown"},
	} {
		id := identity
		id.Profile = c.profile
		r := lastObject(t, written(t, request(t, plain), id, append(slices.Clone(c.events), translate.Event{Kind: translate.Stop, Stop: c.stop})...))
		reason := ""
		if d, ok := r["incomplete_details"].(obj); ok {
			reason = d["reason"].(string)
		}
		if f, ok := r["error"].(obj); ok {
			reason = f["code"].(string)
		}
		if r["status"] != c.status || reason != c.reason {
			t.Errorf("%+v: %v %s, want %s %s", c.stop, r["status"], reason, c.status, c.reason)
		}
	}
}

// A call that the limit cut is no finished call, and never becomes an empty one.
func TestFault27CutCall(t *testing.T) {
	r := request(t, `{"model":"m","input":"hi","store":false,"tools":[{"type":"custom","name":"patch"}]}`)
	for _, c := range []struct {
		name, input string
		stop        translate.StopWord
		want        string
	}{
		{"f", `{"a":`, translate.Length, `function_call status="incomplete" call_id="c" name="f" arguments="{\"a\":"`},
		{"f", ``, translate.Length, `function_call status="incomplete" call_id="c" name="f" arguments=""`},
		{"f", ``, translate.Odd, `function_call status="incomplete" call_id="c" name="f" arguments=""`},
		{"f", `{"a":1}`, translate.Length, `function_call status="completed" call_id="c" name="f" arguments="{\"a\":1}"`},
		{"f", ``, translate.ToolUse, `function_call status="completed" call_id="c" name="f" arguments="{}"`},
		{"f", `broken`, translate.ToolUse, `function_call status="completed" call_id="c" name="f" arguments="broken"`},
		{"patch", `{"input":"*** Be`, translate.Length, `custom_tool_call status="incomplete" call_id="c" name="patch" input="*** Be"`},
		{"patch", `{"input":"*** Begin\n"}`, translate.ToolUse, `custom_tool_call status="completed" call_id="c" name="patch" input="*** Begin\n"`},
		{"patch", `{"input":"*** Begin"}`, translate.Length, `custom_tool_call status="completed" call_id="c" name="patch" input="*** Begin"`},
	} {
		outs := written(t, r, identity, start, open(0, called("c", c.name)), input(0, c.input), shut(0), stop(c.stop))
		same(t, []string{c.want}, items(t, outs))
		if cut := c.stop == translate.Length || c.stop == translate.Odd; cut != (outs[len(outs)-1].Name == "response.incomplete") {
			t.Errorf("%s %s ends with %s", c.input, c.stop, outs[len(outs)-1].Name)
		}
	}
}

// Of calls that came side by side any may have been cut.
func TestFault27CutSideBySide(t *testing.T) {
	outs := written(t, request(t, plain), identity, start, open(0, called("c1", "f")), input(0, `{"a`), open(1, called("c2", "g")), input(1, `{}`), shut(0), shut(1), stop(translate.Length))
	same(t, []string{
		`function_call status="incomplete" call_id="c1" name="f" arguments="{\"a"`,
		`function_call status="completed" call_id="c2" name="g" arguments="{}"`,
	}, items(t, outs))
}

func TestFault09ParallelCallsOfAnAnswer(t *testing.T) {
	outs := written(t, request(t, plain), identity, start, open(0, called("c1", "f")), input(0, `{"a"`), open(1, called("c2", "g")), input(1, `{"b"`), input(0, `:1}`), input(1, `:2}`), shut(0), shut(1), stop(translate.ToolUse))
	same(t, []string{
		`function_call status="completed" call_id="c1" name="f" arguments="{\"a\":1}"`,
		`function_call status="completed" call_id="c2" name="g" arguments="{\"b\":2}"`,
	}, items(t, outs))
}

const codex = `{"model":"m","store":false,"input":"hi","tools":[

	{"type":"custom","name":"apply_patch","description":"edits","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},
	{"type":"namespace","name":"mcp__files","description":"files of the user","tools":[{"type":"function","name":"read__all","parameters":{"type":"object"},"strict":false},{"type":"function","name":"` + longName + `","parameters":{"type":"object"}}]},
	{"type":"function","name":"shell__run","parameters":{"type":"object"},"strict":false}]}`

const longName = "a_name_that_is_so_long_that_no_provider_takes_it_behind_its_namespace"

// Names come back from this request's tools, never by what they look like.
func TestFault13Namespaces(t *testing.T) {
	r := request(t, codex)
	long := translate.NamesOf(r, translate.Chat, identity.Flags).Wire("mcp__files", longName)
	if len(long) > 64 {
		t.Errorf("%s is too long", long)
	}
	outs := written(t, r, identity, start,
		open(0, called("c1", "mcp__files__read__all")), input(0, "{}"), shut(0),
		open(1, called("c2", long)), input(1, "{}"), shut(1),
		open(2, called("c3", "shell__run")), input(2, "{}"), shut(2),
		open(3, called("c4", "not__known")), input(3, "{}"), shut(3), stop(translate.ToolUse))
	same(t, []string{
		`function_call status="completed" call_id="c1" namespace="mcp__files" name="read__all" arguments="{}"`,
		`function_call status="completed" call_id="c2" namespace="mcp__files" name="` + longName + `" arguments="{}"`,
		`function_call status="completed" call_id="c3" name="shell__run" arguments="{}"`,
		`function_call status="completed" call_id="c4" name="not__known" arguments="{}"`,
	}, items(t, outs))
}

func TestFault14CustomTool(t *testing.T) {
	r := request(t, codex)
	outs := written(t, r, identity, start, open(0, called("c1", "apply_patch")), input(0, `{"inp`), input(0, `ut": "*** Be`), input(0, `gin\u00`), input(0, `e9"}`), shut(0), stop(translate.ToolUse))
	same(t, []string{`custom_tool_call status="completed" call_id="c1" name="apply_patch" input="*** Beginé"`}, items(t, outs))
	if got := names(outs); !strings.Contains(got, "output_item.added custom_tool_call_input.delta custom_tool_call_input.done output_item.done completed") {
		t.Error(got)
	}
	native := called("c1", "apply_patch")
	native.Custom = true
	outs = written(t, r, identity, start, open(0, native), input(0, "*** Begin"), shut(0), stop(translate.ToolUse))
	same(t, []string{`custom_tool_call status="completed" call_id="c1" name="apply_patch" input="*** Begin"`}, items(t, outs))
}

func TestFault12CallIDs(t *testing.T) {
	long := strings.Repeat("x", 80)
	for _, id := range []string{"call_1", "weird id.of:theirs", long, ""} {
		outs := written(t, request(t, plain), identity, start, open(0, called(id, "f")), input(0, "{}"), shut(0), stop(translate.ToolUse))
		got := lastObject(t, outs)["output"].([]any)[0].(obj)["call_id"].(string)
		switch {
		case got == "" || len(got) > 64:
			t.Errorf("%q becomes %q", id, got)
		case id != "" && len(id) <= 64 && got != id:
			t.Errorf("%q becomes %q", id, got)
		}
	}
}

// Sealed reasoning goes to a client that asked for it alone.
func TestFault03Seals(t *testing.T) {
	events := []translate.Event{start, open(0, translate.Block{Kind: translate.Think}), think(0, 0, "why"),
		{Kind: translate.Sealed, Index: 0, Seal: &translate.Seal{Kind: translate.Signature, Data: "rbc1.x"}}, shut(0), stop(translate.End)}
	outs := written(t, request(t, plain), identity, events...)
	same(t, []string{`reasoning summary=[{"text":"why","type":"summary_text"}]`}, items(t, outs))
	outs = written(t, request(t, `{"model":"m","input":"hi","store":false,"include":["reasoning.encrypted_content"]}`), identity, events...)
	same(t, []string{`reasoning summary=[{"text":"why","type":"summary_text"}] encrypted_content="rbc1.x"`}, items(t, outs))
}

func TestEncodeFailure(t *testing.T) {
	failure := translate.Event{Kind: translate.Failed, Failure: translate.Failure{Type: "overloaded_error", Message: "busy"}}
	outs := written(t, request(t, plain), identity, start, open(0, text), say(0, "x"), open(1, called("c", "f")), input(1, `{"a`), failure)
	if got := names(outs); !strings.HasSuffix(got, "content_part.done output_item.done function_call_arguments.done output_item.done error failed") {
		t.Error(got)
	}
	same(t, []string{
		`message status="incomplete" content=[{"annotations":[],"logprobs":[],"text":"x","type":"output_text"}]`,
		`function_call status="incomplete" call_id="c" name="f" arguments="{\"a"`,
	}, items(t, outs))
	e := parse(t, outs[len(outs)-2].Data)
	nested := e["error"].(obj)
	if e["code"] != "server_is_overloaded" || nested["code"] != "server_is_overloaded" || nested["message"] != "busy" {
		t.Errorf("%v", e)
	}
	outs = written(t, request(t, plain), identity, failure)
	if got := names(outs); got != "created in_progress error failed" {
		t.Error(got)
	}
}

func TestFault44Overflow(t *testing.T) {
	outs := written(t, request(t, plain), identity, start, translate.Event{Kind: translate.Failed, Failure: translate.Failure{Type: "invalid_request_error", Message: "prompt is too long: 9 tokens > 8 maximum"}})
	if code := lastObject(t, outs)["error"].(obj)["code"]; code != "context_length_exceeded" {
		t.Errorf("%v", code)
	}
}

func TestFault31And32FullOutput(t *testing.T) {
	// checkStream does the checking; here is an answer with everything in it.
	cite := `{"type":"url_citation","url_citation":{"start_index":0,"end_index":1,"url":"u","title":"t"}}`
	outs := written(t, request(t, plain), identity, start, open(0, translate.Block{Kind: translate.Think}), shut(0),
		open(1, translate.Block{Kind: translate.Refusal}), say(1, "no"), shut(1),
		open(2, text), translate.Event{Kind: translate.Delta, Index: 2, Text: "a", Logprobs: translate.Raw(`[{"token":"a"}]`)}, translate.Event{Kind: translate.Delta, Index: 2, Text: "b", Logprobs: translate.Raw(`[{"token":"b"}]`)},
		translate.Event{Kind: translate.Cite, Index: 2, Raw: translate.Raw(cite)}, translate.Event{Kind: translate.Cite, Index: 2, Raw: translate.Raw(`{"type":"char_location"}`)},
		translate.Event{Kind: translate.Cite, Index: 2, Raw: translate.Raw(`{"type":"web_search_result_location","url":"w","title":"x","encrypted_index":"e"}`)}, shut(2),
		open(3, translate.Block{Kind: translate.Hosted, Origin: translate.Messages, Raw: translate.Raw(`{}`)}), shut(3), stop(translate.End))
	same(t, []string{
		`reasoning summary=[]`,
		`message status="completed" content=[{"refusal":"no","type":"refusal"}]`,
		`message status="completed" phase="final_answer" content=[{"annotations":[{"end_index":1,"start_index":0,"title":"t","type":"url_citation","url":"u"},{"end_index":2,"start_index":2,"title":"x","type":"url_citation","url":"w"}],"logprobs":[{"token":"a"},{"token":"b"}],"text":"ab","type":"output_text"}]`,
	}, items(t, outs))
}

func TestFault43UsageOfAnAnswer(t *testing.T) {
	u := translate.Usage{Fresh: 10, Cached: 60, Write5m: 6, Write30m: 20, Output: 9, Thinking: 5}
	outs := written(t, request(t, plain), identity, start, translate.Event{Kind: translate.UsageNow, Usage: u}, stop(translate.End))
	got, _ := json.Marshal(lastObject(t, outs)["usage"])
	want := `{"input_tokens":96,"input_tokens_details":{"cache_write_tokens":26,"cache_write_tokens_details":{"ttl_12h_tokens":0,"ttl_30m_tokens":20},"cached_tokens":60},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":105}`
	if string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	outs = written(t, request(t, plain), identity, start, translate.Event{Kind: translate.UsageNow}, stop(translate.End))
	if got := lastObject(t, outs)["usage"].(obj); got["input_tokens_details"] == nil || got["output_tokens_details"] == nil {
		t.Errorf("%v", got)
	}
}

// The client's own request is repeated to it, and not what upstream was asked.
func TestEncodeEcho(t *testing.T) {
	body := `{"model":"m","instructions":"be brief","input":"hi","store":false,"temperature":0.50,"top_p":0.9,"max_output_tokens":99,"metadata":{"a":"b"},"user":"u","prompt_cache_key":"k",
		"parallel_tool_calls":false,"tool_choice":{"type":"function","name":"f"},"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":true},{"type":"web_search"}],
		"reasoning":{"effort":"xhigh","summary":"auto"},"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true},"verbosity":"low"}}`
	outs := written(t, request(t, body), identity, start, stop(translate.End))
	for _, o := range []translate.Out{outs[0], outs[len(outs)-1]} {
		r := parse(t, o.Data)["response"].(obj)
		for name, want := range map[string]string{
			"id": `"resp_own"`, "model": `"public"`, "created_at": "7", "instructions": `"be brief"`, "temperature": "0.5", "top_p": "0.9", "max_output_tokens": "99", "metadata": `{"a":"b"}`,
			"user": `"u"`, "prompt_cache_key": `"k"`, "parallel_tool_calls": "false", "tool_choice": `{"name":"f","type":"function"}`,
			"tools":     `[{"description":"d","name":"f","parameters":{"type":"object"},"strict":true,"type":"function"},{"type":"web_search"}]`,
			"reasoning": `{"effort":"xhigh","summary":"auto"}`, "store": "false", "previous_response_id": "null",
			"text": `{"format":{"name":"n","schema":{"type":"object"},"strict":true,"type":"json_schema"},"verbosity":"low"}`,
		} {
			if got, _ := json.Marshal(r[name]); string(got) != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
	}
	big := request(t, `{"model":"m","instructions":"`+strings.Repeat("x", echoLimit+1)+`","input":"hi","store":false}`)
	if r := lastObject(t, written(t, big, identity, start, stop(translate.End))); r["instructions"] != nil {
		t.Error("instructions of any size are repeated")
	}
}

func TestEncodeBeat(t *testing.T) {
	beat := translate.Event{Kind: translate.Beat}
	outs := written(t, request(t, plain), identity, beat, start, beat, stop(translate.End))
	if got := names(outs); got != " created in_progress  completed" {
		t.Errorf("%q", got)
	}
	id := identity
	id.Profile = codexProfile
	outs = written(t, request(t, plain), id, beat, start, translate.Event{Kind: translate.UsageNow}, beat, stop(translate.End))
	if outs[0].Data != nil || outs[3].Class != translate.OutHeartbeat || outs[3].Name != "response.in_progress" {
		t.Errorf("%v", outs)
	}
	if r := parse(t, outs[3].Data)["response"].(obj); r["usage"] != nil || r["status"] != "in_progress" {
		t.Errorf("a sign of life tells %v", r)
	}
}

// Reasoning in full is a summary, which clients show, unless upstream told it in
// this format.
func TestEncodeThoughts(t *testing.T) {
	events := []translate.Event{start, open(0, translate.Block{Kind: translate.Think}), {Kind: translate.Delta, Index: 0, Part: translate.PartThought, Text: "why"}, shut(0), stop(translate.End)}
	outs := written(t, request(t, plain), identity, events...)
	same(t, []string{`reasoning summary=[{"text":"why","type":"summary_text"}]`}, items(t, outs))
	id := identity
	id.Upstream = translate.Responses
	outs = written(t, request(t, plain), id, events...)
	same(t, []string{`reasoning content=[{"text":"why","type":"reasoning_text"}] summary=[]`}, items(t, outs))
	if got := names(outs); got != "created in_progress output_item.added reasoning_text.delta reasoning_text.done output_item.done completed" {
		t.Error(got)
	}
}

// Nothing is said of an answer before upstream said something of it.
func TestEncodeFirstOutput(t *testing.T) {
	e := newAnswerEncoder(request(t, plain), identity)
	for _, ev := range []translate.Event{start, {Kind: translate.UsageNow}} {
		for _, o := range e.Events(nil, ev) {
			if o.Class == translate.OutOutput {
				t.Errorf("%s is output", o.Name)
			}
		}
	}
	if outs := e.Events(nil, open(0, text)); len(outs) == 0 || outs[0].Class != translate.OutOutput {
		t.Errorf("the first output makes %v", outs)
	}
}

// Every recorded answer says the same after it was written again.
func TestRecordedAnswers(t *testing.T) {
	for _, x := range recorded.Load(t, "responses") {
		if x.Status >= 400 {
			continue
		}
		t.Run(x.Name, func(t *testing.T) {
			var events []translate.Event
			if x.Stream {
				events = decodeAll(t, datas(x.Normal())...)
			} else {
				events = decodeWhole(t, x.Body)
			}
			r := request(t, string(x.Request))
			r.Reasoning.KeepSeals = true
			id := identity
			id.Upstream, id.Flags = translate.Responses, translate.Defaults(translate.Responses)
			id.ResponseID, id.Model = events[0].ID, events[0].Model
			e := newAnswerEncoder(r, id)
			var outs []translate.Out
			for _, ev := range events {
				outs = e.Events(outs, ev)
			}
			checkStream(t, outs)
			var again []string
			for _, o := range outs {
				again = append(again, string(o.Data))
			}
			want := told(events)
			same(t, want, told(decodeAll(t, again...)))
			body, err := e.Whole()
			if err != nil {
				t.Fatal(err)
			}
			same(t, want, told(decodeWhole(t, string(body))))
		})
	}
}

func BenchmarkDelta(b *testing.B) {
	data := []byte(`{"type":"response.output_text.delta","content_index":0,"delta":" a few words","item_id":"msg_019d0fbf74a564d6016a3c1181bdbc819384667dfe8e7de5c4","logprobs":[],"obfuscation":"CsGoBBsuRWFDB","output_index":1,"sequence_number":6}`)
	d := newAnswerDecoder()
	e := newAnswerEncoder(request(b, plain), identity)
	var outs []translate.Out
	b.ReportAllocs()
	for b.Loop() {
		events, err := d.Event("response.output_text.delta", data)
		if err != nil {
			b.Fatal(err)
		}
		for i := range events {
			outs = e.Events(outs[:0], events[i])
		}
	}
}

package responses

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

func TestParseRequest(t *testing.T) {
	for _, c := range []struct {
		body string
		want protocol.Request
	}{
		{`{"model":"m"}`, protocol.Request{Model: "m", Choices: 1}},
		{` {"model":"m","input":"hi","stream":true,"store":false,"unknown":{"Model":1,"model":2},"user":"u","user":"v"} `,
			protocol.Request{Model: "m", Stream: true, Store: protocol.StoreFalse, Choices: 1}},
		{`{"model":"m","store":true,"max_output_tokens":16,"service_tier":"flex","prompt_cache_key":"k","background":false}`,
			protocol.Request{Model: "m", Store: protocol.StoreTrue, MaxOutput: 16, Tier: "flex", Affinity: "k", Choices: 1}},
		{`{"model":"m","store":null,"stream":null,"max_output_tokens":null,"previous_response_id":null,"conversation":null,"background":null,"tools":null,"input":null,"prompt":null}`,
			protocol.Request{Model: "m", Choices: 1}},
		{`{"type":"response.create","model":"m","generate":false,"input":[]}`, protocol.Request{Model: "m", Choices: 1, Warmup: true}},
		{`{"type":"response.create","model":"m","generate":true}`, protocol.Request{Model: "m", Choices: 1}},
		{`{"model":"m","previous_response_id":"resp_1","input":"x"}`, protocol.Request{Model: "m", Choices: 1, Continuation: true, PrevResponse: "resp_1",
			Refs: []protocol.Ref{{Kind: "response", ID: "resp_1", Param: "previous_response_id"}}}},
		{`{"model":"m","conversation":"conv_1"}`, protocol.Request{Model: "m", Choices: 1, Continuation: true,
			Refs: []protocol.Ref{{Kind: "conversation", ID: "conv_1", Param: "conversation"}}}},
		{`{"model":"m","conversation":{"id":"conv_1"}}`, protocol.Request{Model: "m", Choices: 1, Continuation: true,
			Refs: []protocol.Ref{{Kind: "conversation", ID: "conv_1", Param: "conversation.id"}}}},
		{`{"mod\u0065l":"m"}`, protocol.Request{Model: "m", Choices: 1}},
	} {
		t.Run(c.body, func(t *testing.T) {
			got, bad := ParseRequest([]byte(c.body))
			if bad != nil {
				t.Fatal(bad)
			}
			c.want.EstimateBytes = int64(len(c.body))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ body, code, param string }{
		{``, fault.InvalidJSON, ""},
		{`{`, fault.InvalidJSON, ""},
		{`[]`, fault.InvalidJSON, ""},
		{`"x"`, fault.InvalidJSON, ""},
		{`{"model":"m"} {}`, fault.InvalidJSON, ""},
		{`{"model":"m",}`, fault.InvalidJSON, ""},
		{`{"model":1,"input":[}`, fault.InvalidJSON, ""},
		{`{}`, fault.InvalidRequest, "model"},
		{`{"model":null}`, fault.InvalidRequest, "model"},
		{`{"model":""}`, fault.InvalidRequest, "model"},
		{`{"model":7}`, fault.InvalidRequest, "model"},
		{`{"model":"m","model":"m"}`, fault.InvalidRequest, "model"},
		{`{"model":"m","model":null}`, fault.InvalidRequest, "model"},
		{`{"model":"m","mod\u0065l":"x"}`, fault.InvalidRequest, "model"},
		{`{"model":"m","Model":"x"}`, fault.InvalidRequest, "model"},
		{`{"model":"m","ſtore":false}`, fault.InvalidRequest, "store"},
		{`{"model":"m","STREAM":true}`, fault.InvalidRequest, "stream"},
		{`{"model":"m","stream":"true"}`, fault.InvalidRequest, "stream"},
		{`{"model":"m","stream":1}`, fault.InvalidRequest, "stream"},
		{`{"model":"m","store":"false"}`, fault.InvalidRequest, "store"},
		{`{"model":"m","store":true,"store":false}`, fault.InvalidRequest, "store"},
		{`{"model":"m","input":{}}`, fault.InvalidRequest, "input"},
		{`{"model":"m","tools":{}}`, fault.InvalidRequest, "tools"},
		{`{"model":"m","prompt":"p"}`, fault.InvalidRequest, "prompt"},
		{`{"model":"m","instructions":1}`, fault.InvalidRequest, "instructions"},
		{`{"model":"m","service_tier":1}`, fault.InvalidRequest, "service_tier"},
		{`{"model":"m","prompt_cache_key":1}`, fault.InvalidRequest, "prompt_cache_key"},
		{`{"model":"m","stream_options":[]}`, fault.InvalidRequest, "stream_options"},
		{`{"model":"m","generate":0}`, fault.InvalidRequest, "generate"},
		{`{"model":"m","type":1}`, fault.InvalidRequest, "type"},
		{`{"model":"m","stream_id":1,"stream_id":1}`, fault.InvalidRequest, "stream_id"},
		{`{"model":"m","previous_response_id":["x"]}`, fault.InvalidRequest, "previous_response_id"},
		{`{"model":"m","previous_response_id":""}`, fault.InvalidRequest, "previous_response_id"},
		{`{"model":"m","conversation":1}`, fault.InvalidRequest, "conversation"},
		{`{"model":"m","conversation":{}}`, fault.InvalidRequest, "conversation"},
		{`{"model":"m","conversation":""}`, fault.InvalidRequest, "conversation"},
		{`{"model":"m","max_output_tokens":0}`, fault.InvalidRequest, "max_output_tokens"},
		{`{"model":"m","max_output_tokens":-1}`, fault.InvalidRequest, "max_output_tokens"},
		{`{"model":"m","max_output_tokens":1.5}`, fault.InvalidRequest, "max_output_tokens"},
		{`{"model":"m","max_output_tokens":"16"}`, fault.InvalidRequest, "max_output_tokens"},
		{`{"model":"m","max_output_tokens":1e99}`, fault.InvalidRequest, "max_output_tokens"},
		{`{"model":"m","background":true}`, fault.UnsupportedParameter, "background"},
		{`{"model":"m","background":"true"}`, fault.InvalidRequest, "background"},
	} {
		got, bad := ParseRequest([]byte(c.body))
		if bad == nil {
			t.Errorf("%s: taken as %+v", c.body, got)
			continue
		}
		if bad.Code != c.code || bad.Param != c.param || bad.Status != 400 || bad.Retryable || bad.Message == "" {
			t.Errorf("%s: %+v", c.body, bad)
		}
	}
}

func TestRefs(t *testing.T) {
	seal := protocol.Seal("sealed text")
	for _, c := range []struct {
		part string // of a body with a model
		want []protocol.Ref
	}{
		{`"input":"resp_1"`, nil},
		{`"input":[{"type":"item_reference","id":"msg_1"},{"id":"msg_2"},{"type":null,"id":"msg_3"}]`, []protocol.Ref{
			{Kind: "item", ID: "msg_1", Param: "input[0].id"}, {Kind: "item", ID: "msg_2", Param: "input[1].id"}, {Kind: "item", ID: "msg_3", Param: "input[2].id"}}},
		// Whichever of repeated members upstream takes, it is known.
		{`"input":[{"type":"message","type":"item_reference","id":"a","id":"b"}]`, []protocol.Ref{
			{Kind: "item", ID: "a", Param: "input[0].id"}, {Kind: "item", ID: "b", Param: "input[0].id"}}},
		// Items given in full name nothing.
		{`"input":[{"role":"user","id":"x","content":"hi"},{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"t",
			"annotations":[{"type":"file_citation","file_id":"file_1"}]}]},{"type":"function_call","id":"fc_1","arguments":"{\"file_id\":\"f\"}"},
			{"type":"file_search_call","id":"fs_1","results":[{"file_id":"file_2"}]}]`, nil},
		{`"input":[{"role":"user","content":[{"type":"input_text","text":"t"},{"type":"input_file","file_id":"file_1"},{"type":"input_image","file_id":"file_2"}]}]`, []protocol.Ref{
			{Kind: "file", ID: "file_1", Param: "input[0].content[1].file_id"}, {Kind: "file", ID: "file_2", Param: "input[0].content[2].file_id"}}},
		{`"input":[{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","file_id":"file_1"}]},
			{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","file_id":"file_2"}}]`, []protocol.Ref{
			{Kind: "file", ID: "file_1", Param: "input[0].output[0].file_id"}, {Kind: "file", ID: "file_2", Param: "input[1].output.file_id"}}},
		{`"input":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sealed\u0020text"},{"type":"compaction","encrypted_content":"sealed text"},
			{"type":"compaction_summary","encrypted_content":"sealed text"},{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":null}]`, []protocol.Ref{
			{Kind: "sealed", ID: seal, Param: "input[0].encrypted_content"}, {Kind: "sealed", ID: seal, Param: "input[1].encrypted_content"},
			{Kind: "sealed", ID: seal, Param: "input[2].encrypted_content"}}},
		{`"input":[{"type":"code_interpreter_call","id":"ci","code":"1","container_id":"cntr_1"},{"type":"shell_call","environment":{"type":"container_reference","container_id":"cntr_2"}}]`, []protocol.Ref{
			{Kind: "container", ID: "cntr_1", Param: "input[0].container_id"}, {Kind: "container", ID: "cntr_2", Param: "input[1].environment.container_id"}}},
		{`"input":[{"type":"image_generation_call","id":"ig_1"},{"type":"image_generation_call","id":"ig_2","result":"aGk="}]`, []protocol.Ref{
			{Kind: "item", ID: "ig_1", Param: "input[0].id"}}},
		{`"tools":[{"type":"file_search","vector_store_ids":["vs_1","vs_2"]}]`, []protocol.Ref{
			{Kind: "vector_store", ID: "vs_1", Param: "tools[0].vector_store_ids[0]"}, {Kind: "vector_store", ID: "vs_2", Param: "tools[0].vector_store_ids[1]"}}},
		{`"tools":[{"type":"code_interpreter","container":"cntr_1"},{"type":"code_interpreter","container":{"type":"auto","file_ids":["file_1"]}}]`, []protocol.Ref{
			{Kind: "container", ID: "cntr_1", Param: "tools[0].container"}, {Kind: "file", ID: "file_1", Param: "tools[1].container.file_ids[0]"}}},
		{`"tools":[{"type":"shell","environment":{"type":"container_reference","container_id":"cntr_1"}},{"type":"image_generation","input_image_mask":{"file_id":"file_1"}}]`, []protocol.Ref{
			{Kind: "container", ID: "cntr_1", Param: "tools[0].environment.container_id"}, {Kind: "file", ID: "file_1", Param: "tools[1].input_image_mask.file_id"}}},
		{`"tools":[{"type":"function","name":"f","parameters":{"properties":{"file_id":"x","container":"y"}}}]`, nil},
		{`"prompt":{"id":"pmpt_1","version":"2","variables":{"city":"Rome","doc":{"type":"input_file","file_id":"file_1"}}}`, []protocol.Ref{
			{Kind: "prompt", ID: "pmpt_1", Param: "prompt.id"}, {Kind: "file", ID: "file_1", Param: "prompt.variables.doc.file_id"}}},
		{`"instructions":[{"type":"item_reference","id":"msg_1"}]`, []protocol.Ref{{Kind: "item", ID: "msg_1", Param: "instructions[0].id"}}},
	} {
		t.Run(c.part, func(t *testing.T) {
			got, bad := ParseRequest([]byte(`{"model":"m",` + c.part + `}`))
			if bad != nil {
				t.Fatal(bad)
			}
			if diff := cmp.Diff(c.want, got.Refs, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Continuation {
				t.Error("a continuation")
			}
		})
	}
}

func TestHosted(t *testing.T) {
	for _, c := range []struct {
		part string
		want []string
	}{
		{`"tools":[{"type":"mcp","server_label":"s","server_url":"u"}]`, []string{"mcp"}},
		{`"tools":[{"type":"code_interpreter","container":{"type":"auto"}},{"type":"code_interpreter","container":"c"}]`, []string{"code_interpreter"}},
		{`"tools":[{"type":"image_generation"},{"type":"mcp"}]`, []string{"image_generation", "mcp"}},
		{`"tools":[{"type":"shell"}]`, []string{"shell"}},
		{`"tools":[{"type":"shell","environment":{"type":"container_auto"}}]`, []string{"shell"}},
		{`"tools":[{"type":"shell","environment":{"type":"local"}}]`, nil},
		{`"tools":[{"environment":{"type":"container_auto"},"type":"shell"}]`, []string{"shell"}},
		{`"tools":[{"type":"programmatic_tool_calling"}]`, []string{"programmatic_tool_calling"}},
		{`"tools":[{"type":"function","name":"f","allowed_callers":["direct","programmatic"]}]`, []string{"programmatic_tool_calling"}},
		{`"tools":[{"type":"function","name":"f","allowed_callers":["direct"]}]`, nil},
		{`"tools":[{"type":"namespace","name":"n","tools":[{"type":"mcp"}]}]`, []string{"mcp"}},
		{`"input":[{"type":"additional_tools","role":"developer","tools":[{"type":"mcp"}]}]`, []string{"mcp"}},
		{`"tools":[{"type":"function","type":"mcp"}]`, []string{"mcp"}},
		{`"tools":[{"type":"web_search"},{"type":"web_search_preview"},{"type":"file_search"},{"type":"function","name":"mcp"},{"type":"custom"},
			{"type":"local_shell"},{"type":"apply_patch"},{"type":"computer"},{"type":"computer_use_preview"},{"type":"tool_search"}]`, nil},
		{`"input":[{"type":"mcp_list_tools","tools":[{"name":"mcp"}]},{"type":"mcp_call","arguments":"{}"}]`, nil},
		{`"tools":["mcp",7,null]`, nil},
	} {
		got, bad := ParseRequest([]byte(`{"model":"m",` + c.part + `}`))
		if bad != nil {
			t.Errorf("%s: %v", c.part, bad)
		}
		if diff := cmp.Diff(c.want, got.Hosted, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.part, diff)
		}
	}
}

func TestBilledBytes(t *testing.T) {
	data := "data:image/png;base64," + strings.Repeat("A", 1000)
	for _, c := range []struct {
		part        string
		attachments int
		unbilled    int
	}{
		{`"input":"` + data + `"`, 0, 0},
		{`"input":[{"role":"user","content":"` + data + `"}]`, 0, 0},
		{`"input":[{"role":"user","content":[{"type":"input_image","image_url":"` + data + `"},{"type":"input_file","filename":"f","file_data":"` + data + `"}]}]`, 2, 2 * len(data)},
		{`"input":[{"role":"user","content":[{"type":"input_image","image_url":"https://example.test/i.png"},{"type":"input_file","file_id":"f"}]}]`, 2, 0},
		{`"input":[{"type":"function_call_output","output":[{"type":"input_image","image_url":"` + data + `"}]}]`, 1, len(data)},
		{`"input":[{"type":"computer_call_output","output":{"type":"computer_screenshot","image_url":"` + data + `"}}]`, 1, len(data)},
		{`"input":[{"type":"image_generation_call","id":"ig","result":"` + strings.Repeat("A", 500) + `"}]`, 1, 500},
		{`"input":[{"type":"program_output","result":"` + strings.Repeat("A", 500) + `"}]`, 0, 0},
	} {
		body := `{"model":"m",` + c.part + `}`
		got, bad := ParseRequest([]byte(body))
		if bad != nil {
			t.Fatal(bad)
		}
		if got.Attachments != c.attachments || got.EstimateBytes != int64(len(body)-c.unbilled) {
			t.Errorf("%.80s: %d attachments, %d of %d bytes", body, got.Attachments, got.EstimateBytes, len(body))
		}
	}
}

// TestDeepNesting: a hostile body must not cost more than its size.
func TestDeepNesting(t *testing.T) {
	deep := strings.Repeat(`{"content":[`, 300) + strings.Repeat(`]}`, 300)
	tools := strings.Repeat(`{"tools":[`, 300) + strings.Repeat(`]}`, 300)
	if _, bad := ParseRequest([]byte(`{"model":"m","input":[` + deep + `],"tools":[` + tools + `]}`)); bad != nil {
		t.Fatal(bad)
	}
	if _, bad := ParseRequest([]byte(`{"model":"m","input":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`)); bad == nil || bad.Code != fault.InvalidJSON {
		t.Errorf("5000 arrays deep: %v", bad)
	}
}

func TestUpstream(t *testing.T) {
	for _, c := range []struct {
		body string
		rw   protocol.Rewrite
		want string
	}{
		{`{"model":"a","x": 1.50,"y":"\u00e9"}`, protocol.Rewrite{}, `{"model":"a","x": 1.50,"y":"\u00e9"}`},
		{`{ "model" : "a/b" , "x": 1.50 }`, protocol.Rewrite{Model: `b"c`}, `{ "model" : "b\"c" , "x": 1.50 }`},
		{`{"model":"a"}`, protocol.Rewrite{Model: "b", StoreFalse: true}, `{"store":false,"model":"b"}`},
		{`{"model":"a","store":null}`, protocol.Rewrite{Model: "b", StoreFalse: true}, `{"model":"b","store":false}`},
		{`{"model":"a","store":true}`, protocol.Rewrite{Model: "b", StoreFalse: true}, `{"model":"b","store":true}`},
		{`{"model":"a","store":false}`, protocol.Rewrite{Model: "b", StoreFalse: true}, `{"model":"b","store":false}`},
		{`{"type":"response.create","model":"a","generate":true,"input":[]}`, protocol.Rewrite{Model: "b", DropWS: true}, `{"stream":true,"model":"b","input":[]}`},
		{`{"type":"response.create","model":"a","stream":false}`, protocol.Rewrite{Model: "b", DropWS: true}, `{"model":"b","stream":true}`},
		{`{"model":"a","type":"x","stream":false}`, protocol.Rewrite{Model: "b"}, `{"model":"b","type":"x","stream":false}`},
	} {
		got, err := Upstream([]byte(c.body), c.rw)
		if err != nil || string(got) != c.want {
			t.Errorf("%s %+v: %s, %v; want %s", c.body, c.rw, got, err, c.want)
		}
	}
	if got, err := Upstream([]byte(`{`), protocol.Rewrite{Model: "b"}); err == nil {
		t.Errorf("half a body: %s", got)
	}
}

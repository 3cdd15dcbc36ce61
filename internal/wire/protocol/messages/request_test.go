package messages_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/messages"
)

func TestParseRequest(t *testing.T) {
	base := protocol.Request{Model: "m", Store: protocol.StoreFalse, Choices: 1}
	sealed := func(s, param string) protocol.Ref {
		return protocol.Ref{Kind: protocol.KindSealed, ID: protocol.Seal(s), Param: param}
	}
	for _, c := range []struct {
		name, body string
		change     func(*protocol.Request)
	}{
		{"least", `{"model":"m"}`, func(*protocol.Request) {}},
		{"nulls count as absent", `{"model":"m","stream":null,"max_tokens":null,"container":null,"system":null,"tools":null,"mcp_servers":null}`, func(*protocol.Request) {}},
		{"all", `{"model":"m","stream":true,"max_tokens":100,"service_tier":"auto","system":"s","metadata":{"user_id":"u"},"thinking":{"type":"enabled"}}`,
			func(r *protocol.Request) { r.Stream, r.MaxOutput, r.Tier = true, 100, "auto" }},
		{"store is no word here", `{"model":"m","store":true}`, func(*protocol.Request) {}},
		{"container", `{"model":"m","container":"container_1"}`,
			func(r *protocol.Request) {
				r.Refs = []protocol.Ref{{Kind: protocol.KindContainer, ID: "container_1", Param: "container"}}
			}},
		{"container object, twice", `{"model":"m","container":{"id":"a","Id":"b","skills":[]}}`,
			func(r *protocol.Request) {
				r.Refs = []protocol.Ref{{Kind: protocol.KindContainer, ID: "a", Param: "container.id"}, {Kind: protocol.KindContainer, ID: "b", Param: "container.id"}}
			}},
		{"new container", `{"model":"m","container":{"skills":[]}}`, func(*protocol.Request) {}},
		{"client's tools", `{"model":"m","tools":[{"name":"f","input_schema":{}},{"type":"custom","name":"g"},{"type":"bash_20250124","name":"bash"},{"type":"text_editor_20250728"},{"type":"computer_20251124"},{"type":"memory_20250818"},{"type":null}]}`, func(*protocol.Request) {}},
		{"server tools", `{"model":"m","tools":[{"type":"web_search_20250305"},{"type":"web_fetch_20250910"},{"type":"code_execution_20250825"},{"type":"tool_search_tool_bm25_20251119"},{"type":"mcp_toolset"},{"type":"x_1"}]}`,
			func(r *protocol.Request) {
				r.Hosted = []string{"web_search", "web_fetch", "code_execution", "tool_search_tool_bm25", "mcp_toolset", "x_1"}
			}},
		{"mcp servers", `{"model":"m","mcp_servers":[{"type":"url","url":"x"}]}`, func(r *protocol.Request) { r.Hosted = []string{"mcp"} }},
		{"no mcp servers", `{"model":"m","mcp_servers":[ ]}`, func(*protocol.Request) {}},
		{"sealed thinking", `{"model":"m","messages":[{"role":"user","content":"signature"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"d"},{"signature":"","type":"thinking"},{"type":"compaction","content":"x","encrypted_content":"e"}]}]}`,
			func(r *protocol.Request) {
				r.Refs = []protocol.Ref{sealed("s", "messages[1].content[0].signature"), sealed("d", "messages[1].content[1].data"), sealed("e", "messages[1].content[3].encrypted_content")}
			}},
		{"files", `{"model":"m","system":[{"type":"text","text":"x"}],"messages":[{"content":[{"type":"document","source":{"type":"file","file_id":"f1"}},{"type":"container_upload","file_id":"f2"},{"type":"tool_result","content":[{"type":"image","source":{"file_id":"f3","type":"file"}}]}]}]}`,
			func(r *protocol.Request) {
				r.Refs = []protocol.Ref{
					{Kind: protocol.KindFile, ID: "f1", Param: "messages[0].content[0].source.file_id"},
					{Kind: protocol.KindFile, ID: "f2", Param: "messages[0].content[1].file_id"},
					{Kind: protocol.KindFile, ID: "f3", Param: "messages[0].content[2].content[0].source.file_id"},
				}
				r.Attachments = 3
			}},
		{"every spelling and occurrence of an id", `{"model":"m","messages":[{"Content":[{"Type":"image","type":"text","SOURCE":{"file_id":"a","File_ID":"b"}}]}]}`,
			func(r *protocol.Request) {
				for _, id := range []string{"a", "b"} {
					r.Refs = append(r.Refs, protocol.Ref{Kind: protocol.KindFile, ID: id, Param: "messages[0].content[0].source.file_id"})
				}
				r.Attachments = 1
			}},
		{"a tool's input is the client's own", `{"model":"m","messages":[{"content":[{"type":"tool_use","input":{"file_id":"x","source":{"file_id":"y"},"content":[{"type":"thinking","signature":"z"}]}},{"type":"tool_result","content":"file_id"}]}]}`, func(*protocol.Request) {}},
		{"base64", `{"model":"m","messages":[{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAAAAAA"}},{"type":"document","source":{"data":"BB","type":"base64"}}]}]}`,
			func(r *protocol.Request) { r.Attachments, r.EstimateBytes = 2, -10 }},
		{"by address", `{"model":"m","messages":[{"content":[{"type":"image","source":{"type":"url","url":"https://a.b/c.png"}}]}]}`, func(r *protocol.Request) { r.Attachments = 1 }},
		{"by data URL", `{"model":"m","messages":[{"content":[{"type":"image","source":{"type":"url","url":"data:image/png;base64,AAAA"}}]}]}`,
			func(r *protocol.Request) { r.Attachments, r.EstimateBytes = 1, -26 }},
		{"plain text is billed", `{"model":"m","messages":[{"content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"AAAA"}}]}]}`, func(*protocol.Request) {}},
		{"image inside a document's content", `{"model":"m","messages":[{"content":[{"type":"document","source":{"type":"content","content":[{"type":"image","source":{"type":"base64","data":"AAAA"}}]}}]}]}`,
			func(r *protocol.Request) { r.Attachments, r.EstimateBytes = 1, -4 }},
		{"fetched document", `{"model":"m","messages":[{"content":[{"type":"web_fetch_tool_result","content":{"type":"web_fetch_result","content":{"type":"document","source":{"type":"base64","data":"AAAA"}}}}]}]}`,
			func(r *protocol.Request) { r.Attachments, r.EstimateBytes = 1, -4 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := base
			c.change(&want)
			want.EstimateBytes += int64(len(c.body))
			got, bad := messages.ParseRequest([]byte(c.body))
			if bad != nil {
				t.Fatal(bad)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseRequestRefuses(t *testing.T) {
	deep := `{"model":"m","messages":[{"content":` + strings.Repeat(`[{"type":"tool_result","content":`, 9) + `[{"source":{"file_id":"x"}}]` + strings.Repeat(`}]`, 9) + `}]}`
	for _, c := range []struct{ body, code, param string }{
		{`{`, "invalid_json", ""},
		{`"x"`, "invalid_json", ""},
		{`{"max_tokens":5}`, "invalid_request", "model"},
		{`{"model":"m","max_tokens":0}`, "invalid_request", "max_tokens"},
		{`{"model":"m","max_tokens":"5"}`, "invalid_request", "max_tokens"},
		{`{"model":"m","stream":"true"}`, "invalid_request", "stream"},
		{`{"model":"m","Stream":true}`, "invalid_request", "stream"},
		{`{"model":"m","container":5}`, "invalid_request", "container"},
		{`{"model":"m","container":"a","container":"b"}`, "invalid_request", "container"},
		{`{"model":"m","mcp_servers":{}}`, "invalid_request", "mcp_servers"},
		{`{"model":"m","tools":{}}`, "invalid_request", "tools"},
		{`{"model":"m","messages":"x"}`, "invalid_request", "messages"},
		{deep, "invalid_request", "messages[0].content" + strings.Repeat("[0].content", 8)},
	} {
		_, bad := messages.ParseRequest([]byte(c.body))
		if bad == nil || bad.Code != c.code || bad.Param != c.param || bad.Status != 400 {
			t.Errorf("%s: got %+v, want %s, %s", c.body, bad, c.code, c.param)
		}
	}
	if _, bad := messages.ParseCountTokens([]byte(`{"model":"m","stream":true}`)); bad == nil || bad.Code != "unsupported_parameter" {
		t.Errorf("count_tokens streamed: %+v", bad)
	}
	if r, bad := messages.ParseCountTokens([]byte(`{"model":"m","container":"c"}`)); bad != nil || len(r.Refs) != 1 {
		t.Errorf("count_tokens: %+v, %+v", r, bad)
	}
}

func TestUpstream(t *testing.T) {
	for _, c := range []struct {
		body string
		rw   protocol.Rewrite
		want string
	}{
		{` { "model":"m" ,"x":1.0}`, protocol.Rewrite{}, ` { "model":"m" ,"x":1.0}`},
		{` { "model":"m" ,"x":1.0}`, protocol.Rewrite{Model: "up"}, ` { "model":"up" ,"x":1.0}`},
		{`{"model":"m","stream":true}`, protocol.Rewrite{StoreFalse: true, AskUsage: true, DropWS: true}, `{"model":"m","stream":true}`},
	} {
		got, err := messages.Upstream([]byte(c.body), c.rw)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v", c.body, got, err)
		}
	}
	if _, err := messages.Upstream([]byte(`{"model"`), protocol.Rewrite{Model: "u"}); err == nil {
		t.Error("a body that is no JSON went up")
	}
}

// Whatever is accepted travels up as valid JSON that differs in the model alone.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model":"m","stream":true,"messages":[{"content":[{"type":"image","source":{"type":"base64","data":"x"}},{"type":"thinking","signature":"s"}]}]}`))
	f.Add([]byte(`{"system":[{"type":"text"}],"model":"m","container":{"id":"c"},"tools":[{"type":"web_search_20250305"}],"max_tokens":5}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, bad := messages.ParseRequest(b)
		if bad != nil {
			return
		}
		if r.Choices != 1 || r.MaxOutput < 0 || r.EstimateBytes < 0 || r.Store != protocol.StoreFalse {
			t.Errorf("%q: %+v", b, r)
		}
		up, err := messages.Upstream(b, protocol.Rewrite{Model: "up"})
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		var was, is map[string]json.RawMessage
		if json.Unmarshal(b, &was) != nil || json.Unmarshal(up, &is) != nil || string(is["model"]) != `"up"` {
			t.Fatalf("%q became %q", b, up)
		}
		delete(was, "model")
		delete(is, "model")
		if d := cmp.Diff(was, is); d != "" {
			t.Errorf("%q became %q: %s", b, up, d)
		}
	})
}

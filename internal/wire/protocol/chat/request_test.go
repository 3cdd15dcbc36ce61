package chat_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/chat"
)

func TestParseRequest(t *testing.T) {
	// The defaults that every case starts from; size is the body's.
	base := protocol.Request{Model: "m", Store: protocol.StoreFalse, Choices: 1}
	for _, c := range []struct {
		name, body string
		change     func(*protocol.Request)
	}{
		{"least", `{"model":"m"}`, func(*protocol.Request) {}},
		{"nulls count as absent", `{"model":"m","stream":null,"store":null,"n":null,"max_tokens":null,"stream_options":null,"tools":null,"messages":null}`, func(*protocol.Request) {}},
		{"stream", `{"model":"m","stream":true}`, func(r *protocol.Request) { r.Stream = true }},
		{"asks for usage", `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`, func(r *protocol.Request) { r.Stream, r.IncludeUsage = true, true }},
		{"does not", `{"model":"m","stream":true,"stream_options":{"include_usage":false,"x":1}}`, func(r *protocol.Request) { r.Stream = true }},
		{"store", `{"model":"m","store":true}`, func(r *protocol.Request) { r.Store = protocol.StoreTrue }},
		{"store false", `{"model":"m","store":false}`, func(*protocol.Request) {}},
		{"choices", `{"model":"m","n":3}`, func(r *protocol.Request) { r.Choices = 3 }},
		{"larger maximum", `{"model":"m","max_tokens":10,"max_completion_tokens":7}`, func(r *protocol.Request) { r.MaxOutput = 10 }},
		{"larger maximum, the other", `{"model":"m","max_tokens":7,"max_completion_tokens":10}`, func(r *protocol.Request) { r.MaxOutput = 10 }},
		{"tier and affinity", `{"model":"m","service_tier":"flex","prompt_cache_key":"k"}`, func(r *protocol.Request) { r.Tier, r.Affinity = "flex", "k" }},
		{"plain tools", `{"model":"m","tools":[{"type":"function","function":{"name":"mcp"}},{"type":"custom"},{"type":"web_search"},7]}`, func(*protocol.Request) {}},
		{"tools with effects", `{"model":"m","tools":[{"type":"mcp"},{"type":"code_interpreter"},{"type":"image_generation_v2"}]}`,
			func(r *protocol.Request) { r.Hosted = []string{"mcp", "code_interpreter", "image_generation_v2"} }},
		{"mcp servers", `{"model":"m","mcp_servers":[{"url":"x"}]}`, func(r *protocol.Request) { r.Hosted = []string{"mcp"} }},
		{"no mcp servers", `{"model":"m","mcp_servers":[]}`, func(*protocol.Request) {}},
		{"audio of an answer", `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","audio":{"id":"audio_1"}}]}`,
			func(r *protocol.Request) {
				r.Refs = []protocol.Ref{{Kind: protocol.KindAudio, ID: "audio_1", Param: "messages[1].audio.id"}}
			}},
		{"every spelling and occurrence of an id", `{"model":"m","messages":[{"audio":{"id":"a","ID":"b"},"Audio":{"id":"c"}}]}`,
			func(r *protocol.Request) {
				for _, id := range []string{"a", "b", "c"} {
					r.Refs = append(r.Refs, protocol.Ref{Kind: protocol.KindAudio, ID: id, Param: "messages[0].audio.id"})
				}
			}},
		{"no ids", `{"model":"m","messages":[{"audio":null},{"audio":{"id":""}},{"audio":{"id":7}},{"content":[{"type":"file","file":{"filename":"x"}}]},7]}`,
			func(r *protocol.Request) { r.Attachments = 1 }},
		{"file", `{"model":"m","messages":[{"content":[{"type":"text","text":"file_id"},{"type":"file","file":{"file_id":"file-1"}}]}]}`,
			func(r *protocol.Request) {
				r.Refs = []protocol.Ref{{Kind: protocol.KindFile, ID: "file-1", Param: "messages[0].content[1].file.file_id"}}
				r.Attachments = 1
			}},
		{"sealed reasoning", `{"model":"m","messages":[{"role":"assistant","reasoning_details":[{"type":"reasoning.text","text":"t","signature":"s"},{"data":"d"}],"thinking_blocks":[{"signature":"b"}],"tool_calls":[{"id":"c","extra_content":{"google":{"thought_signature":"g"}}}]}]}`,
			func(r *protocol.Request) {
				for _, s := range [][2]string{{"s", "reasoning_details[0].signature"}, {"d", "reasoning_details[1].data"}, {"b", "thinking_blocks[0].signature"}, {"g", "tool_calls[0].extra_content.google.thought_signature"}} {
					r.Refs = append(r.Refs, protocol.Ref{Kind: protocol.KindSealed, ID: protocol.Seal(s[0]), Param: "messages[0]." + s[1]})
				}
			}},
		{"image by address", `{"model":"m","messages":[{"content":[{"type":"image_url","image_url":{"url":"https://a.b/c.png"}}]}]}`, func(r *protocol.Request) { r.Attachments = 1 }},
		{"image as data URL", `{"model":"m","messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`,
			func(r *protocol.Request) { r.Attachments = 1; r.EstimateBytes = -26 }},
		{"image as string", `{"model":"m","messages":[{"content":[{"type":"image_url","image_url":"DATA:image/png;base64,AAAA"}]}]}`,
			func(r *protocol.Request) { r.Attachments = 1; r.EstimateBytes = -26 }},
		{"audio and file inline", `{"model":"m","messages":[{"content":[{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}},{"type":"file","file":{"file_data":"BBBBBB"}}]}]}`,
			func(r *protocol.Request) { r.Attachments = 2; r.EstimateBytes = -10 }},
		{"text that looks like a data URL", `{"model":"m","messages":[{"content":"data:image/png;base64,AAAA"},{"content":[{"type":"text","text":"data:x"}]}]}`, func(*protocol.Request) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := base
			c.change(&want)
			want.EstimateBytes += int64(len(c.body))
			got, bad := chat.ParseRequest([]byte(c.body))
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
	for _, c := range []struct{ body, code, param string }{
		{`{"model":"m"`, "invalid_json", ""},
		{`[]`, "invalid_json", ""},
		{`{}`, "invalid_request", "model"},
		{`{"model":"m","n":0}`, "invalid_request", "n"},
		{`{"model":"m","max_tokens":-1}`, "invalid_request", "max_tokens"},
		{`{"model":"m","max_completion_tokens":"5"}`, "invalid_request", "max_completion_tokens"},
		{`{"model":"m","stream":1}`, "invalid_request", "stream"},
		{`{"model":"m","store":"yes"}`, "invalid_request", "store"},
		{`{"model":"m","Store":true}`, "invalid_request", "store"},
		{`{"model":"m","messages":{}}`, "invalid_request", "messages"},
		{`{"model":"m","messages":[],"messages":[]}`, "invalid_request", "messages"},
		{`{"model":"m","stream_options":[]}`, "invalid_request", "stream_options"},
		{`{"model":"m","stream_options":{"include_usage":1}}`, "invalid_request", "stream_options.include_usage"},
		{`{"model":"m","stream_options":{"include_usage":true,"include_usage":false}}`, "invalid_request", "stream_options.include_usage"},
		{`{"model":"m","stream_options":{"Include_Usage":true}}`, "invalid_request", "stream_options.include_usage"},
	} {
		_, bad := chat.ParseRequest([]byte(c.body))
		if bad == nil || bad.Code != c.code || bad.Param != c.param || bad.Status != 400 {
			t.Errorf("%s: got %+v, want %s, %s", c.body, bad, c.code, c.param)
		}
	}
}

func TestUpstream(t *testing.T) {
	for _, c := range []struct {
		name, body string
		rw         protocol.Rewrite
		want       string
	}{
		{"nothing", ` {"model" : "m"} `, protocol.Rewrite{}, ` {"model" : "m"} `},
		{"model", `{"x":1.50, "model" : "m","y":[ ]}`, protocol.Rewrite{Model: "u\"p"}, `{"x":1.50, "model" : "u\"p","y":[ ]}`},
		{"usage", `{"model":"m","stream":true}`, protocol.Rewrite{Model: "u", AskUsage: true}, `{"stream_options":{"include_usage":true},"model":"u","stream":true}`},
		{"usage, options null", `{"stream_options":null,"model":"m","stream":true}`, protocol.Rewrite{AskUsage: true}, `{"stream_options":{"include_usage":true},"model":"m","stream":true}`},
		{"usage, options kept", `{"stream":true,"stream_options":{ "x" : 1 }}`, protocol.Rewrite{AskUsage: true}, `{"stream":true,"stream_options":{"include_usage":true, "x" : 1 }}`},
		{"usage, said no", `{"stream":true,"stream_options":{"include_usage": false}}`, protocol.Rewrite{AskUsage: true}, `{"stream":true,"stream_options":{"include_usage": true}}`},
		{"usage, said yes", `{"stream":true,"stream_options":{"include_usage" :true}}`, protocol.Rewrite{AskUsage: true}, `{"stream":true,"stream_options":{"include_usage" :true}}`},
		{"not streaming", `{"model":"m"}`, protocol.Rewrite{AskUsage: true}, `{"model":"m"}`},
		{"stream false", `{"model":"m","stream":false}`, protocol.Rewrite{AskUsage: true}, `{"model":"m","stream":false}`},
		{"other surfaces' rewrites", `{"model":"m","type":"x"}`, protocol.Rewrite{StoreFalse: true, DropWS: true}, `{"model":"m","type":"x"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := chat.Upstream([]byte(c.body), c.rw)
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
	if _, err := chat.Upstream([]byte(`{"model"`), protocol.Rewrite{Model: "u"}); err == nil {
		t.Error("a body that is no JSON went up")
	}
}

func TestEmbeddingsRequest(t *testing.T) {
	p := chat.Embeddings()
	for _, body := range []string{`{"model":"m","input":"x"}`, `{"model":"m","input":[[1,2],[3]],"encoding_format":"base64","dimensions":8}`} {
		got, bad := p.ParseRequest([]byte(body))
		want := protocol.Request{Model: "m", Store: protocol.StoreFalse, Choices: 1, EstimateBytes: int64(len(body))}
		if d := cmp.Diff(want, got); bad != nil || d != "" {
			t.Errorf("%s: %v %s", body, bad, d)
		}
	}
	for _, body := range []string{`{"model":"m","input":["data:x,0123456789","x"]}`, `{"model":"m","input":[{"type":"image_url","image_url":{"url":"data:x,0123456789"}}]}`} {
		got, bad := p.ParseRequest([]byte(body))
		if bad != nil || got.Attachments != 1 || got.EstimateBytes != int64(len(body)-len("data:x,0123456789")) {
			t.Errorf("%s: %v %+v", body, bad, got)
		}
	}
	for _, c := range []struct{ body, code, param string }{
		{`{"model":"m"}`, "invalid_request", "input"},
		{`{"input":"x"}`, "invalid_request", "model"},
		{`{"model":"m","input":5}`, "invalid_request", "input"},
		{`{"model":"m","input":"x","encoding_format":1}`, "invalid_request", "encoding_format"},
		{`{"model":"m","input":"x","stream":true}`, "unsupported_parameter", "stream"},
		{`x`, "invalid_json", ""},
	} {
		if _, bad := p.ParseRequest([]byte(c.body)); bad == nil || bad.Code != c.code || bad.Param != c.param {
			t.Errorf("%s: got %+v", c.body, bad)
		}
	}
	if up, err := p.Upstream([]byte(`{"model":"m","input":"x","stream":true}`), protocol.Rewrite{Model: "u", AskUsage: true}); err != nil || string(up) != `{"model":"u","input":"x","stream":true}` {
		t.Errorf("got %s, %v", up, err)
	}
	if _, err := p.NewReader(protocol.ReaderOptions{}).Read(record(hello)); err != protocol.ErrNotProtocol {
		t.Errorf("embeddings streamed: %v", err)
	}
}

// Whatever is accepted travels up as valid JSON that differs in the rewritten
// members alone.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model":"m","stream":true,"messages":[{"content":[{"type":"image_url","image_url":{"url":"data:x"}}]}]}`))
	f.Add([]byte(`{"model":"m","stream":true,"stream_options":{"include_usage":false},"n":2}`))
	f.Add([]byte(`{"stream_options":null,"model":"m","stream":true,"messages":[{"audio":{"id":"a"},"reasoning_details":[{"data":"x"}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, bad := chat.ParseRequest(b)
		if bad != nil {
			return
		}
		if r.Choices < 1 || r.MaxOutput < 0 || r.EstimateBytes < 0 {
			t.Errorf("%q: %+v", b, r)
		}
		up, err := chat.Upstream(b, protocol.Rewrite{Model: "up", AskUsage: true})
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		var was, is map[string]json.RawMessage
		if json.Unmarshal(b, &was) != nil || json.Unmarshal(up, &is) != nil {
			t.Fatalf("%q became %q", b, up)
		}
		again, bad := chat.ParseRequest(up)
		if bad != nil || again.Model != "up" || again.IncludeUsage != (r.Stream || r.IncludeUsage) {
			t.Errorf("%q became %q: %+v, %v", b, up, again, bad)
		}
		for _, key := range []string{"model", "stream_options"} {
			delete(was, key)
			delete(is, key)
		}
		if d := cmp.Diff(was, is); d != "" {
			t.Errorf("%q became %q: %s", b, up, d)
		}
	})
}

package responses

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// FuzzRead: any stream is read without a panic, the bytes for the client are
// those that came, and what is stored makes sense.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		f.Add(stream(f, name[len("testdata/"):len(name)-len(".sse")]))
	}
	f.Add([]byte("data: {\"type\":\"response.created\",\"response\":{\"id\":7,\"usage\":[]}}\n\ndata: {\"error\":[[[]]]}\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := NewReader(protocol.ReaderOptions{})
		d := sse.NewDecoder(bytes.NewReader(body), 1<<20)
		for {
			fr, err := d.Next()
			if err != nil {
				break
			}
			before := *r.Seen()
			ev, err := r.Read(fr)
			if err != nil {
				if !reflect.DeepEqual(before, *r.Seen()) {
					t.Fatalf("a refused record changed what was seen: %q", fr.Raw)
				}
				break
			}
			if !bytes.Equal(ev.Raw, fr.Raw) || ev.Data != nil && !bytes.Equal(ev.Data, fr.Data) {
				t.Fatalf("bytes changed: %q", fr.Raw)
			}
			if !ev.Hidden && ev.Data != nil && !json.Valid(ev.Data) {
				t.Fatalf("forwarded what is no JSON: %q", ev.Data)
			}
		}
		check(t, r)
	})
}

func check(t *testing.T, r protocol.Reader) {
	s := r.Seen()
	if s.TextBytes < 0 || s.Sequence < -1 || s.OutputEvents > int64(s.Events) {
		t.Fatalf("%+v", s)
	}
	if r.Stage() == protocol.Open && s.Failure != nil {
		t.Fatal("failed, but open")
	}
	end := Ending(nil, r, broken(), false)
	got := decode(t, end)
	if !slices.Equal(got.names, []string{"error", "response.failed"}) {
		t.Fatalf("ending %q", end)
	}
}

// FuzzRequest: any body is read without a panic; what is accepted goes up as
// valid JSON in which nothing but the rewritten members differs.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		`{"model":"m","input":"x","store":null,"stream":true}`,
		`{"type":"response.create","generate":false,"model":"m","input":[{"type":"item_reference","id":"i"},{"role":"user","content":[{"type":"input_image","image_url":"data:x"}]}]}`,
		`{"model":"m","tools":[{"type":"mcp"},{"type":"namespace","tools":[{"type":"shell","environment":{"type":"local"}}]}],"prompt":{"id":"p","variables":{"v":{"file_id":"f"}}}}`,
		`{"model":"m","previous_response_id":"resp_1","conversation":{"id":"c"},"max_output_tokens":1e2}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		req, bad := ParseRequest(body)
		if bad != nil {
			if bad.Status != 400 {
				t.Fatalf("status %d", bad.Status)
			}
			return
		}
		if req.Model == "" || req.MaxOutput < 0 || req.EstimateBytes < 0 || req.EstimateBytes > int64(len(body)) {
			t.Fatalf("%+v", req)
		}
		for _, rw := range []protocol.Rewrite{{Model: "up"}, {Model: "up", StoreFalse: true}, {Model: "up", StoreFalse: true, DropWS: true}} {
			up, err := Upstream(body, rw)
			if err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			sameBut(t, body, up, rw)
		}
	})
}

func sameBut(t *testing.T, body, up []byte, rw protocol.Rewrite) {
	var before, after map[string]json.RawMessage
	if err := json.Unmarshal(body, &before); err != nil {
		t.Fatalf("accepted %q: %v", body, err)
	}
	if err := json.Unmarshal(up, &after); err != nil {
		t.Fatalf("%q became %q: %v", body, up, err)
	}
	before["model"] = json.RawMessage(`"up"`)
	if s, ok := before["store"]; rw.StoreFalse && (!ok || string(s) == "null") {
		before["store"] = json.RawMessage("false")
	}
	if rw.DropWS {
		delete(before, "type")
		delete(before, "generate")
		before["stream"] = json.RawMessage("true")
	}
	if !maps.EqualFunc(before, after, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		t.Fatalf("%q became %q", body, up)
	}
}

// FuzzAnswer: any body is read without a panic.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"object":"response","id":"r","output":[{"type":"web_search_call","content":[{"text":"x"}]}],"usage":{"input_tokens":"1"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := Answer(body)
		if (s == nil) == (err == nil) || err == nil && !json.Valid(body) {
			t.Fatalf("%+v, %v", s, err)
		}
	})
}

package wsapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
	"rubicon/test/stand"
)

func TestRefusalsKeepTheConnectionOpen(t *testing.T) {
	w := start(t, "", hello(), hello())
	c := w.dial()
	for _, tt := range []struct {
		name, send, code, param string
		status                  int
		recorded                bool
	}{
		{"cancel", `{"type":"response.cancel","response_id":"resp_1"}`, "unsupported_event", "type", 400, false},
		{"unknown type", `{"type":"session.update"}`, "unsupported_event", "type", 400, false},
		{"no type", `{"model":"m"}`, "unsupported_event", "type", 400, false},
		{"a type that is no text", `{"type":7}`, "unsupported_event", "type", 400, false},
		{"bad JSON", `{"type":`, "invalid_json", "", 400, false},
		{"no object", `["response.create"]`, "invalid_json", "", 400, false},
		{"two objects", `{} {}`, "invalid_json", "", 400, false},
		{"empty", ``, "invalid_json", "", 400, false},
		{"background", `{"type":"response.create","model":"m","background":true}`, "unsupported_parameter", "background", 400, true},
		{"stream false", `{"type":"response.create","model":"m","stream":false}`, "unsupported_parameter", "stream", 400, true},
		{"stream_id", `{"type":"response.create","model":"m","stream_id":"s1"}`, "invalid_stream_id", "stream_id", 400, true},
		{"no model", `{"type":"response.create","input":"hi"}`, "invalid_request", "model", 400, true},
		{"a key twice", `{"type":"response.create","model":"m","model":"m"}`, "invalid_request", "model", 400, true},
		{"type twice", `{"type":"response.cancel","type":"response.create","model":"m"}`, "invalid_request", "type", 400, true},
		{"unknown model", `{"type":"response.create","model":"nope"}`, "model_not_found", "model", 404, true},
		{"unknown response", `{"type":"response.create","model":"m","previous_response_id":"resp_nope"}`, "previous_response_not_found", "previous_response_id", 400, true},
		{"unknown file", `{"type":"response.create","model":"m","input":[{"role":"user","content":[{"type":"input_file","file_id":"file_1"}]}]}`, "not_found", "input[0].content[0].file_id", 404, true},
		{"unknown response to warm up", `{"type":"response.create","model":"m","generate":false,"previous_response_id":"resp_nope"}`, "previous_response_not_found", "previous_response_id", 400, true},
		{"unknown model to warm up", `{"type":"response.create","model":"nope","generate":false}`, "model_not_found", "model", 404, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := len(w.Records())
			c.send(tt.send)
			f := c.refused(tt.code, tt.status)
			if f.Error.Param != tt.param {
				t.Errorf("param %q, want %q", f.Error.Param, tt.param)
			}
			if !tt.recorded {
				if got := len(w.Records()); got != before {
					t.Errorf("%d records more", got-before)
				}
				return
			}
			r := w.Record(f.Error.RequestID)
			if r.Outcome != journal.OutcomeRejected || r.Error.Code != tt.code || r.Surface != journal.SurfaceResponsesWS || r.Charge != 0 || len(r.Attempts) != 0 {
				t.Errorf("record %+v", r)
			}
		})
	}
	t.Run("binary", func(t *testing.T) {
		if err := c.ws.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"response.create","model":"m"}`)); err != nil {
			t.Fatal(err)
		}
		c.refused("unsupported_event", 400)
	})
	c.create(`"input":"hi","stream":true,"background":false,"stream_id":null`)
	c.good()
	if n := len(w.a.Calls("")); n != 1 {
		t.Errorf("%d upstream calls, want the last one alone", n)
	}
}

func TestARefusedBodyIsOnRecordOverHTTPToo(t *testing.T) {
	w := start(t, "", hello(), hello())
	for body, code := range map[string]string{`{`: "invalid_json", `{"model":"m","background":true}`: "unsupported_parameter"} {
		reply := w.Post(w.Default, "/v1/responses", body)
		r := w.Record(reply.ID())
		if reply.Status != 400 || r.Outcome != journal.OutcomeRejected || r.Error.Code != code || r.Surface != journal.SurfaceResponsesHTTP {
			t.Errorf("%s: status %d, record %+v", body, reply.Status, r)
		}
		if want := map[bool]string{true: "m"}[code == "unsupported_parameter"]; r.PublicModel != want {
			t.Errorf("%s: model %q", body, r.PublicModel)
		}
	}
}

func TestASurfaceThatTheModelDoesNotSpeak(t *testing.T) {
	chat := strings.ReplaceAll(gateway, "protocol: responses", "protocol: chat")
	p := sim.New(sim.Options{})
	s := stand.Start(t, stand.Options{Config: chat, Peers: map[string]stand.Peer{"a": p, "b": p}})
	c := dialAs(t, s, s.Default)
	c.create(`"input":"hi"`)
	c.refused("unsupported_surface", 400)
	c.create(`"generate":false`)
	c.refused("unsupported_surface", 400)
}

func TestUpgradeRefusals(t *testing.T) {
	w := start(t, `ws: {origins: ["https://app.example", "https://*.pages.example", "other.example"]}`, hello(), hello())
	poor := w.NewCustomer("")
	var revoked stand.Customer = w.NewCustomer("")
	w.Operate("DELETE", "/admin/v1/keys/"+revoked.KeyID, nil, nil)
	host := strings.TrimPrefix(w.URL, "http://")
	for _, tt := range []struct {
		name, key, code string
		status          int
		header          []string
	}{
		{name: "no key", code: "invalid_api_key", status: 401},
		{name: "bad key", key: "rk-nonsense", code: "invalid_api_key", status: 401},
		{name: "revoked key", key: revoked.Key, code: "invalid_api_key", status: 401},
		{name: "foreign origin", key: poor.Key, code: "invalid_request", status: 403, header: []string{"Origin", "https://evil.example"}},
		{name: "origin of another scheme", key: poor.Key, code: "invalid_request", status: 403, header: []string{"Origin", "http://app.example"}},
		{name: "origin null", key: poor.Key, code: "invalid_request", status: 403, header: []string{"Origin", "null"}},
		{name: "own host", key: poor.Key, header: []string{"Origin", "http://" + host}},
		{name: "allowed origin", key: poor.Key, header: []string{"Origin", "https://APP.example"}},
		{name: "allowed pattern", key: poor.Key, header: []string{"Origin", "https://x.pages.example"}},
		{name: "allowed host", key: poor.Key, header: []string{"Origin", "https://other.example"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ws, resp, err := connect(w.Gateway, tt.key, tt.header...)
			if err == nil {
				_ = ws.CloseNow()
			}
			if (err == nil) != (tt.status == 0) {
				t.Fatalf("upgrade: %v", err)
			}
			if id := resp.Header.Get("X-Request-Id"); !strings.HasPrefix(id, "req_") {
				t.Errorf("x-request-id %q", id)
			}
			if err != nil {
				var e struct{ Error stand.Fault }
				if err := json.NewDecoder(resp.Body).Decode(&e); err != nil || resp.StatusCode != tt.status || e.Error.Code != tt.code {
					t.Errorf("status %d, %+v, %v", resp.StatusCode, e, err)
				}
			}
		})
	}
	for name, path := range map[string]string{"a plain GET": "/v1/responses", "a key in the query": "/v1/responses?api_key=" + poor.Key} {
		who := poor
		if strings.Contains(path, "?") {
			who = stand.Customer{}
		}
		r := w.Get(who, path)
		if want := map[bool]int{true: 401, false: 400}[who.Key == ""]; r.Status != want || r.Fault().Code == "" {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
}

func TestAKeyThatIsRevokedMeanwhile(t *testing.T) {
	w := start(t, "", hello(), hello())
	c := w.dial()
	c.create(`"input":"hi"`)
	c.good()
	w.Operate("DELETE", "/admin/v1/keys/"+w.Default.KeyID, nil, nil)
	c.create(`"input":"hi"`)
	f := c.refused("invalid_api_key", 401)
	if r := w.Record(f.Error.RequestID); r.Outcome != journal.OutcomeRejected {
		t.Errorf("record %+v", r)
	}
}

func TestSwitchedOff(t *testing.T) {
	w := start(t, "ws: {enabled: false}", hello(), hello())
	_, resp, err := connect(w.Gateway, w.Default.Key)
	if err == nil || resp.StatusCode != 426 {
		t.Errorf("%v %v", resp, err)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	w := start(t, "limits: {connections: 2}", hello(), hello())
	first, _ := w.dial(), w.dial()
	_, resp, err := connect(w.Gateway, w.Default.Key)
	if err == nil || resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Fatalf("%v %v", resp, err)
	}
	_ = first.ws.Close(websocket.StatusNormalClosure, "")
	if !stand.WaitFor(patience, func() bool {
		ws, _, err := connect(w.Gateway, w.Default.Key)
		if err == nil {
			_ = ws.CloseNow()
		}
		return err == nil
	}) {
		t.Error("the place of a closed connection stays taken")
	}
}

func TestCompressionIsDeclined(t *testing.T) {
	w := start(t, "", hello(), hello())
	c := w.dial("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits")
	if got := c.resp.Header.Get("Sec-WebSocket-Extensions"); got != "" {
		t.Errorf("accepted %q", got)
	}
	c.create(`"input":"hi"`)
	c.good()
}

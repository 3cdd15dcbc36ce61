package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
	"rubicon/test/stand"
)

// refusal is a request that must be refused before any upstream call.
type refusal struct {
	name         string
	method, path string // POST and the surface's unless set
	body         string
	header       http.Header
	key          *string // another key than the customer's
	status       int
	code, param  string
	unrecorded   bool // nobody's request, or none at all
}

func ptr(s string) *string { return &s }

// bodies are refused on every surface; MODEL and REST are filled in.
var bodies = []refusal{
	{name: "no body", body: "", status: 400, code: "invalid_json"},
	{name: "no JSON", body: `{"model":`, status: 400, code: "invalid_json"},
	{name: "trailing data", body: `{"model":"MODEL"REST} {}`, status: 400, code: "invalid_json"},
	{name: "an array", body: `["MODEL"]`, status: 400, code: "invalid_json"},
	{name: "model not UTF-8", body: "{\"model\":\"MODEL\xff\"REST}", status: 400, code: "invalid_json"},
	{name: "no model", body: `{"stream":trueREST}`, status: 400, code: "invalid_request", param: "model"},
	{name: "model null", body: `{"model":nullREST}`, status: 400, code: "invalid_request", param: "model"},
	{name: "model a number", body: `{"model":5REST}`, status: 400, code: "invalid_request", param: "model"},
	{name: "model twice", body: `{"model":"MODEL","model":"MODEL"REST}`, status: 400, code: "invalid_request", param: "model"},
	{name: "model escaped twice", body: `{"model":"MODEL","mo\u0064el":"other"REST}`, status: 400, code: "invalid_request", param: "model"},
	{name: "model's twin", body: `{"model":"MODEL","Model":"other"REST}`, status: 400, code: "invalid_request", param: "model"},
	{name: "model in capitals", body: `{"MODEL":"x"REST}`, status: 400, code: "invalid_request", param: "model"},
	{name: "stream a string", body: `{"model":"MODEL","stream":"true"REST}`, status: 400, code: "invalid_request", param: "stream"},
	{name: "stream twice", body: `{"model":"MODEL","stream":true,"stream":falseREST}`, status: 400, code: "invalid_request", param: "stream"},
	{name: "unknown model", body: `{"model":"nobody/knows"REST}`, status: 404, code: "model_not_found", param: "model"},
	{name: "gzip", body: `{"model":"MODEL"REST}`, header: http.Header{"Content-Encoding": {"gzip"}}, status: 400, code: "invalid_request"},
	{name: "unknown delivery", body: `{"model":"MODEL"REST}`, header: http.Header{"Rubicon-Delivery": {"later"}}, status: 400, code: "invalid_request", param: "rubicon-delivery"},
	{name: "no key", body: `{"model":"MODEL"REST}`, key: ptr(""), status: 401, code: "invalid_api_key", unrecorded: true},
	{name: "unknown key", body: `{"model":"MODEL"REST}`, key: ptr("rk-" + strings.Repeat("x", 40)), status: 401, code: "invalid_api_key", unrecorded: true},
	{name: "key not ASCII", body: `{"model":"MODEL"REST}`, key: ptr("rk-ключ"), status: 401, code: "invalid_api_key", unrecorded: true},
	{name: "wrong method", method: "PUT", body: `{}`, status: 405, code: "invalid_request", unrecorded: true},
}

// own are refused on one surface.
var own = map[string][]refusal{
	"responses": {
		{name: "path not clean", path: "/v1//responses", body: `{}`, status: 404, code: "not_found", unrecorded: true},
		{name: "background", body: `{"model":"r","background":true}`, status: 400, code: "unsupported_parameter", param: "background"},
		{name: "background a string", body: `{"model":"r","background":"yes"}`, status: 400, code: "invalid_request", param: "background"},
		{name: "store a number", body: `{"model":"r","store":1}`, status: 400, code: "invalid_request", param: "store"},
		{name: "store twice", body: `{"model":"r","store":false,"store":true}`, status: 400, code: "invalid_request", param: "store"},
		{name: "maximum zero", body: `{"model":"r","max_output_tokens":0}`, status: 400, code: "invalid_request", param: "max_output_tokens"},
		{name: "maximum negative", body: `{"model":"r","max_output_tokens":-1}`, status: 400, code: "invalid_request", param: "max_output_tokens"},
		{name: "maximum a string", body: `{"model":"r","max_output_tokens":"9"}`, status: 400, code: "invalid_request", param: "max_output_tokens"},
		{name: "maximum a fraction", body: `{"model":"r","max_output_tokens":1.5}`, status: 400, code: "invalid_request", param: "max_output_tokens"},
		{name: "absurd maximum", body: `{"model":"r","max_output_tokens":9223372036854775807}`, status: 402, code: "insufficient_balance"},
		{name: "previous response a number", body: `{"model":"r","previous_response_id":5}`, status: 400, code: "invalid_request", param: "previous_response_id"},
		{name: "previous response unknown", body: `{"model":"r","previous_response_id":"resp_unknown"}`, status: 400, code: "previous_response_not_found", param: "previous_response_id"},
		{name: "conversation unknown", body: `{"model":"r","conversation":"conv_1"}`, status: 404, code: "not_found"},
		{name: "item unknown", body: `{"model":"r","input":[{"type":"item_reference","id":"msg_none"}]}`, status: 404, code: "not_found"},
		{name: "file unknown", body: `{"model":"r","input":[{"role":"user","content":[{"type":"input_file","file_id":"file_none"}]}]}`, status: 404, code: "not_found"},
		{name: "unpriced tier", body: `{"model":"r","service_tier":"priority"}`, status: 400, code: "unsupported_parameter", param: "service_tier"},
		{name: "a model of another API", body: `{"model":"c"}`, status: 400, code: "unsupported_surface", param: "model"},
		{name: "a stored response unknown", method: "GET", path: "/v1/responses/resp_unknown", status: 404, code: "not_found", unrecorded: true},
		{name: "deleting an unknown one", method: "DELETE", path: "/v1/responses/resp_unknown", status: 404, code: "not_found", unrecorded: true},
		{name: "items of an unknown one", method: "GET", path: "/v1/responses/resp_unknown/input_items", status: 404, code: "not_found", unrecorded: true},
		{name: "a record unknown", method: "GET", path: "/v1/requests/req_unknown", status: 404, code: "not_found", unrecorded: true},
		{name: "a model unknown", method: "GET", path: "/v1/models/nobody/knows", status: 404, code: "model_not_found", unrecorded: true},
		{name: "a list's bad limit", method: "GET", path: "/v1/requests?limit=x", status: 400, code: "invalid_request", param: "limit", unrecorded: true},
		{name: "a list's bad cursor", method: "GET", path: "/v1/requests?cursor=zzz", status: 400, code: "invalid_request", param: "cursor", unrecorded: true},
		{name: "a list's bad outcome", method: "GET", path: "/v1/requests?outcome=great", status: 400, code: "invalid_request", param: "outcome", unrecorded: true},
		{name: "unknown path", path: "/v1/nothing", body: `{}`, status: 404, code: "not_found", unrecorded: true},
		{name: "unknown root", method: "GET", path: "/nothing", status: 404, code: "not_found", unrecorded: true},
		{name: "no version", path: "/responses", body: `{}`, status: 404, code: "not_found", unrecorded: true},
		{name: "key in the query", path: "/v1/responses?api_key=KEY", body: `{"model":"r"}`, key: ptr(""), status: 401, code: "invalid_api_key", unrecorded: true},
		{name: "no key for models", method: "GET", path: "/v1/models", key: ptr(""), status: 401, code: "invalid_api_key", unrecorded: true},
	},
	"chat": {
		{name: "choices zero", body: `{"model":"c","messages":[],"n":0}`, status: 400, code: "invalid_request", param: "n"},
		{name: "maximum a string", body: `{"model":"c","messages":[],"max_tokens":"9"}`, status: 400, code: "invalid_request", param: "max_tokens"},
		{name: "stream options a list", body: `{"model":"c","messages":[],"stream":true,"stream_options":[]}`, status: 400, code: "invalid_request", param: "stream_options"},
		{name: "audio unknown", body: `{"model":"c","messages":[{"role":"assistant","audio":{"id":"audio_none"}}]}`, status: 404, code: "not_found"},
	},
	"messages": {
		{name: "maximum zero", body: `{"model":"m","messages":[],"max_tokens":0}`, status: 400, code: "invalid_request", param: "max_tokens"},
		{name: "container unknown", body: `{"model":"m","messages":[],"max_tokens":5,"container":"container_none"}`, status: 404, code: "not_found"},
	},
}

// What is wrong with a request is told in the one envelope, before any upstream
// call and without a hold.
func TestRefusals(t *testing.T) {
	up := sim.New(sim.Options{})
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	for _, a := range apis {
		for _, r := range append(append([]refusal{}, bodies...), own[a.protocol]...) {
			t.Run(a.protocol+"/"+r.name, func(t *testing.T) { refuse(t, s, a, r) })
		}
	}
	if calls := up.Calls(""); len(calls) != 0 {
		t.Errorf("upstream was called %d times, first with %s", len(calls), calls[0].Body)
	}
	if b := s.Balance(s.Default); b.Available.String() != "1000.000000000" || b.Held != 0 {
		t.Errorf("balance %+v", b)
	}
}

func refuse(t *testing.T, s *stand.Gateway, a api, r refusal) {
	c := s.Default
	if r.key != nil {
		c.Key = *r.key
	}
	if r.method == "" {
		r.method = "POST"
	}
	if r.path == "" {
		r.path = a.path
	}
	r.path = strings.ReplaceAll(r.path, "KEY", s.Default.Key)
	rest := map[string]string{"responses": `,"input":"Hi"`, "chat": `,"messages":[]`, "messages": `,"messages":[],"max_tokens":5`}[a.protocol]
	body := strings.NewReplacer("REST", rest, `"MODEL"`, `"`+a.protocol[:1]+`"`, "MODEL\xff", "\xff").Replace(r.body)
	if r.name == "model in capitals" {
		body = strings.Replace(body, `"`+a.protocol[:1]+`"`, `"MODEL"`, 1)
	}
	got := s.Do(c, r.method, r.path, strings.NewReader(body), r.header)
	checkFault(t, got, a.protocol, r.status, r.code)
	if p := got.Fault().Param; r.param != "" && p != r.param {
		t.Errorf("param %q, want %q", p, r.param)
	}
	if r.unrecorded {
		return
	}
	rec := s.Record(got.ID())
	if rec.Outcome != journal.OutcomeRejected || rec.Charge != 0 || len(rec.Attempts) != 0 || rec.Error == nil || rec.Error.Code != r.code {
		t.Errorf("record %s %v, error %+v, %d attempts", rec.Outcome, rec.Charge, rec.Error, len(rec.Attempts))
	}
}

// checkFault compares an answer with the one envelope of failures.
func checkFault(t *testing.T, got stand.Reply, protocol string, status int, code string) {
	t.Helper()
	if got.Err != nil {
		t.Fatalf("no answer: %v", got.Err)
	}
	f := got.Fault()
	if got.Status != status || f.Code != code {
		t.Fatalf("status %d, code %q, want %d, %q: %s", got.Status, f.Code, status, code, got.Body)
	}
	if got.ID() == "" || f.RequestID != got.ID() {
		t.Errorf("x-request-id %q, request_id %q", got.ID(), f.RequestID)
	}
	if ct := got.Header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("content type %q", ct)
	}
	var all struct {
		Type      string
		RequestID string `json:"request_id"`
		Error     map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(got.Body), &all); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"message", "type", "code", "param", "request_id", "retryable", "retry_after", "after_output"} {
		if all.Error[k] == nil {
			t.Errorf("the envelope lacks %q: %s", k, got.Body)
		}
	}
	if f.Message == "" || f.Type == "" || f.Retryable == nil || got.Header.Get("X-Should-Retry") == "" {
		t.Errorf("message %q, type %q, retryable %v, x-should-retry %q", f.Message, f.Type, f.Retryable, got.Header.Get("X-Should-Retry"))
	}
	if status < 429 && (*f.Retryable || got.Header.Get("X-Should-Retry") != "false") {
		t.Errorf("retryable %t, x-should-retry %q", *f.Retryable, got.Header.Get("X-Should-Retry"))
	}
	if protocol == "messages" && (all.Type != "error" || all.RequestID != got.ID()) {
		t.Errorf("not Anthropic's shape: %s", got.Body)
	}
}

// Another customer's keys, records and models are as unknown as ones that do
// not exist; a key that was revoked, or whose customer was suspended, is no key.
func TestForeignAndRevoked(t *testing.T) {
	up := sim.New(sim.Options{Scripts: map[string]sim.Script{"up": sim.Play(sim.Answer("Hi", sim.Tokens(10, 0, 5)))}})
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	body := apis[0].stream("r")
	mine := s.Post(s.Default, "/v1/responses", body)
	other := s.NewCustomer("1.00")
	if got := s.Get(s.Default, "/v1/requests/"+mine.ID()); got.Status != 200 {
		t.Errorf("the owner reads the record: %d", got.Status)
	}
	checkFault(t, s.Get(other, "/v1/requests/"+mine.ID()), "responses", 404, "not_found")
	if list := s.Get(other, "/v1/requests"); strings.Contains(list.Body, mine.ID()) {
		t.Error("another customer's list shows the record")
	}
	poor := s.NewCustomer("")
	got := s.Post(poor, "/v1/responses", body)
	checkFault(t, got, "responses", 402, "insufficient_balance")
	if !strings.Contains(got.Body, `"balance":"0.000000000"`) || !strings.Contains(got.Body, `"estimated_cost":"0.0`) {
		t.Errorf("402 without balance and estimate: %s", got.Body)
	}
	s.Operate("PATCH", "/admin/v1/keys/"+other.KeyID, map[string]any{"models": []string{"c"}}, nil)
	must(t, 2*time.Second, "the key's new models", func() bool { return s.Post(other, "/v1/responses", body).Fault().Code == "model_not_allowed" })
	checkFault(t, s.Post(other, "/v1/responses", body), "responses", 403, "model_not_allowed")
	s.Operate("DELETE", "/admin/v1/keys/"+other.KeyID, nil, nil)
	must(t, 2*time.Second, "the revoked key", func() bool { return s.Post(other, "/v1/responses", body).Status == 401 })
	if n := len(up.Calls("")); n != 1 {
		t.Errorf("%d upstream calls, want 1", n)
	}
}

// Bodies of any length: too large ones are refused, whether their length is
// known or not.
func TestBodies(t *testing.T) {
	up := sim.New(sim.Options{Scripts: map[string]sim.Script{"up": sim.Play(sim.Answer("Hi", sim.Tokens(10, 0, 5)))}})
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	large := fmt.Sprintf(`{"model":"r","store":false,"input":"%s"}`, strings.Repeat("x", 40<<20))
	t.Run("40 MiB", func(t *testing.T) {
		checkFault(t, s.Post(s.Default, "/v1/responses", large), "responses", 413, "payload_too_large")
	})
	t.Run("40 MiB in chunks", func(t *testing.T) {
		checkFault(t, s.Do(s.Default, "POST", "/v1/messages", io.MultiReader(strings.NewReader(large)), nil), "messages", 413, "payload_too_large")
	})
	if n := len(up.Calls("")); n != 0 {
		t.Errorf("%d upstream calls", n)
	}
	t.Run("30 MiB", func(t *testing.T) {
		fits := fmt.Sprintf(`{"model":"r","store":false,"max_output_tokens":5,"input":"%s"}`, strings.Repeat("x", 30<<20))
		if got := s.Post(s.Default, "/v1/responses", fits); got.Status != 200 {
			t.Errorf("status %d: %.300s", got.Status, got.Body)
		}
	})
	t.Run("no length", func(t *testing.T) {
		if got := s.Do(s.Default, "POST", "/v1/responses", io.MultiReader(strings.NewReader(apis[0].stream("r"))), nil); got.Status != 200 {
			t.Errorf("status %d: %s", got.Status, got.Body)
		}
	})
	t.Run("and a small one", func(t *testing.T) {
		if got := s.Post(s.Default, "/v1/responses", apis[0].stream("r")); got.Status != 200 || !bytes.Contains([]byte(got.Body), []byte("response.completed")) {
			t.Errorf("status %d: %s", got.Status, got.Body)
		}
	})
}

// A client that sends everything before it looks reads the refusal of a large
// request, and not a reset connection.
func TestRefusedUploads(t *testing.T) {
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": sim.New(sim.Options{})}})
	large := fmt.Sprintf(`{"model":"r","input":"%s"}`, strings.Repeat("x", 8<<20))
	for name, c := range map[string]struct {
		path, key, header, code string
		status                  int
	}{
		"a bad key":        {"/v1/responses", "rk-none", "", "invalid_api_key", 401},
		"an unknown path":  {"/v1/nowhere", s.Default.Key, "", "not_found", 404},
		"another encoding": {"/v1/responses", s.Default.Key, "Content-Encoding: br\r\n", "unsupported_encoding", 415},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer %s\r\n%sContent-Length: %d\r\n\r\n%s", c.path, c.key, c.header, len(large), large); err != nil {
				t.Fatalf("the gateway did not let the request be sent: %v", err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != c.status || !strings.Contains(string(body), c.code) {
				t.Errorf("%d %s, %v", resp.StatusCode, body, err)
			}
		})
	}
}

// A connection ends with the answer to a request of which a proxy may see another
// end than the gateway: what follows on it may be somebody else's. Others go on.
func TestAmbiguousRequestsEndTheirConnection(t *testing.T) {
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": answering()}})
	head := "POST /v1/responses HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer " + s.Default.Key + "\r\n"
	body := apis[0].stream("r")
	chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	for name, c := range map[string]struct {
		request string
		status  int
		closed  bool
	}{
		"a length":              {head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body), 200, false},
		"chunks":                {head + "Transfer-Encoding: chunked\r\n\r\n" + chunks, 200, true},
		"both":                  {head + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, 200, true},
		"both, refused":         {strings.Replace(head, "rk-", "rx-", 1) + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, 401, true},
		"both, and no way":      {strings.Replace(head, "/v1/responses", "/nowhere", 1) + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n" + chunks, 404, true},
		"a refusal, one length": {strings.Replace(head, "rk-", "rx-", 1) + "Content-Length: 2\r\n\r\n{}", 401, false},
	} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, s, c.request+"GET /healthz HTTP/1.1\r\nHost: gw\r\n\r\n")
			in := bufio.NewReader(conn)
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != c.status || resp.Close != c.closed {
				t.Fatalf("%d, closed = %t: %s, %v", resp.StatusCode, resp.Close, text, err)
			}
			if again, err := http.ReadResponse(in, nil); (err != nil) != c.closed {
				t.Errorf("the next request: %+v, %v", again, err)
			}
		})
	}
}

// Bodies that do not come are given up: after so long a silence as a client may
// keep (timers.write), and altogether when the request's time is over.
func TestSlowBodies(t *testing.T) {
	up := sim.New(sim.Options{})
	s := stand.Start(t, stand.Options{Config: peersOf("timers: {write: 1s, total: 4s}", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	for name, drip := range map[string]bool{"a body that stops": false, "a body that drips": true} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			checkFault(t, slowBody(t, s, drip), "responses", 408, "invalid_request")
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("given up after %v", took)
			}
		})
	}
	if n := len(up.Calls("")); n != 0 {
		t.Errorf("%d upstream calls", n)
	}
}

// slowBody sends the beginning of a body and, if drip, a byte now and then.
func slowBody(t *testing.T, s *stand.Gateway, drip bool) stand.Reply {
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/responses HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer %s\r\nContent-Length: 5000\r\n\r\n{", s.Default.Key)
	var wg sync.WaitGroup
	defer wg.Wait()
	done := make(chan struct{})
	defer close(done)
	if drip {
		wg.Go(func() {
			tick := time.NewTicker(100 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-done:
					return
				case <-tick.C:
					_, _ = conn.Write([]byte(" "))
				}
			}
		})
	}
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return stand.Reply{Err: err}
	}
	raw, err := io.ReadAll(resp.Body)
	return stand.Reply{Status: resp.StatusCode, Header: resp.Header, Body: string(raw), Err: err}
}

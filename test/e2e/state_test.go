package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"rubicon/internal/books/journal"
	"rubicon/test/stand"
)

// rememberingProvider is an upstream account with state: its answers carry ids and a sealed
// item of its own. A request that says "fail" gets a 500.
type rememberingProvider struct {
	name string
	mu   sync.Mutex
	seen []string // METHOD path body
}

func (k *rememberingProvider) peer() *stand.Raw {
	return &stand.Raw{Handle: func(c *stand.Exchange) bool {
		k.mu.Lock()
		k.seen = append(k.seen, c.Request.Method+" "+c.Request.URL.RequestURI()+" "+string(c.Body))
		k.mu.Unlock()
		switch path := c.Request.URL.Path; {
		case strings.Contains(string(c.Body), `"fail"`):
			return c.Whole(500, "application/json", `{"error":{"message":"no","type":"server_error","code":"server_error"}}`)
		case path == "/v1/responses":
			c.Stream()
			return c.Chunk(k.answer(c.N)) == nil && c.End()
		case strings.HasSuffix(path, "/input_tokens"):
			return c.Whole(200, "application/json", `{"object":"response.input_tokens","input_tokens":11}`)
		case strings.HasSuffix(path, "/compact"):
			return c.Whole(200, "application/json", fmt.Sprintf(`{"id":"resp_%s_c","object":"response.compaction","output":[{"type":"compaction","id":"cmp_%s","encrypted_content":"pressed-%s"}],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}`, k.name, k.name, k.name))
		default:
			return c.Whole(200, "application/json", fmt.Sprintf(`{"id":%q,"from":%q}`, path, k.name))
		}
	}}
}

// answer is a stream with a response id, an item id and a sealed item.
func (k *rememberingProvider) answer(n int64) string {
	id := fmt.Sprintf("resp_%s_%d", k.name, n)
	item := fmt.Sprintf(`{"type":"reasoning","id":"rs_%s_%d","encrypted_content":"sealed-%s","summary":[]}`, k.name, n, k.name)
	var b strings.Builder
	for i, ev := range []string{
		`{"type":"response.created","sequence_number":%d,"response":{"id":"` + id + `","status":"in_progress","output":[]}}`,
		`{"type":"response.output_item.done","sequence_number":%d,"output_index":0,"item":` + item + `}`,
		`{"type":"response.output_text.delta","sequence_number":%d,"output_index":1,"delta":"Hi"}`,
		`{"type":"response.completed","sequence_number":%d,"response":{"id":"` + id + `","status":"completed","output":[` + item + `],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}}`,
	} {
		fmt.Fprintf(&b, "data: "+ev+"\n\n", i)
	}
	return b.String()
}

// calls gives what came since the last call.
func (k *rememberingProvider) calls() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	defer func() { k.seen = nil }()
	return k.seen
}

// keep starts a gateway with the accounts alpha and beta; extra goes into both
// channels.
func keep(t *testing.T, top, extra string) (s *stand.Gateway, alpha, beta *rememberingProvider) {
	t.Helper()
	alpha, beta = &rememberingProvider{name: "alpha"}, &rememberingProvider{name: "beta"}
	yaml := top + "\nchannels:\n"
	for _, name := range []string{"alpha", "beta"} {
		yaml += fmt.Sprintf("  - {name: %[1]s, protocol: responses, base_url: \"{%[1]s}\", allow_private: true, credentials: [{name: k, key: \"{key}\"}]%[2]s}\n", name, extra)
	}
	yaml += `models:
  - name: r
    price: {input: "10", output: "50"}
    channels: [{channel: alpha, upstream_model: up}, {channel: beta, upstream_model: up}]
`
	return stand.Start(t, stand.Options{Config: yaml, Peers: map[string]stand.Peer{"alpha": alpha.peer(), "beta": beta.peer()}, Tune: patient}), alpha, beta
}

// madeResponse is a stored response and the account that has it.
type madeResponse struct{ id, home string }

// create asks until both accounts have made a response.
func create(t *testing.T, s *stand.Gateway, c stand.Customer, fields string) map[string]madeResponse {
	t.Helper()
	all := map[string]madeResponse{}
	for range 100 {
		got := s.Post(c, "/v1/responses", `{"model":"r","input":"Hi","stream":true`+fields+`}`)
		if got.Status != 200 {
			t.Fatalf("status %d: %s", got.Status, got.Body)
		}
		r := s.Record(got.ID())
		home := r.Attempts[0].Channel
		all[home] = madeResponse{r.ResponseID, home}
		if len(all) == 2 {
			return all
		}
	}
	t.Fatal("one account never got a request")
	return nil
}

// Ids are remembered per customer, and a continuation goes to the account that
// has its parent, or nowhere.
func TestContinuation(t *testing.T) {
	s, alpha, beta := keep(t, "", "")
	other := s.NewCustomer("10.00")
	both := create(t, s, s.Default, `,"store":true`)
	for _, m := range both {
		for range 8 {
			got := s.Post(s.Default, "/v1/responses", fmt.Sprintf(`{"model":"r","input":"Go on","stream":true,"previous_response_id":%q}`, m.id))
			if r := s.Record(got.ID()); got.Status != 200 || r.Attempts[0].Channel != m.home {
				t.Fatalf("a continuation of %s went to %s: %d %s", m.home, r.Attempts[0].Channel, got.Status, got.Body)
			}
		}
	}
	alpha.calls()
	beta.calls()
	t.Run("of another customer", func(t *testing.T) {
		continuing := `{"model":"r","input":"Go on","previous_response_id":%q}`
		foreign := s.Post(other, "/v1/responses", fmt.Sprintf(continuing, both["alpha"].id))
		unknown := s.Post(other, "/v1/responses", fmt.Sprintf(continuing, "resp_alpha_0"))
		checkFault(t, foreign, "responses", 400, "previous_response_not_found")
		if a, b := statelessBody(foreign, both["alpha"].id), statelessBody(unknown, "resp_alpha_0"); a != b {
			t.Errorf("foreign and unknown ids are told apart:\n%s\n%s", a, b)
		}
	})
	t.Run("never replayed", func(t *testing.T) {
		got := s.Post(s.Default, "/v1/responses", fmt.Sprintf(`{"model":"r","input":"fail","stream":true,"store":false,"fail":1,"previous_response_id":%q}`, both["alpha"].id))
		r := s.Record(got.ID())
		if got.Status != 500 || got.Header.Get("X-Should-Retry") != "false" || len(r.Attempts) != 1 || r.Attempts[0].Reason != "stateful_continuation" {
			t.Errorf("status %d, attempts %+v", got.Status, r.Attempts)
		}
	})
	alpha.calls()
	t.Run("nowhere else", func(t *testing.T) {
		s.Operate("POST", "/admin/v1/channels/alpha/pause", map[string]any{"reason": "test"}, nil)
		got := s.Post(s.Default, "/v1/responses", fmt.Sprintf(`{"model":"r","input":"Go on","previous_response_id":%q}`, both["alpha"].id))
		checkFault(t, got, "responses", 503, "all_channels_failed")
		if got := s.Post(s.Default, "/v1/responses", `{"model":"r","input":"Hi","stream":true}`); got.Status != 200 {
			t.Errorf("beta answers others: %d", got.Status)
		}
	})
	if n := len(alpha.calls()); n != 0 {
		t.Errorf("%d calls at alpha", n)
	}
}

// statelessBody is an answer without what differs between any two.
func statelessBody(r stand.Reply, id string) string {
	return strings.NewReplacer(r.ID(), "REQUEST", id, "ID").Replace(r.Body)
}

// Stored responses are read and deleted at their account, by their owner alone.
func TestStored(t *testing.T) {
	s, alpha, beta := keep(t, "", "")
	other := s.NewCustomer("10.00")
	m := create(t, s, s.Default, `,"store":true`)["beta"]
	alpha.calls()
	beta.calls()
	for _, path := range []string{"/v1/responses/" + m.id, "/v1/responses/" + m.id + "/input_items?limit=2"} {
		if got := s.Get(s.Default, path); got.Status != 200 || !strings.Contains(got.Body, `"from":"beta"`) {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
		foreign, unknown := s.Get(other, path), s.Get(other, strings.Replace(path, m.id, "resp_beta_0", 1))
		checkFault(t, foreign, "responses", 404, "not_found")
		if a, b := statelessBody(foreign, m.id), statelessBody(unknown, "resp_beta_0"); a != b {
			t.Errorf("foreign and unknown ids are told apart:\n%s\n%s", a, b)
		}
	}
	checkFault(t, s.Do(other, "DELETE", "/v1/responses/"+m.id, nil, nil), "responses", 404, "not_found")
	if got := s.Do(s.Default, "DELETE", "/v1/responses/"+m.id, nil, nil); got.Status != 200 {
		t.Errorf("deleting: %d %s", got.Status, got.Body)
	}
	checkFault(t, s.Get(s.Default, "/v1/responses/"+m.id), "responses", 404, "not_found")
	checkFault(t, s.Post(s.Default, "/v1/responses", fmt.Sprintf(`{"model":"r","previous_response_id":%q}`, m.id)), "responses", 400, "previous_response_not_found")
	want := []string{"GET /v1/responses/" + m.id + " ", "GET /v1/responses/" + m.id + "/input_items?limit=2 ", "DELETE /v1/responses/" + m.id + " "}
	if got := beta.calls(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("beta got %q, want %q", got, want)
	}
	if got := alpha.calls(); len(got) != 0 {
		t.Errorf("alpha got %q", got)
	}
}

// What goes wrong with a stored response is told like any other failure.
func TestStoredFailures(t *testing.T) {
	answers := make(chan func(*stand.Exchange) bool, 1)
	up := &stand.Raw{Handle: func(c *stand.Exchange) bool { return (<-answers)(c) }}
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	answers <- func(c *stand.Exchange) bool {
		return c.Whole(200, "application/json", `{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":1,"output_tokens":1}}`)
	}
	if got := s.Post(s.Default, "/v1/responses", `{"model":"r","store":true}`); got.Status != 200 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	for _, c := range []struct {
		name, head, body string
		status           int
		code, wait       string
	}{
		{"429", "429 Slow\r\nRetry-After: 4", `{"error":{"message":"slow","code":"rate_limit_exceeded"}}`, 429, "rate_limit_exceeded", "4"},
		{"401", "401 No", `{"error":{"message":"bad key","code":"invalid_api_key"}}`, 502, "upstream_auth", ""},
		{"403 about the request", "403 No", `{"error":{"message":"not in your region","code":"unsupported_region"}}`, 403, "unsupported_region", ""},
		{"402", "402 Pay", `{"error":{"message":"no money"}}`, 503, "upstream_balance", "1"},
		{"HTML", "502 Bad", `<html>`, 502, "upstream_error", ""},
		{"nothing", "", "", 502, "stream_read_error", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers <- func(x *stand.Exchange) bool {
				if c.head != "" {
					// It says that it closes: a connection that is reused while it does would end the next call.
					fmt.Fprintf(x.Conn, "HTTP/1.1 %s\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", c.head, len(c.body), c.body)
				}
				return false
			}
			got := s.Get(s.Default, "/v1/responses/resp_1")
			checkFault(t, got, "responses", c.status, c.code)
			if wait := got.Header.Get("Retry-After"); wait != c.wait {
				t.Errorf("retry-after %q, want %q", wait, c.wait)
			}
		})
	}
}

// Where the gateway turns store off, it says so upstream, and says which option
// to look at when such a response is continued.
func TestStoreTurnedOff(t *testing.T) {
	s, alpha, _ := keep(t, "replay: {default_store: false}", "")
	both := create(t, s, s.Default, "")
	for _, call := range alpha.calls() {
		if !strings.Contains(call, `"store":false`) {
			t.Errorf("upstream got %s", call)
		}
	}
	got := s.Post(s.Default, "/v1/responses", fmt.Sprintf(`{"model":"r","previous_response_id":%q}`, both["alpha"].id))
	checkFault(t, got, "responses", 400, "previous_response_not_found")
	if !strings.Contains(got.Body, "replay.default_store") {
		t.Errorf("the message does not name the option: %s", got.Body)
	}
	checkFault(t, s.Get(s.Default, "/v1/responses/"+both["alpha"].id), "responses", 404, "not_found")
	kept := create(t, s, s.Default, `,"store":true`)
	if got := s.Post(s.Default, "/v1/responses", fmt.Sprintf(`{"model":"r","stream":true,"previous_response_id":%q}`, kept["alpha"].id)); got.Status != 200 {
		t.Errorf("what asked to be stored is continued: %d %s", got.Status, got.Body)
	}
}

// Sealed items bind a request to the account that sealed them, where there is
// more than one; an item that nobody knows is routed, but not replayed.
func TestSealed(t *testing.T) {
	body := func(sealed, more string) string {
		return fmt.Sprintf(`{"model":"r","stream":true,"store":false,"input":[{"type":"reasoning","id":"rs_x","encrypted_content":%q,"summary":[]},{"role":"user","content":"Go on"}]%s}`, sealed, more)
	}
	t.Run("two accounts", func(t *testing.T) {
		s, _, _ := keep(t, "", "")
		create(t, s, s.Default, `,"store":false`)
		for _, home := range []string{"alpha", "beta"} {
			for range 8 {
				got := s.Post(s.Default, "/v1/responses", body("sealed-"+home, ""))
				if r := s.Record(got.ID()); got.Status != 200 || r.Attempts[0].Channel != home {
					t.Fatalf("an item that %s sealed went to %s", home, r.Attempts[0].Channel)
				}
			}
		}
		for _, sealed := range []string{"sealed-alpha", "sealed by nobody"} {
			got := s.Post(s.Default, "/v1/responses", body(sealed, `,"fail":1`))
			if r := s.Record(got.ID()); got.Status != 500 || len(r.Attempts) != 1 || r.Attempts[0].Reason != "origin_bound" {
				t.Errorf("%s: status %d, attempts %+v", sealed, got.Status, r.Attempts)
			}
		}
		if got := s.Post(s.Default, "/v1/responses", body("sealed by nobody", "")); got.Status != 200 {
			t.Errorf("an unknown item is refused: %d %s", got.Status, got.Body)
		}
	})
	t.Run("one account", func(t *testing.T) {
		s, _, _ := keep(t, "", ", origin: shared")
		create(t, s, s.Default, `,"store":false`)
		channels := map[string]bool{}
		for range 30 {
			channels[s.Record(s.Post(s.Default, "/v1/responses", body("sealed-alpha", "")).ID()).Attempts[0].Channel] = true
		}
		if len(channels) != 2 {
			t.Errorf("one account behind two channels, but all requests went to %v", channels)
		}
		got := s.Post(s.Default, "/v1/responses", body("sealed-alpha", `,"fail":1`))
		if r := s.Record(got.ID()); len(r.Attempts) != 2 || r.Attempts[0].Verdict != "replay" {
			t.Errorf("attempts %+v", r.Attempts)
		}
	})
}

// Items are state too: a reference goes to the account that has the item, and
// another customer's is unknown.
func TestItemReference(t *testing.T) {
	s, _, _ := keep(t, "", "")
	for home, m := range create(t, s, s.Default, `,"store":true`) {
		item := strings.Replace(m.id, "resp_", "rs_", 1)
		body := fmt.Sprintf(`{"model":"r","stream":true,"store":false,"input":[{"type":"item_reference","id":%q},{"role":"user","content":"Go on"}]}`, item)
		for range 6 {
			got := s.Post(s.Default, "/v1/responses", body)
			if got.Status != 200 {
				t.Fatalf("status %d: %s", got.Status, got.Body)
			}
			if at := s.Record(got.ID()).Attempts[0].Channel; at != home {
				t.Fatalf("an item of %s went to %s", home, at)
			}
		}
		checkFault(t, s.Post(s.NewCustomer("1.00"), "/v1/responses", body), "responses", 404, "not_found")
	}
}

// compact is charged like a request; counting tokens is recorded and free.
func TestCompactAndInputTokens(t *testing.T) {
	s, alpha, beta := keep(t, "", "")
	got := s.Post(s.Default, "/v1/responses/compact", `{"model":"r","input":[{"role":"user","content":"Hi"}]}`)
	r := s.Record(got.ID())
	if got.Status != 200 || !strings.Contains(got.Body, "response.compaction") || r.Outcome != journal.OutcomeCompleted || r.Charge.String() != "0.000350000" {
		t.Errorf("compact: %d %s, %s, charge %v", got.Status, got.Body, r.Outcome, r.Charge)
	}
	got = s.Post(s.Default, "/v1/responses/input_tokens", `{"model":"r","input":"Hi"}`)
	r = s.Record(got.ID())
	var answer struct {
		Tokens int `json:"input_tokens"`
	}
	if err := json.Unmarshal([]byte(got.Body), &answer); err != nil || got.Status != 200 || answer.Tokens != 11 {
		t.Errorf("input_tokens: %d %s", got.Status, got.Body)
	}
	if r.Outcome != journal.OutcomeCompleted || r.Charge != 0 || len(s.Transactions(got.ID())) != 0 || r.Surface != journal.SurfaceCountTokens {
		t.Errorf("input_tokens: %s on %s, charge %v, transactions %v", r.Outcome, r.Surface, r.Charge, s.Kinds(got.ID()))
	}
	if calls := append(alpha.calls(), beta.calls()...); len(calls) != 2 || !strings.Contains(calls[0]+calls[1], `"model":"up"`) {
		t.Errorf("upstream got %q", calls)
	}
}

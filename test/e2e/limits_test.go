package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"rubicon/internal/books/journal"
	"rubicon/internal/money"
	"rubicon/test/stand"
)

// keyOf makes another key of the default customer.
func keyOf(t *testing.T, s *stand.Gateway, limits string) stand.Customer {
	t.Helper()
	var spec map[string]any
	if err := json.Unmarshal([]byte(`{"name":"limited",`+limits+`}`), &spec); err != nil {
		t.Fatal(err)
	}
	var made struct{ ID, Key string }
	s.Operate("POST", "/admin/v1/customers/"+s.Default.ID+"/keys", spec, &made)
	return stand.Customer{ID: s.Default.ID, Key: made.Key, KeyID: made.ID}
}

func limited(t *testing.T) *stand.Gateway {
	t.Helper()
	return stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": steady()}})
}

// steady is an upstream that answers everything well.
func steady() *stand.Raw {
	return &stand.Raw{Handle: func(c *stand.Exchange) bool {
		p := "responses"
		switch {
		case strings.Contains(c.Request.URL.Path, "chat"):
			p = "chat"
		case strings.Contains(c.Request.URL.Path, "messages"):
			p = "messages"
		}
		if !strings.Contains(string(c.Body), `"stream":true`) {
			return c.Whole(200, "application/json", events[p].answer)
		}
		c.Stream()
		_ = c.Chunk(events[p].opening + events[p].output + events[p].ending)
		return c.End()
	}}
}

// wantFault checks a refusal: its status and code, its headers, its record
// without money.
func wantFault(t *testing.T, s *stand.Gateway, r stand.Reply, status int, code string) {
	t.Helper()
	if r.Status != status || r.Fault().Code != code {
		t.Fatalf("status %d, %s; want %d %s", r.Status, r.Body, status, code)
	}
	if (status == 429) != (r.Header.Get("Retry-After") != "") || (status == 429) != (r.Fault().RetryAfter != nil) {
		t.Errorf("retry-after %q, %s", r.Header.Get("Retry-After"), r.Body)
	}
	rec := s.Record(r.ID())
	if rec.Outcome != journal.OutcomeRejected || rec.Charge != 0 || rec.Error == nil || rec.Error.Code != code || len(rec.Attempts) != 0 {
		t.Errorf("the record of a refusal: %+v", rec)
	}
	if kinds := s.Kinds(r.ID()); len(kinds) != 0 {
		t.Errorf("a refusal with transactions %v", kinds)
	}
}

func wantGood(t *testing.T, r stand.Reply) {
	t.Helper()
	if r.Status != 200 || r.Err != nil {
		t.Fatalf("status %d, %v: %s", r.Status, r.Err, r.Body)
	}
}

func TestRequestsPerMinute(t *testing.T) {
	t.Parallel()
	s := limited(t)
	c := keyOf(t, s, `"rpm":3`)
	for n, a := range apis { // all surfaces count together, streamed or not
		r := s.Post(c, a.path, a.stream(a.protocol[:1]))
		wantGood(t, r)
		if got := r.Header.Get("X-Ratelimit-Remaining-Requests"); got != fmt.Sprint(2-n) {
			t.Errorf("%s requests remain after %d", got, n+1)
		}
		if r.Header.Get("X-Ratelimit-Limit-Requests") != "3" || r.Header.Get("X-Ratelimit-Limit-Tokens") != "" {
			t.Errorf("headers %v", r.Header)
		}
	}
	for _, a := range apis {
		r := s.Post(c, a.path, a.unstreamed(a.protocol[:1]))
		wantFault(t, s, r, 429, "rate_limit_exceeded")
		reset, err := time.ParseDuration(r.Header.Get("X-Ratelimit-Reset-Requests"))
		if err != nil || reset < 50*time.Second || reset > time.Minute || r.Header.Get("X-Ratelimit-Remaining-Requests") != "0" {
			t.Errorf("headers %v", r.Header)
		}
		if r.Header.Get("X-Should-Retry") != "true" || r.Header.Get("Retry-After") == "1" {
			t.Errorf("headers %v", r.Header)
		}
	}
	// A change counts at once, and for what was used already.
	s.Operate("PATCH", "/admin/v1/keys/"+c.KeyID, map[string]any{"rpm": 4}, nil)
	wantGood(t, s.Post(c, apis[0].path, apis[0].unstreamed("r")))
	wantFault(t, s, s.Post(c, apis[0].path, apis[0].unstreamed("r")), 429, "rate_limit_exceeded")
	s.Operate("PATCH", "/admin/v1/keys/"+c.KeyID, map[string]any{"rpm": 0}, nil)
	for range 5 {
		wantGood(t, s.Post(c, apis[0].path, apis[0].unstreamed("r")))
	}
}

// Tokens are reserved by the hold's estimate and corrected by what was used.
func TestTokensPerMinute(t *testing.T) {
	t.Parallel()
	s := limited(t)
	c := keyOf(t, s, `"tpm":200`)
	body := apis[0].unstreamed("r")
	for n := range 5 { // each may use some 80, and uses 15
		r := s.Post(c, apis[0].path, body)
		wantGood(t, r)
		if r.Header.Get("X-Ratelimit-Limit-Tokens") != "200" || r.Header.Get("X-Ratelimit-Reset-Tokens") == "" {
			t.Errorf("headers %v", r.Header)
		}
		if n == 0 && r.Header.Get("X-Ratelimit-Remaining-Tokens") == "185" {
			t.Error("the estimate was not reserved")
		}
	}
	for range 20 {
		if r := s.Post(c, apis[0].path, body); r.Status != 200 {
			wantFault(t, s, r, 429, "rate_limit_exceeded")
			break
		}
	}
	wantFault(t, s, s.Post(c, apis[0].path, body), 429, "rate_limit_exceeded")
	never := s.Post(c, apis[0].path, strings.Replace(body, `"max_output_tokens":50`, `"max_output_tokens":500`, 1))
	wantFault(t, s, never, 429, "rate_limit_exceeded")
	if never.Header.Get("X-Should-Retry") != "false" {
		t.Error("a request that can never pass is to be retried")
	}
	// A request that fails gives its tokens back.
	failing := keyOf(t, s, `"tpm":90`)
	for range 3 {
		wantFault(t, s, s.Post(failing, apis[0].path, `{"model":"r","input":"Hi","max_output_tokens":50,"previous_response_id":"resp_x"}`), 400, "previous_response_not_found")
	}
	wantGood(t, s.Post(failing, apis[0].path, body))
}

func TestConcurrencyLimit(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var running atomic.Int64
	up := &stand.Raw{Handle: func(c *stand.Exchange) bool {
		c.Stream()
		_ = c.Chunk(events["chat"].opening + events["chat"].output)
		running.Add(1)
		<-release
		_ = c.Chunk(events["chat"].ending)
		return c.End()
	}}
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	c := keyOf(t, s, `"concurrency":2`)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { wantGood(t, s.Post(c, apis[1].path, apis[1].stream("c"))) })
	}
	must(t, 5*time.Second, "both run", func() bool { return running.Load() == 2 })
	r := s.Post(c, apis[1].path, apis[1].stream("c"))
	wantFault(t, s, r, 429, "concurrency_limit")
	close(release)
	wg.Wait()
	for range 5 { // whoever saw the end finds the place free
		wantGood(t, s.Post(c, apis[1].path, apis[1].stream("c")))
	}
}

func TestModelsAndExpiry(t *testing.T) {
	t.Parallel()
	s := limited(t)
	c := keyOf(t, s, `"models":["c"]`)
	wantFault(t, s, s.Post(c, apis[0].path, apis[0].stream("r")), 403, "model_not_allowed")
	wantGood(t, s.Post(c, apis[1].path, apis[1].stream("c")))
	s.Operate("PATCH", "/admin/v1/keys/"+c.KeyID, map[string]any{"models": []string{"r", "c"}}, nil)
	wantGood(t, s.Post(c, apis[0].path, apis[0].stream("r")))
	s.Operate("PATCH", "/admin/v1/keys/"+c.KeyID, map[string]any{"expires_at": time.Now().Add(-time.Second).Format(time.RFC3339)}, nil)
	for _, api := range apis {
		wantFault(t, s, s.Post(c, api.path, api.stream(api.protocol[:1])), 401, "expired_api_key")
	}
}

// What keys are created and changed with comes back as it is.
func TestKeyFields(t *testing.T) {
	t.Parallel()
	s := limited(t)
	c := keyOf(t, s, `"models":["r"],"rpm":1,"tpm":2,"concurrency":3,"delivery":"atomic","budget":{"amount":"4.5","period":"week"},"expires_at":"2999-01-31T00:00:00Z"`)
	show := func() (k map[string]any) {
		var list struct{ Keys []map[string]any }
		s.Operate("GET", "/admin/v1/customers/"+c.ID+"/keys", nil, &list)
		for _, k := range list.Keys {
			if k["id"] == c.KeyID {
				delete(k, "created_at")
				return k
			}
		}
		t.Fatal("the key is not on the list")
		return nil
	}
	want := fmt.Sprint(map[string]any{"id": c.KeyID, "customer": c.ID, "name": "limited", "models": []any{"r"}, "rpm": 1.0, "tpm": 2.0,
		"concurrency": 3.0, "delivery": "atomic", "budget": map[string]any{"amount": "4.500000000", "period": "week"},
		"expires_at": "2999-01-31T00:00:00Z", "revoked": false})
	if got := fmt.Sprint(show()); got != want {
		t.Errorf("the key is %s, want %s", got, want)
	}
	s.Operate("PATCH", "/admin/v1/keys/"+c.KeyID, map[string]any{"rpm": 0, "tpm": 0, "concurrency": 0, "models": []string{}, "delivery": "",
		"budget": map[string]any{"amount": "0", "period": ""}, "expires_at": "0001-01-01T00:00:00Z"}, nil)
	want = fmt.Sprint(map[string]any{"id": c.KeyID, "customer": c.ID, "name": "limited", "revoked": false})
	if got := fmt.Sprint(show()); got != want {
		t.Errorf("without limits the key is %s, want %s", got, want)
	}
}

// TestBudget: a budget is spent by charges, reserved by holds, and 200 requests
// at once cannot overspend it. Each holds 0.0028 at most and costs 0.00035.
func TestBudget(t *testing.T) {
	t.Parallel()
	s := limited(t)
	body := apis[0].unstreamed("r")
	for _, period := range []string{"day", "week", "month", "total"} {
		c := keyOf(t, s, `"budget":{"amount":"0.006","period":"`+period+`"}`)
		var good atomic.Int64
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				switch r := s.Post(c, apis[0].path, body); {
				case r.Status == 200:
					good.Add(1)
				case r.Status != 402 || r.Fault().Code != "key_budget_exceeded":
					t.Errorf("status %d, %v: %s", r.Status, r.Err, r.Body)
				}
			})
		}
		wg.Wait()
		spent := money.Nano(good.Load()) * 350_000
		if good.Load() == 0 || spent > 6_000_000 {
			t.Errorf("%d requests of a budget of 0.006 went through", good.Load())
		}
		var last stand.Reply
		for spent < 6_000_000 {
			if last = s.Post(c, apis[0].path, body); last.Status != 200 {
				break
			}
			spent += 350_000
		}
		wantFault(t, s, last, 402, "key_budget_exceeded")
		var e struct{ Error map[string]any }
		if err := json.Unmarshal([]byte(last.Body), &e); err != nil {
			t.Fatal(err)
		}
		if e.Error["spent"] != spent.String() || e.Error["budget"] != "0.006000000" || e.Error["period"] != period || e.Error["held"] != "0.000000000" {
			t.Errorf("%d spent, but the refusal says %s", spent, last.Body)
		}
		if _, says := e.Error["resets_at"]; says == (period == "total") {
			t.Errorf("resets_at in %s", last.Body)
		}
		s.Operate("PATCH", "/admin/v1/keys/"+c.KeyID, map[string]any{"budget": map[string]any{"amount": "0.009", "period": period}}, nil)
		wantGood(t, s.Post(c, apis[0].path, body))
		s.Operate("PATCH", "/admin/v1/keys/"+c.KeyID, map[string]any{"budget": map[string]any{"amount": "0", "period": ""}}, nil)
		for range 10 {
			wantGood(t, s.Post(c, apis[0].path, body))
		}
	}
}

// Turns of a WebSocket count like requests.
func TestLimitsOnWebSocket(t *testing.T) {
	t.Parallel()
	s := limited(t)
	c := keyOf(t, s, `"rpm":3`)
	ws, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/v1/responses",
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + c.Key}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	turn := func() (last string) {
		if err := ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"response.create","model":"r","store":false,"input":"Hi","max_output_tokens":50}`)); err != nil {
			t.Fatal(err)
		}
		for {
			_, data, err := ws.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if last = string(data); strings.Contains(last, `"response.completed"`) || strings.Contains(last, `"type":"error"`) {
				return last
			}
		}
	}
	for range 2 {
		if last := turn(); !strings.Contains(last, "response.completed") {
			t.Fatal(last)
		}
	}
	wantGood(t, s.Post(c, apis[1].path, apis[1].stream("c"))) // the other transport counts with it
	if last := turn(); !strings.Contains(last, "rate_limit_exceeded") || !strings.Contains(last, `"status":429`) || !strings.Contains(last, `"retry-after"`) {
		t.Error(last)
	}
	if err := ws.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
}

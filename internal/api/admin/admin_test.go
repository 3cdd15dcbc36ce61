package admin

import (
	"strings"
	"testing"

	"rubicon/internal/config"
)

func TestTokenIsAskedForEverywhere(t *testing.T) {
	b := newBench(t)
	b.deps.Profiling = true
	b.handler = New(b.deps)
	tests := []struct{ name, header string }{
		{"none", ""}, {"empty", "Bearer "}, {"wrong", "Bearer nope"}, {"longer", "Bearer " + token + "x"},
		{"shorter", "Bearer " + token[:5]}, {"no scheme", token}, {"basic", "Basic " + token},
	}
	paths := []string{"/nowhere", "/"}
	for _, r := range routes() {
		if !r.open {
			paths = append(paths, strings.NewReplacer("{id}", "x", "{name}", "x", "{cred}", "x", "{profile...}", "").Replace(r.path))
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b.t = t
			for _, path := range paths {
				w := b.do("GET", path, "", "authorization", tt.header)
				b.failure(w, 401, "invalid_api_key", "")
				if w.Header().Get("www-authenticate") != "Bearer" {
					t.Errorf("%s: no www-authenticate", path)
				}
			}
		})
	}
	if w := b.do("GET", "/healthz", "", "authorization", ""); w.Code != 200 {
		t.Errorf("healthz without a token: %d", w.Code)
	}
	if w := b.do("GET", "/metrics", "", "authorization", "bearer "+token); w.Body.String() != "rubicon_up 1\n" {
		t.Errorf("metrics: %d %s", w.Code, w.Body)
	}
	if w := b.do("GET", "/debug/pprof/goroutine?debug=1", ""); w.Code != 200 || !strings.Contains(w.Body.String(), "goroutine profile") {
		t.Errorf("profile: %d %.200s", w.Code, w.Body)
	}
}

func TestAnEmptyTokenOpensNothing(t *testing.T) {
	b := newBench(t)
	b.deps.Token = config.Secret{}
	b.handler = New(b.deps)
	b.failure(b.do("GET", "/metrics", "", "authorization", "Bearer "), 401, "invalid_api_key", "")
}

func TestRefusals(t *testing.T) {
	b := newBench(t)
	id := b.customer("Anna")
	at := "/admin/v1/customers/" + id
	tests := []struct {
		name, method, path, body string
		status                   int
		code, param              string
	}{
		{"unknown path", "GET", "/admin/v1/nothing", "", 404, "not_found", ""},
		{"profiling is off", "GET", "/debug/pprof/", "", 404, "not_found", ""},
		{"no JSON", "POST", "/admin/v1/customers", "name=Anna", 400, "invalid_json", ""},
		{"no body", "POST", "/admin/v1/customers", "", 400, "invalid_json", ""},
		{"trailing data", "POST", "/admin/v1/customers", `{"name":"A"}{}`, 400, "invalid_json", ""},
		{"no object", "POST", "/admin/v1/customers", `["name"]`, 400, "invalid_request", ""},
		{"unknown field", "POST", "/admin/v1/customers", `{"name":"A","nmae":1}`, 400, "invalid_request", "nmae"},
		{"other case", "POST", "/admin/v1/customers", `{"Name":"A"}`, 400, "invalid_request", "Name"},
		{"twice", "POST", "/admin/v1/customers", `{"name":"A","name":"B"}`, 400, "invalid_request", "name"},
		{"twice, escaped", "POST", "/admin/v1/customers", `{"name":"A","n\u0061me":"B"}`, 400, "invalid_request", "name"},
		{"wrong type", "POST", "/admin/v1/customers", `{"name":7}`, 400, "invalid_request", "name"},
		{"absent", "POST", "/admin/v1/customers", `{}`, 400, "invalid_request", "name"},
		{"null is absent", "POST", "/admin/v1/customers", `{"name":null}`, 400, "invalid_request", "name"},
		{"too large", "POST", "/admin/v1/customers", `{"name":"` + strings.Repeat("a", maxBody) + `"}`, 413, "payload_too_large", ""},
		{"unknown customer", "GET", "/admin/v1/customers/cus_x", "", 404, "not_found", ""},
		{"patch of an unknown customer", "PATCH", "/admin/v1/customers/cus_x", `{"suspended":true}`, 404, "not_found", ""},
		{"keys of an unknown customer", "GET", "/admin/v1/customers/cus_x/keys", "", 404, "not_found", ""},
		{"key for an unknown customer", "POST", "/admin/v1/customers/cus_x/keys", `{"name":"k"}`, 404, "not_found", ""},
		{"balance of an unknown customer", "GET", "/admin/v1/customers/cus_x/balance", "", 404, "not_found", ""},
		{"credit for an unknown customer", "POST", "/admin/v1/customers/cus_x/credits", `{"amount":"1","reason":"r"}`, 404, "not_found", ""},
		{"adjustment of an unknown customer", "POST", "/admin/v1/customers/cus_x/adjustments", `{"amount":"1","reason":"r"}`, 404, "not_found", ""},
		{"unknown key", "PATCH", "/admin/v1/keys/key_x", `{"rpm":1}`, 404, "not_found", ""},
		{"revoking an unknown key", "DELETE", "/admin/v1/keys/key_x", "", 404, "not_found", ""},
		{"unrevoking", "PATCH", "/admin/v1/keys/key_x", `{"revoked":false}`, 400, "invalid_request", "revoked"},
		{"unknown field inside", "POST", at + "/keys", `{"name":"k","budget":{"amont":"1"}}`, 400, "invalid_request", "budget"},
		{"negative rpm", "POST", at + "/keys", `{"name":"k","rpm":-1}`, 400, "invalid_request", ""},
		{"amount as a number", "POST", at + "/credits", `{"amount":1,"reason":"r"}`, 400, "invalid_request", "amount"},
		{"amount with ten places", "POST", at + "/credits", `{"amount":"1.0000000001","reason":"r"}`, 400, "invalid_request", "amount"},
		{"amount out of range", "POST", at + "/credits", `{"amount":"99999999999","reason":"r"}`, 400, "invalid_request", "amount"},
		{"negative credit", "POST", at + "/credits", `{"amount":"-1","reason":"r"}`, 400, "invalid_request", "amount"},
		{"credit of nothing", "POST", at + "/credits", `{"reason":"r"}`, 400, "invalid_request", "amount"},
		{"credit without a reason", "POST", at + "/credits", `{"amount":"1","reason":" "}`, 400, "invalid_request", "reason"},
		{"adjustment of nothing", "POST", at + "/adjustments", `{"amount":"0","reason":"r"}`, 400, "invalid_request", "amount"},
		{"reversal without a reason", "POST", "/admin/v1/ledger/transactions/tx_1/reverse", `{}`, 400, "invalid_request", "reason"},
		{"reversal of nothing", "POST", "/admin/v1/ledger/transactions/tx_1/reverse", `{"reason":"r"}`, 404, "not_found", ""},
		{"unknown request", "GET", "/admin/v1/requests/req_x", "", 404, "not_found", ""},
		{"unknown filter", "GET", "/admin/v1/requests?costumer=x", "", 400, "invalid_request", "costumer"},
		{"filter twice", "GET", "/admin/v1/requests?model=x&model=y", "", 400, "invalid_request", "model"},
		{"bad outcome", "GET", "/admin/v1/requests?outcome=great", "", 400, "invalid_request", "outcome"},
		{"bad since", "GET", "/admin/v1/requests?since=yesterday", "", 400, "invalid_request", "since"},
		{"bad cursor", "GET", "/admin/v1/requests?cursor=zzz", "", 400, "invalid_request", "cursor"},
		{"bad kind", "GET", "/admin/v1/ledger/transactions?kind=gift", "", 400, "invalid_request", "kind"},
		{"limit of zero", "GET", "/admin/v1/customers?limit=0", "", 400, "invalid_request", "limit"},
		{"limit too high", "GET", "/admin/v1/customers?limit=1001", "", 400, "invalid_request", "limit"},
		{"unknown channel", "POST", "/admin/v1/channels/zzz/pause", "", 404, "not_found", ""},
		{"unknown credential", "POST", "/admin/v1/channels/a/credentials/z/disable", `{"reason":"r"}`, 404, "not_found", ""},
		{"weight for an unknown model", "PUT", "/admin/v1/channels/a/weight", `{"public_model":"z","weight":1}`, 404, "not_found", ""},
		{"weight without a model", "PUT", "/admin/v1/channels/a/weight", `{"weight":1}`, 400, "invalid_request", "public_model"},
		{"weight without a weight", "PUT", "/admin/v1/channels/a/weight", `{"public_model":"m"}`, 400, "invalid_request", "weight"},
		{"negative weight", "PUT", "/admin/v1/channels/a/weight", `{"public_model":"m","weight":-2}`, 400, "invalid_request", "weight"},
		{"weight as text", "PUT", "/admin/v1/channels/a/weight", `{"public_model":"m","weight":"1"}`, 400, "invalid_request", "weight"},
		{"plan for no model", "GET", "/admin/v1/route", "", 400, "invalid_request", "model"},
		{"plan for an unknown model", "GET", "/admin/v1/route?model=z", "", 404, "not_found", ""},
		{"a fault of the program", "GET", "/admin/v1/route?model=explode", "", 500, "internal_error", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b.t = t
			b.failure(b.do(tt.method, tt.path, tt.body), tt.status, tt.code, tt.param)
		})
	}
	if len(b.channels.override) != 0 {
		t.Errorf("a refused override was applied: %+v", b.channels.override)
	}
}

func TestMethodNotAllowed(t *testing.T) {
	b := newBench(t)
	tests := []struct{ method, path, allow string }{
		{"DELETE", "/admin/v1/customers", "GET, POST, HEAD"},
		{"POST", "/admin/v1/customers/x", "GET, PATCH, HEAD"},
		{"GET", "/admin/v1/channels/a/weight", "PUT"},
		{"POST", "/metrics", "GET, HEAD"},
		{"PUT", "/healthz", "GET, HEAD"},
	}
	for _, tt := range tests {
		w := b.do(tt.method, tt.path, "{}")
		b.failure(w, 405, "method_not_allowed", "")
		if got := w.Header().Get("allow"); got != tt.allow {
			t.Errorf("%s %s: allow %q, want %q", tt.method, tt.path, got, tt.allow)
		}
	}
	if w := b.do("HEAD", "/admin/v1/channels", ""); w.Code != 200 {
		t.Errorf("HEAD: %d", w.Code)
	}
}

// What is not there yet is an empty list or an unknown name, not a crash.
func TestWithoutTheOptionalParts(t *testing.T) {
	b := newBench(t)
	b.deps.Channels, b.deps.Planner, b.deps.Alerts, b.deps.Metrics, b.deps.Log = nil, nil, nil, nil, nil
	b.handler = New(b.deps)
	for path, status := range map[string]int{"/admin/v1/alerts": 200, "/admin/v1/channels": 200, "/metrics": 404, "/admin/v1/route?model=m": 404} {
		if w := b.do("GET", path, ""); w.Code != status {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	b.failure(b.do("POST", "/admin/v1/channels/a/pause", ""), 404, "not_found", "")
}

func TestStoreFailureIsSaidWithoutItsCause(t *testing.T) {
	b := newBench(t)
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/admin/v1/customers", "/admin/v1/requests", "/admin/v1/ledger/transactions", "/admin/v1/ledger/verify"} {
		w := b.do("GET", path, "")
		b.failure(w, 503, "store_unavailable", "")
		if w.Header().Get("retry-after") == "" {
			t.Errorf("%s: no retry-after", path)
		}
		if strings.Contains(w.Body.String(), "closed") {
			t.Errorf("%s: the cause reached the client: %s", path, w.Body)
		}
	}
	if !strings.Contains(b.log.String(), "closed") {
		t.Errorf("the log lacks the cause: %s", b.log)
	}
}

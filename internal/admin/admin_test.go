package admin

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/account"
	"rubicon/internal/config"
	"rubicon/internal/ident"
	"rubicon/internal/journal"
	"rubicon/internal/ledger"
	"rubicon/internal/store"
)

const token = "a-token-for-tests"

// bench is the API over a real store, with doubles for health and alerts.
type bench struct {
	t        *testing.T
	db       *store.DB
	ledger   *ledger.Ledger
	journal  *journal.Journal
	channels *fakeChannels
	alerts   *fakeAlerts
	log      *bytes.Buffer
	deps     Deps
	handler  http.Handler
}

func newBench(t *testing.T) *bench {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+t.TempDir()+"/r.db", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	ids := ident.New(rand.Reader, time.Now)
	b := &bench{t: t, db: db, log: &bytes.Buffer{}, channels: &fakeChannels{}, alerts: &fakeAlerts{},
		ledger: ledger.New(db, ids, time.Now), journal: journal.New(db, time.Now)}
	b.deps = Deps{
		Token: config.NewSecret(token), Accounts: account.New(db, ids, time.Now), Ledger: b.ledger, Journal: b.journal,
		Channels: b.channels, Planner: b.channels, Alerts: b.alerts, IDs: ids,
		Log: slog.New(slog.NewTextHandler(b.log, nil)),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "rubicon_up 1\n")
		}),
	}
	b.handler = New(b.deps)
	return b
}

// do makes a call with the token; headers are pairs.
func (b *bench) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("authorization", "Bearer "+token)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

// get makes a call that must succeed and decodes its answer.
func get[T any](b *bench, status int, method, path, body string, headers ...string) T {
	b.t.Helper()
	w := b.do(method, path, body, headers...)
	var out T
	if w.Code != status {
		b.t.Fatalf("%s %s: status %d, want %d: %s", method, path, w.Code, status, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		b.t.Fatalf("%s %s: %v in %s", method, path, err, w.Body)
	}
	return out
}

func (b *bench) customer(name string) string {
	b.t.Helper()
	return get[account.Customer](b, 201, "POST", "/admin/v1/customers", fmt.Sprintf(`{"name":%q}`, name)).ID
}

// failure checks the envelope of a refusal.
func (b *bench) failure(w *httptest.ResponseRecorder, status int, code, param string) {
	b.t.Helper()
	var body struct{ Error envelopeError }
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		b.t.Fatalf("no envelope: %v in %q", err, w.Body)
	}
	got := body.Error
	gotParam := ""
	if got.Param != nil {
		gotParam = *got.Param
	}
	if w.Code != status || got.Code != code || gotParam != param {
		b.t.Errorf("got %d %s param %q, want %d %s param %q: %s", w.Code, got.Code, gotParam, status, code, param, got.Message)
	}
	if id := w.Header().Get("x-request-id"); id == "" || id != got.RequestID {
		b.t.Errorf("x-request-id %q, request_id %q", id, got.RequestID)
	}
	if w.Header().Get("x-should-retry") == "" || got.Message == "" || got.Type == "" {
		b.t.Errorf("incomplete: %v %+v", w.Header(), got)
	}
}

// fakeChannels knows the channel a with the credential k for the model m.
type fakeChannels struct{ got []Override }

func (f *fakeChannels) Channels(context.Context) ([]Channel, error) {
	return []Channel{{Channel: "a", PublicModel: "m", State: "closed", Weight: 100, EffectiveWeight: 12.5}}, nil
}

func (f *fakeChannels) Override(_ context.Context, o Override) error {
	if o.Channel != "a" || o.Credential != "" && o.Credential != "k" || o.PublicModel != "" && o.PublicModel != "m" {
		return fmt.Errorf("overriding %s: %w", o.Channel, ErrUnknown)
	}
	f.got = append(f.got, o)
	return nil
}

func (f *fakeChannels) Plan(_ context.Context, model, protocol string) (journal.Decision, error) {
	if model == "explode" {
		panic("a fault of the program")
	}
	if model != "m/x" {
		return journal.Decision{}, ErrUnknown
	}
	return journal.Decision{N: 1, Chosen: "a", Reason: protocol}, nil
}

type fakeAlerts struct{ asked Page }

func (f *fakeAlerts) Alerts(_ context.Context, p Page) ([]Alert, string, error) {
	f.asked = p
	return []Alert{{Kind: "credential_disabled", Channel: "a", Credential: "k", State: "open"}}, "c2", nil
}

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
	if len(b.channels.got) != 0 {
		t.Errorf("a refused override was applied: %+v", b.channels.got)
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

func TestCustomersAndKeys(t *testing.T) {
	b := newBench(t)
	first := b.customer("Anna")
	b.customer("Bert")
	page := get[CustomerList](b, 200, "GET", "/admin/v1/customers?limit=1", "")
	if len(page.Customers) != 1 || page.Customers[0].ID != first || page.Next == "" {
		t.Fatalf("first page: %+v", page)
	}
	page = get[CustomerList](b, 200, "GET", "/admin/v1/customers?limit=1&cursor="+page.Next, "")
	if len(page.Customers) != 1 || page.Customers[0].Name != "Bert" {
		t.Fatalf("second page: %+v", page)
	}

	at := "/admin/v1/customers/" + first
	changed := get[account.Customer](b, 200, "PATCH", at, `{"suspended":true}`)
	if !changed.Suspended || changed.Name != "Anna" {
		t.Errorf("suspended: %+v", changed)
	}
	if again := get[account.Customer](b, 200, "GET", at, ""); !again.Suspended {
		t.Errorf("read again: %+v", again)
	}

	made := get[NewKey](b, 201, "POST", at+"/keys",
		`{"name":"k","models":["m"],"rpm":5,"delivery":"atomic","budget":{"amount":"5.00","period":"month"},"expires_at":"2099-01-01T00:00:00Z"}`)
	if !strings.HasPrefix(made.Key, "rk-") || made.ID == "" {
		t.Fatalf("key: %+v", made)
	}
	w := b.do("GET", at+"/keys", "")
	if strings.Contains(w.Body.String(), made.Key) {
		t.Error("the list shows the secret")
	}
	keys := get[KeyList](b, 200, "GET", at+"/keys", "")
	if len(keys.Keys) != 1 || keys.Keys[0].RPM != 5 || keys.Keys[0].Budget.Amount != 5_000_000_000 {
		t.Errorf("keys: %+v", keys)
	}
	patched := get[account.Key](b, 200, "PATCH", "/admin/v1/keys/"+made.ID, `{"rpm":0,"name":"new"}`)
	if patched.RPM != 0 || patched.Name != "new" || patched.Delivery != "atomic" {
		t.Errorf("patched: %+v", patched)
	}
	for range 2 { // the second time changes nothing
		if gone := get[account.Key](b, 200, "DELETE", "/admin/v1/keys/"+made.ID, ""); !gone.Revoked {
			t.Errorf("revoked: %+v", gone)
		}
	}
	if strings.Contains(b.log.String(), made.Key) {
		t.Error("the log holds the secret")
	}
}

func TestEmptyListsAreLists(t *testing.T) {
	b := newBench(t)
	id := b.customer("Anna")
	tests := map[string]string{
		"/admin/v1/customers/" + id + "/keys":    `{"keys":[]}`,
		"/admin/v1/ledger/transactions":          `{"transactions":[],"next":""}`,
		"/admin/v1/requests":                     `{"requests":[],"next":""}`,
		"/admin/v1/ledger/verify":                `{"ok":true,"transactions":0,"differences":[]}`,
		"/admin/v1/customers/" + id + "/balance": `{"available":"0.000000000","held":"0.000000000","currency":"USD"}`,
	}
	for path, want := range tests {
		if got := strings.TrimSpace(b.do("GET", path, "").Body.String()); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestCredits(t *testing.T) {
	b := newBench(t)
	id := b.customer("Anna")
	at := "/admin/v1/customers/" + id
	body := `{"amount":"10.00","reason":"paid"}`
	var ids sync.Map
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			made := get[ledger.Transaction](b, 201, "POST", at+"/credits", body, "idempotency-key", "one", "rubicon-actor", "eve")
			ids.Store(made.ID, made)
		})
	}
	wg.Wait()
	var made ledger.Transaction
	count := 0
	ids.Range(func(_, v any) bool { made = v.(ledger.Transaction); count++; return true })
	if count != 1 || made.Kind != ledger.KindTopUp || made.Actor != "eve" || made.Reason != "paid" {
		t.Fatalf("%d transactions for one key: %+v", count, made)
	}
	b.failure(b.do("POST", at+"/credits", `{"amount":"11.00","reason":"paid"}`, "idempotency-key", "one"), 409, "idempotency_key_conflict", "")

	adjusted := get[ledger.Transaction](b, 201, "POST", at+"/adjustments", `{"amount":"-1.00","reason":"typo"}`)
	if adjusted.Kind != ledger.KindAdjust || adjusted.Actor != "admin" {
		t.Errorf("adjusted: %+v", adjusted)
	}
	want := Balance{Available: 9_000_000_000, Currency: "USD"}
	if got := get[Balance](b, 200, "GET", at+"/balance", ""); got != want {
		t.Errorf("balance %+v, want %+v", got, want)
	}

	reversed := get[ledger.Transaction](b, 201, "POST", "/admin/v1/ledger/transactions/"+made.ID+"/reverse", `{"reason":"charged back"}`)
	if reversed.Reverses != made.ID {
		t.Errorf("reversed: %+v", reversed)
	}
	b.failure(b.do("POST", "/admin/v1/ledger/transactions/"+made.ID+"/reverse", `{"reason":"again"}`), 409, "conflict", "")
	b.failure(b.do("POST", "/admin/v1/ledger/transactions/"+reversed.ID+"/reverse", `{"reason":"no"}`), 409, "conflict", "")
	if report := get[ledger.Report](b, 200, "GET", "/admin/v1/ledger/verify", ""); !report.OK || report.Transactions != 3 {
		t.Errorf("verify: %+v", report)
	}
	kinds := get[TransactionList](b, 200, "GET", "/admin/v1/ledger/transactions?kind=adjust&customer="+id, "")
	if len(kinds.Transactions) != 1 || kinds.Transactions[0].ID != adjusted.ID {
		t.Errorf("filtered: %+v", kinds)
	}
	page := get[TransactionList](b, 200, "GET", "/admin/v1/ledger/transactions?limit=2", "")
	rest := get[TransactionList](b, 200, "GET", "/admin/v1/ledger/transactions?limit=2&cursor="+page.Next, "")
	if len(page.Transactions) != 2 || len(rest.Transactions) != 1 || rest.Next != "" {
		t.Errorf("pages: %d and %d, next %q", len(page.Transactions), len(rest.Transactions), rest.Next)
	}
}

func TestRequests(t *testing.T) {
	b := newBench(t)
	started := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	write := func(id, model string, at time.Time) {
		err := b.db.Write(t.Context(), func(tx *store.Tx) error {
			return b.journal.Reject(tx, journal.Record{RequestID: id, Customer: "cus_1", Key: "key_1", Surface: journal.SurfaceChat,
				PublicModel: model, ResponseID: "resp_" + id, Outcome: journal.OutcomeRejected, StartedAt: at, FinishedAt: at,
				Error: &journal.Error{Code: "insufficient_balance", Type: "insufficient_quota"}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	write("req_1", "m", started)
	write("req_2", "m", started.Add(time.Hour))
	write("req_3", "n", started.Add(2*time.Hour))
	tests := []struct {
		query string
		want  []string
	}{
		{"", []string{"req_3", "req_2", "req_1"}},
		{"?model=m", []string{"req_2", "req_1"}},
		{"?customer=cus_2", nil},
		{"?outcome=rejected&since=2026-03-01T13:00:00Z", []string{"req_3", "req_2"}},
		{"?outcome=completed", nil},
		{"?response_id=resp_req_1", []string{"req_1"}},
		{"?model=", []string{"req_3", "req_2", "req_1"}},
	}
	for _, tt := range tests {
		var got []string
		for _, r := range get[RequestList](b, 200, "GET", "/admin/v1/requests"+tt.query, "").Requests {
			got = append(got, r.RequestID)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.query, diff)
		}
	}
	one := get[map[string]any](b, 200, "GET", "/admin/v1/requests/req_1", "")
	for _, name := range []string{"request_id", "customer", "key", "surface", "stream", "public_model", "upstream_model", "response_id", "outcome",
		"error", "after_output", "usage", "charge", "price_version", "times_ms", "attempts", "decisions"} {
		if _, ok := one[name]; !ok {
			t.Errorf("the record lacks %s", name)
		}
	}
}

func TestChannels(t *testing.T) {
	b := newBench(t)
	list := get[map[string][]map[string]any](b, 200, "GET", "/admin/v1/channels", "")["channels"]
	for _, name := range []string{"channel", "public_model", "state", "reason", "since", "until", "weight", "effective_weight", "consecutive_failures", "credentials"} {
		if _, ok := list[0][name]; !ok {
			t.Errorf("the channel lacks %s", name)
		}
	}
	for _, c := range [][3]string{
		{"POST", "/pause", `{"reason":"maintenance"}`}, {"POST", "/resume", ""}, {"POST", "/credentials/k/disable", "{}"},
		{"POST", "/credentials/k/enable", " "}, {"PUT", "/weight", `{"public_model":"m","weight":0}`}, {"PUT", "/weight", `{"public_model":"m","weight":-1}`},
	} {
		get[Done](b, 200, c[0], "/admin/v1/channels/a"+c[1], c[2], "rubicon-actor", "eve")
	}
	want := []Override{
		{Action: ActionPause, Channel: "a", Reason: "maintenance", Actor: "eve"},
		{Action: ActionResume, Channel: "a", Actor: "eve"},
		{Action: ActionDisable, Channel: "a", Credential: "k", Actor: "eve"},
		{Action: ActionEnable, Channel: "a", Credential: "k", Actor: "eve"},
		{Action: ActionWeight, Channel: "a", PublicModel: "m", Actor: "eve"},
		{Action: ActionWeight, Channel: "a", PublicModel: "m", Weight: DefaultWeight, Actor: "eve"},
	}
	if diff := cmp.Diff(want, b.channels.got); diff != "" {
		t.Errorf("overrides (-want +got):\n%s", diff)
	}
	if d := get[journal.Decision](b, 200, "GET", "/admin/v1/route?model=m/x&protocol=chat", ""); d.Chosen != "a" || d.Reason != "chat" {
		t.Errorf("plan: %+v", d)
	}
}

func TestAlerts(t *testing.T) {
	b := newBench(t)
	list := get[AlertList](b, 200, "GET", "/admin/v1/alerts?limit=5&cursor=c1", "")
	if len(list.Alerts) != 1 || list.Next != "c2" {
		t.Errorf("alerts: %+v", list)
	}
	if want := (Page{Cursor: "c1", Limit: 5}); b.alerts.asked != want {
		t.Errorf("asked for %+v, want %+v", b.alerts.asked, want)
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

package admin

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/books/account"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/store"
)

// What is probably not meant is told, or refused where it could not work.
func TestDoubtfulKeys(t *testing.T) {
	b := newBench(t)
	b.deps.HasModel = func(name string) bool { return name == "m" }
	b.handler = New(b.deps)
	at := "/admin/v1/customers/" + b.customer("Anna") + "/keys"
	for _, over := range []string{"0001-01-01T00:00:00Z", "2020-01-01T00:00:00Z", time.Now().Add(-time.Second).Format(time.RFC3339)} {
		w := b.do("POST", at, `{"name":"k","expires_at":"`+over+`"}`)
		b.failure(w, 400, "invalid_request", "")
		if !strings.Contains(w.Body.String(), "give a time after") {
			t.Errorf("%s: %s", over, w.Body)
		}
	}
	if list := get[KeyList](b, 200, "GET", at, ""); len(list.Keys) != 0 {
		t.Errorf("%d keys", len(list.Keys))
	}
	made := get[NewKey](b, 201, "POST", at, `{"name":"k","models":["m","later"]}`)
	if len(made.Warnings) != 1 || !strings.Contains(made.Warnings[0], `"later"`) || made.Key == "" {
		t.Errorf("created: %+v", made)
	}
	for body, warnings := range map[string]int{`{"models":["m"]}`: 0, `{"models":["x","y"]}`: 2, `{"rpm":1}`: 0, `{"models":null}`: 0} {
		if changed := get[ChangedKey](b, 200, "PATCH", "/admin/v1/keys/"+made.ID, body); len(changed.Warnings) != warnings || changed.ID != made.ID {
			t.Errorf("%s: %+v", body, changed)
		}
	}
}

// Without an idempotency key every call is a gift of its own.
func TestCreditWithoutAKeyIsGivenAgain(t *testing.T) {
	b := newBench(t)
	at := "/admin/v1/customers/" + b.customer("Anna")
	first := get[ledger.Transaction](b, 201, "POST", at+"/credits", `{"amount":"10.00","reason":"paid"}`)
	again := get[ledger.Transaction](b, 201, "POST", at+"/credits", `{"amount":"10.00","reason":"paid"}`)
	if balance := get[Balance](b, 200, "GET", at+"/balance", ""); first.ID == again.ID || balance.Available != 20_000_000_000 {
		t.Errorf("%s and %s: %s", first.ID, again.ID, balance.Available)
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
	patched = get[account.Key](b, 200, "PATCH", "/admin/v1/keys/"+made.ID, `{"budget":null,"expires_at":null,"models":null,"delivery":null,"name":null}`)
	if patched.Budget != nil || patched.ExpiresAt != nil || len(patched.Models) != 0 || patched.Delivery != "" || patched.Name != "new" {
		t.Errorf("null removes a limit and nothing else: %+v", patched)
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

// What is no page's next is refused, and not taken for the first page.
func TestForeignCursors(t *testing.T) {
	b := newBench(t)
	for _, list := range []string{"customers", "ledger/transactions", "requests"} {
		if w := b.do("GET", "/admin/v1/"+list+"?cursor=zzz", ""); w.Code != 400 || !strings.Contains(w.Body.String(), `"param":"cursor"`) {
			t.Errorf("%s: %d %s", list, w.Code, w.Body)
		}
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
	if diff := cmp.Diff(want, b.channels.override); diff != "" {
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

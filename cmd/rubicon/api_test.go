package main

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"rubicon/internal/api/admin"
	"rubicon/internal/books/account"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/config"
	"rubicon/internal/lab/sim"
	"rubicon/internal/store"
	"rubicon/internal/wire/ident"
)

const adminToken = "canary-admin-token"

// gateway is a real admin API over a real store.
type gateway struct {
	url, dbURL string
	db         *store.DB
	journal    *journal.Journal
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	g := &gateway{dbURL: "sqlite:" + t.TempDir() + "/r.db"}
	var err error
	if g.db, err = store.Open(t.Context(), g.dbURL, store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.db.Close() })
	if err := g.db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	ids := ident.New(rand.Reader, time.Now)
	g.journal = journal.New(g.db, time.Now)
	s := httptest.NewServer(admin.New(admin.Deps{Token: config.NewSecret(adminToken), Accounts: account.New(g.db, ids, time.Now),
		Ledger: ledger.New(g.db, ids, time.Now), Journal: g.journal, IDs: ids,
		HasModel: func(string) bool { return false }}))
	t.Cleanup(s.Close)
	g.url = s.URL
	return g
}

func (g *gateway) cli(t *testing.T, args ...string) outcome {
	t.Helper()
	return cli(t, []string{"RUBICON_ADMIN_TOKEN", adminToken}, append(args, "--admin-url", g.url)...)
}

// must runs a command that has to go well.
func (g *gateway) must(t *testing.T, args ...string) string {
	t.Helper()
	got := g.cli(t, args...)
	if got.code != 0 || got.err != "" {
		t.Fatalf("%v: code %d, %s%s", args, got.code, got.out, got.err)
	}
	if strings.Contains(got.out, adminToken) {
		t.Errorf("%v shows the admin token", args)
	}
	return got.out
}

func find(t *testing.T, pattern, text string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindString(text)
	if found == "" {
		t.Fatalf("no %s in %q", pattern, text)
	}
	return found
}

func TestCustomersKeysAndCredit(t *testing.T) {
	t.Chdir(t.TempDir())
	g := newGateway(t)
	cus := find(t, `cus_\w+`, g.must(t, "customer", "create", "Anna \x1b[31m & Co"))

	made := g.must(t, "key", "create", cus, "--name", "ci", "--rpm", "60", "--models", "a,b", "--budget", "5", "--expires-at", "2099-01-31T00:00:00Z")
	secret, key := find(t, `rk-\w+`, made), find(t, `key_\w+`, made)
	if n := strings.Count(made, "warning: No public model is named"); n != 2 {
		t.Errorf("%d warnings about models that do not exist: %s", n, made)
	}
	g.cli(t, "key", "create", cus, "--expires-at", "0001-01-01T00:00:00Z").oneLine(t, exitFailed, "over already")
	list := g.must(t, "key", "list", cus)
	if strings.Contains(list, secret) || !strings.Contains(list, "models a,b; rpm 60; budget 5.000000000 per month") {
		t.Errorf("key list: %s", list)
	}

	give := g.must(t, "credit", "give", cus, "10.00", "--reason", "paid", "--idempotency-key", "x")
	tx := find(t, `tx_\w+`, give)
	if again := g.must(t, "credit", "give", cus, "10.00", "--reason", "paid", "--idempotency-key", "x"); find(t, `tx_\w+`, again) != tx {
		t.Errorf("the same key gave another transaction: %s", again)
	}
	if got := g.must(t, "credit", "adjust", cus, "-1.00", "--reason", "typo"); !strings.Contains(got, "9.000000000 USD") {
		t.Errorf("adjust: %s", got)
	}
	if got := g.must(t, "credit", "reverse", tx, "--reason", "charged back"); !strings.Contains(got, "-1.000000000 USD") {
		t.Errorf("reverse: %s", got)
	}
	g.cli(t, "credit", "reverse", tx, "--reason", "again").oneLine(t, exitFailed, "reversed already")
	if got := g.must(t, "credit", "balance", cus, "--json"); !strings.Contains(got, `"available": "-1.000000000"`) {
		t.Errorf("balance: %s", got)
	}

	show := g.must(t, "customer", "show", cus)
	if !strings.Contains(show, "-1.000000000 USD") || !strings.Contains(show, key) || strings.Contains(show, "\x1b") {
		t.Errorf("show: %q", show)
	}
	var view struct {
		ID      string
		Balance admin.Balance
		Keys    []account.Key
	}
	if err := json.Unmarshal([]byte(g.must(t, "customer", "show", cus, "--json")), &view); err != nil || view.ID != cus || len(view.Keys) != 1 {
		t.Errorf("show --json: %+v, %v", view, err)
	}
	if got := g.must(t, "customer", "suspend", cus); !strings.Contains(got, "suspended") {
		t.Errorf("suspend: %s", got)
	}
	if got := g.must(t, "customer", "resume", cus); !strings.Contains(got, "active") {
		t.Errorf("resume: %s", got)
	}
	g.must(t, "key", "revoke", key)
	if got := g.must(t, "key", "list", cus); !strings.Contains(got, "revoked") {
		t.Errorf("after revoking: %s", got)
	}
	if got := g.must(t, "customer", "list"); !strings.HasPrefix(got, "ID") || strings.Count(got, "\n") != 2 {
		t.Errorf("list: %s", got)
	}
	if got := g.must(t, "verify"); !strings.Contains(got, "The ledger adds up: 3 transactions") {
		t.Errorf("verify: %s", got)
	}
	g.cli(t, "customer", "show", "cus_none").oneLine(t, exitFailed, "not_found, request req_")
}

func TestTheAPIIsNotThereOrRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	g := newGateway(t)
	wrong := cli(t, []string{"RUBICON_ADMIN_TOKEN", "canary-wrong-token"}, "customer", "list", "--admin-url", g.url)
	wrong.oneLine(t, exitFailed, "the admin API refused the token; set RUBICON_ADMIN_TOKEN")
	if strings.Contains(wrong.err, "canary") {
		t.Errorf("the token shows: %s", wrong.err)
	}
	env := []string{"RUBICON_ADMIN_TOKEN", adminToken}
	cli(t, env, "customer", "list", "--admin-url", "localhost:1").oneLine(t, exitUsage, "--admin-url must be like")
	addr, err := sim.UnreachableAddr()
	if err != nil {
		t.Fatal(err)
	}
	cli(t, env, "customer", "list", "--admin-url", "http://"+addr).oneLine(t, exitFailed, "connection refused); start it with `rubicon serve`")

	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/admin/v1/customers":
			_, _ = io.WriteString(w, "<html>")
		default:
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}
	}))
	defer other.Close()
	cli(t, env, "customer", "list", "--admin-url", other.URL).oneLine(t, exitFailed, "is not that of a Rubicon admin API")
	cli(t, env, "channel", "list", "--admin-url", other.URL).oneLine(t, exitFailed, "status 302; check --admin-url")
}

func TestVerifySaysEachDifference(t *testing.T) {
	t.Chdir(t.TempDir())
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"ok":false,"transactions":7,"differences":["balance of cus_1: 1 is not 2","tx_1 sums to 3"]}`)
	}))
	defer broken.Close()
	got := cli(t, []string{"RUBICON_ADMIN_TOKEN", adminToken}, "verify", "--admin-url", broken.URL)
	got.oneLine(t, exitFailed, "2 differences in 7 transactions")
	if want := "balance of cus_1: 1 is not 2\ntx_1 sums to 3\n"; got.out != want {
		t.Errorf("stdout %q, want %q", got.out, want)
	}
}

func TestVerifyAndMigrateOnTheStore(t *testing.T) {
	t.Chdir(t.TempDir())
	addr, err := sim.UnreachableAddr()
	if err != nil {
		t.Fatal(err)
	}
	write(t, "rubicon.yaml", "admin: {listen: \""+addr+"\", token: "+adminToken+"}\nstore: {url: \"sqlite:own.db\"}\n")
	if got := cli(t, nil, "migrate"); got.code != 0 {
		t.Fatalf("migrate: %+v", got)
	}
	for _, args := range [][]string{{"verify", "--offline"}, {"verify"}, {"verify", "-c", "rubicon.yaml", "--offline", "--json"}} {
		if got := cli(t, nil, args...); got.code != 0 || got.err != "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// Address and token come out of the configuration file.
func TestTheFileNamesTheAPI(t *testing.T) {
	t.Chdir(t.TempDir())
	g := newGateway(t)
	write(t, "mine.yaml", "admin: {listen: \""+strings.TrimPrefix(g.url, "http://")+"\", token: "+adminToken+"}\n")
	if got := cli(t, nil, "customer", "list", "-c", "mine.yaml"); got.code != 0 {
		t.Errorf("list: %+v", got)
	}
}

func TestReachable(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:8081": "127.0.0.1:8081", ":8081": "127.0.0.1:8081", "0.0.0.0:1": "127.0.0.1:1", "[::]:2": "127.0.0.1:2", "gw.example:3": "gw.example:3",
	} {
		if got := reachable(listen); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}

func TestExplain(t *testing.T) {
	t.Chdir(t.TempDir())
	g := newGateway(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	err := g.db.Write(t.Context(), func(tx *store.Tx) error {
		return g.journal.Reject(tx, journal.Record{RequestID: "req_1", Customer: "cus_1", Key: "key_1", Surface: journal.SurfaceChat, PublicModel: "m",
			Outcome: journal.OutcomeRejected, StartedAt: now, FinishedAt: now, Error: &journal.Error{Code: "insufficient_balance", Type: "insufficient_quota"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.must(t, "explain", "req_1"); !strings.HasPrefix(got, "Refused before the first attempt (insufficient_balance); the customer paid nothing.\n") {
		t.Errorf("explain: %s", got)
	}
	var record journal.Record
	if err := json.Unmarshal([]byte(g.must(t, "explain", "req_1", "--json")), &record); err != nil || record.RequestID != "req_1" {
		t.Errorf("explain --json: %+v, %v", record, err)
	}
	g.cli(t, "explain", "req_none").oneLine(t, exitFailed, "no request req_none is on record")
	g.cli(t, "explain", "--dry-run", "m").oneLine(t, exitFailed, "No such channel, credential or public model")
}

func TestSim(t *testing.T) {
	ready, stop := background(t, "sim", "--listen", "127.0.0.1:0")
	url := find(t, `http://[0-9.:]+`, ready)
	res, err := http.Get(url + "/sim/calls")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 200 {
		t.Errorf("/sim/calls: %d", res.StatusCode)
	}
	if code := stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	t.Chdir(t.TempDir())
	write(t, "bad.yaml", "m: [[{jump: high}]]\n")
	cli(t, nil, "sim", "-s", "bad.yaml").oneLine(t, exitFailed, "bad.yaml is not valid")
	cli(t, nil, "sim", "-s", "none.yaml").oneLine(t, exitFailed, "cannot read the script")
}

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
	"testing"
	"time"

	"rubicon/internal/books/account"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/config"
	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
	"rubicon/internal/wire/ident"
)

const token = "a-token-for-tests"

// apiTest is the API over a real store, with doubles for health and alerts.
type apiTest struct {
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

// The suite runs on every database that the store supports.
func TestMain(m *testing.M) { storetest.Main(m) }

func newBench(t *testing.T) *apiTest {
	t.Helper()
	db := storetest.Open(t)
	ids := ident.New(rand.Reader, time.Now)
	b := &apiTest{t: t, db: db, log: &bytes.Buffer{}, channels: &fakeChannels{}, alerts: &fakeAlerts{},
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
func (b *apiTest) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
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
func get[T any](b *apiTest, status int, method, path, body string, headers ...string) T {
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

func (b *apiTest) customer(name string) string {
	b.t.Helper()
	return get[account.Customer](b, 201, "POST", "/admin/v1/customers", fmt.Sprintf(`{"name":%q}`, name)).ID
}

// failure checks the envelope of a refusal.
func (b *apiTest) failure(w *httptest.ResponseRecorder, status int, code, param string) {
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
type fakeChannels struct{ override []Override }

func (f *fakeChannels) Channels(context.Context) ([]Channel, error) {
	return []Channel{{Channel: "a", PublicModel: "m", State: "closed", Weight: 100, EffectiveWeight: 12.5}}, nil
}

func (f *fakeChannels) Override(_ context.Context, o Override) error {
	if o.Channel != "a" || o.Credential != "" && o.Credential != "k" || o.PublicModel != "" && o.PublicModel != "m" {
		return fmt.Errorf("overriding %s: %w", o.Channel, ErrUnknown)
	}
	f.override = append(f.override, o)
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

package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/ident"
)

// said is a log that handlers write to while a test reads it.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// faulty is the handler with two paths that panic.
func faulty(t *testing.T) (*httptest.Server, *said) {
	t.Helper()
	log, cfg := &said{}, config.Default()
	h := New(Deps{Config: func() *config.Config { return &cfg }, IDs: ident.New(strings.NewReader(strings.Repeat("r", 1<<10)), time.Now),
		Log: slog.New(slog.NewTextHandler(log, nil)), Ready: func(context.Context) *fault.Error { panic("before") }}, nil)
	h.(*api).mux.HandleFunc("GET /late", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half of it")
		_ = http.NewResponseController(w).Flush()
		panic("after")
	})
	h.(*api).mux.HandleFunc("GET /abort", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	return srv, log
}

// A fault of the program is an internal_error in the envelope, and the operator
// is told.
func TestAPanicIsAnswered(t *testing.T) {
	srv, log := faulty(t)
	resp, err := srv.Client().Get(srv.URL + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	id := resp.Header.Get("X-Request-Id")
	if err != nil || resp.StatusCode != 500 || id == "" || !strings.Contains(string(body), `"internal_error"`) || !strings.Contains(string(body), id) {
		t.Errorf("%d, %q, %s, %v", resp.StatusCode, id, body, err)
	}
	for _, want := range []string{"level=ERROR", "panic=before", id, "guard_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not in the log: %s", want, log)
		}
	}
}

// What began is cut off: it must not look whole, nor end in something else.
func TestAPanicCutsWhatBegan(t *testing.T) {
	srv, log := faulty(t)
	resp, err := srv.Client().Get(srv.URL + "/late")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err == nil || string(body) != "half of it" {
		t.Errorf("%q, %v", body, err)
	}
	if !strings.Contains(log.String(), "panic=after") {
		t.Errorf("log: %s", log)
	}
}

// A stream that is aborted on purpose is no fault.
func TestAnAbortIsNoFault(t *testing.T) {
	srv, log := faulty(t)
	if resp, err := srv.Client().Get(srv.URL + "/abort"); err == nil {
		resp.Body.Close()
		t.Errorf("answered %d", resp.StatusCode)
	}
	if log.String() != "" {
		t.Errorf("log: %s", log)
	}
}

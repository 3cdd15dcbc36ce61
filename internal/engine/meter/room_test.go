package meter_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"rubicon/internal/books/journal"
	"rubicon/internal/engine/meter"
	"rubicon/internal/store/spool"
)

// refusedRecord is one of a flood, as large as records of refused requests get.
func refusedRecord() journal.Record {
	return journal.Record{RequestID: "req_refused", Customer: customer, PublicModel: strings.Repeat("m", 2000),
		Error: &journal.Error{Code: "store_unavailable", Type: "server_error"}}
}

// TestAFloodOfRefusals: however many requests are refused while the database is
// away, the ends of those that ran find room; what does not is counted, and
// said once.
func TestAFloodOfRefusals(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *spool.Spool{
		"memory": func(*testing.T) *spool.Spool { return spool.Memory() },
		"file": func(t *testing.T) *spool.Spool {
			s, err := spool.Create(t.TempDir(), "test", spool.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			f.credit(usd)
			q := make(t)
			var said bytes.Buffer
			f.Queue(q, slog.New(slog.NewTextHandler(&said, nil)), nil)
			ids := []string{"req_a", "req_b", "req_c"}
			for _, id := range ids {
				f.mustBegin(id)
			}
			if err := f.db.Close(); err != nil {
				t.Fatal(err)
			}
			dropped := 0
			for range 6000 {
				switch err := f.Reject(t.Context(), refusedRecord()); {
				case errors.Is(err, meter.ErrNotDurable):
					dropped++
				case err != nil:
					t.Fatal(err)
				}
			}
			if dropped == 0 || int64(dropped) != f.Unrecorded() {
				t.Errorf("%d dropped, %d counted", dropped, f.Unrecorded())
			}
			if n := strings.Count(said.String(), "find no room"); n != 1 {
				t.Errorf("said %d times", n)
			}
			before, _ := q.Waiting()
			for _, id := range ids {
				if err := f.Close(t.Context(), answered(t, id)); err != nil {
					t.Errorf("the end of %s: %v", id, err)
				}
			}
			if n, _ := q.Waiting(); n != before+len(ids) {
				t.Errorf("%d wait, want %d", n, before+len(ids))
			}
		})
	}
}

// TestAnEndThatFindsNoRoom is an error, and nothing of it is written later but
// what was kept as the client saw it.
func TestAnEndThatFindsNoRoom(t *testing.T) {
	f := open(t)
	f.credit(usd)
	q := spool.Memory()
	f.Queue(q, slog.New(slog.DiscardHandler), nil)
	for q.Append([]byte("{}")) == nil { // until it is full
	}
	if err := f.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(t.Context(), answered(t, "req_1")); !errors.Is(err, meter.ErrNotDurable) {
		t.Errorf("got %v", err)
	}
	before, _ := q.Waiting()
	f.Keep(answered(t, "req_1")) // there is no room for this either
	if n, _ := q.Waiting(); n != before {
		t.Errorf("%d wait, want %d", n, before)
	}
	if err := q.Process(func(e [][]byte) (int, error) { return len(e), nil }); err != nil {
		t.Fatal(err)
	}
	f.Keep(answered(t, "req_1"))
	if n, _ := q.Waiting(); n != 1 {
		t.Errorf("%d wait, want 1", n)
	}
}

package turn

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"rubicon/internal/books/journal"
	"rubicon/internal/store/spool"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

// ends is a sink that notes how the request ended.
type ends struct {
	countingSink
	good  int
	fails []ShownFailure
}

func (e *ends) Event(ev protocol.Event) error {
	if ev.Class == protocol.Terminal {
		e.good++
	}
	return e.countingSink.Event(ev)
}

func (e *ends) Fail(x ShownFailure) error {
	e.fails = append(e.fails, x)
	return nil
}

// full is a queue without room.
func full(t *testing.T) *spool.Spool {
	t.Helper()
	q := spool.Memory()
	for {
		if err := q.Append([]byte("{}")); errors.Is(err, spool.ErrFull) {
			return q
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnEndThatIsNotDurable: where the end of a request can be neither written
// nor queued, the client is shown no good end, on no surface, whether it has
// output already or not.
func TestAnEndThatIsNotDurable(t *testing.T) {
	for surface := range protocolSamples {
		for _, delivered := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/delivered=%t", surface, delivered), func(t *testing.T) {
				events := 0
				if delivered {
					events = 5
				}
				r := newRelay(t, surface, events, true)
				q := full(t)
				r.engine.Bookkeeper.Queue(q, slog.New(slog.DiscardHandler), nil)
				sink := &ends{countingSink: countingSink{at: map[int]func(){}}}
				r.dialed = func() { _ = r.db.Close() }       // after the hold
				output := delivered || surface == "messages" // whose message_delta goes out before its end
				r.outcome = journal.OutcomeFailed
				if output {
					r.outcome = journal.OutcomePartial
				}
				r.run(t, sink)
				if sink.good != 0 || len(sink.fails) != 1 {
					t.Fatalf("%d good ends, %d failures", sink.good, len(sink.fails))
				}
				f := sink.fails[0].Error
				if f.Code != fault.StoreUnavailable || f.AfterOutput != output {
					t.Errorf("told %q, after output %t", f.Code, f.AfterOutput)
				}
			})
		}
	}
}

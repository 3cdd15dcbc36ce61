package turn

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/engine/replay"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

// paper is a sink that writes down what it was given.
type paper struct{ said []string }

func (p *paper) Begin(string, *fault.Error)    { p.said = append(p.said, "begin") }
func (p *paper) Event(ev protocol.Event) error { p.said = append(p.said, ev.Type); return nil }
func (p *paper) Flush() error                  { return nil }
func (p *paper) KeepAlive() error              { return nil }
func (p *paper) Answer(*upstream.Answer) error { return nil }
func (p *paper) Fail(Ending) error             { p.said = append(p.said, "fail"); return nil }
func (p *paper) ErrorAtOnce() bool             { return true }

// TestDeadlineDuringTheDecision: between the moment at which the decision sees
// that nothing was handed over and its consequence the deadline hands nothing
// over; from then on it has passed.
func TestDeadlineDuringTheDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{}
		g := newGate(p, func(error, bool) bool { return false })
		g.hold, g.limit = 10*time.Second, 1<<20
		first := protocol.Event{Class: protocol.Lifecycle, Type: "first", Raw: []byte("x")}
		if err := g.take(first); err != nil {
			t.Fatal(err)
		}
		g.freeze()
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if handed, _ := g.state(); handed != replay.Nothing || len(p.said) > 0 {
			t.Fatalf("handed %v: %v", handed, p.said)
		}
		g.discard()
		if err := g.take(protocol.Event{Class: protocol.Lifecycle, Type: "second", Raw: []byte("y")}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.said, " "); got != "begin second" {
			t.Errorf("the client saw %q", got)
		}
		g.close()
	})
}

// TestDeadlineAtATie: the first-output deadline of an attempt wins, but the hold
// is over for the attempt that takes its place.
func TestDeadlineAtATie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{}
		g := newGate(p, func(error, bool) bool { return false })
		g.hold, g.limit = 10*time.Second, 1<<20
		g.begin(time.Now(), config.Timers{FirstOutput: 10 * time.Second})
		lifecycle := func(name string) {
			if err := g.take(protocol.Event{Class: protocol.Lifecycle, Type: name, Raw: []byte("x")}); err != nil {
				t.Fatal(err)
			}
		}
		lifecycle("first")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		lifecycle("still the first attempt's")
		if handed, _ := g.state(); handed != replay.Nothing {
			t.Fatalf("handed %v: %v", handed, p.said)
		}
		g.discard()
		g.begin(time.Now(), config.Timers{FirstOutput: 10 * time.Second})
		lifecycle("second")
		if got := strings.Join(p.said, " "); got != "begin second" {
			t.Errorf("the client saw %q", got)
		}
		g.close()
	})
}

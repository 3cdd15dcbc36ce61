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

// recordingSink is a sink that writes down what it was given.
type recordingSink struct{ given []string }

func (p *recordingSink) Begin(string, *fault.Error) { p.given = append(p.given, "begin") }
func (p *recordingSink) Event(ev protocol.Event) error {
	p.given = append(p.given, ev.Type)
	return nil
}
func (p *recordingSink) Flush() error                  { return nil }
func (p *recordingSink) KeepAlive() error              { return nil }
func (p *recordingSink) Answer(*upstream.Answer) error { return nil }
func (p *recordingSink) Fail(ShownFailure) error       { p.given = append(p.given, "fail"); return nil }
func (p *recordingSink) ErrorAtOnce() bool             { return true }

// TestDeadlineDuringTheDecision: between the moment at which the decision sees
// that nothing was handed over and its consequence the deadline hands nothing
// over; from then on it has passed.
func TestDeadlineDuringTheDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &recordingSink{}
		g := newGate(p, func(error, bool) bool { return false })
		g.configure(gateRules{hold: 10 * time.Second, limit: 1 << 20}, false)
		first := protocol.Event{Class: protocol.Lifecycle, Type: "first", Raw: []byte("x")}
		if err := g.add(first); err != nil {
			t.Fatal(err)
		}
		g.beginDecision()
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if handed, _ := g.state(); handed != replay.NothingHanded || len(p.given) > 0 {
			t.Fatalf("handed %v: %v", handed, p.given)
		}
		g.discard()
		if err := g.add(protocol.Event{Class: protocol.Lifecycle, Type: "second", Raw: []byte("y")}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.given, " "); got != "begin second" {
			t.Errorf("the client saw %q", got)
		}
		g.close()
	})
}

// TestDeadlineAtATie: the first-output deadline of an attempt wins, but the hold
// is over for the attempt that takes its place.
func TestDeadlineAtATie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &recordingSink{}
		g := newGate(p, func(error, bool) bool { return false })
		g.configure(gateRules{hold: 10 * time.Second, limit: 1 << 20}, false)
		g.begin(time.Now(), config.Timers{FirstOutput: 10 * time.Second})
		lifecycle := func(name string) {
			if err := g.add(protocol.Event{Class: protocol.Lifecycle, Type: name, Raw: []byte("x")}); err != nil {
				t.Fatal(err)
			}
		}
		lifecycle("first")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		lifecycle("still the first attempt's")
		if handed, _ := g.state(); handed != replay.NothingHanded {
			t.Fatalf("handed %v: %v", handed, p.given)
		}
		g.discard()
		g.begin(time.Now(), config.Timers{FirstOutput: 10 * time.Second})
		lifecycle("second")
		if got := strings.Join(p.given, " "); got != "begin second" {
			t.Errorf("the client saw %q", got)
		}
		g.close()
	})
}

package wsapi_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
)

// leaving is how a client leaves.
var leaving = map[string]func(t *testing.T, c net.Conn){
	"FIN": func(_ *testing.T, c net.Conn) {
		_ = c.Close()
	},
	"reset": func(t *testing.T, c net.Conn) {
		if err := c.(interface{ SetLinger(int) error }).SetLinger(0); err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	},
	"close frame": func(_ *testing.T, c net.Conn) {
		_, _ = c.Write(append(frameHead(opClose, true, 2), 0x03, 0xE8))
	},
	"half a frame": func(_ *testing.T, c net.Conn) {
		_, _ = c.Write(append(frameHead(opText, true, 1000), `{"type":`...))
		_ = c.Close()
	},
}

// TestAClientThatVanishes cancels its turn at once, whatever the moment: the
// upstream call ends within a second and the hold is resolved.
func TestAClientThatVanishes(t *testing.T) {
	opened := []sim.Step{sim.Created(), sim.Item("message"), sim.Part(), sim.Text("Hel")}
	play := func(steps ...sim.Step) sim.Script { return sim.Play(append(steps, sim.Hang())...) }
	for name, tt := range map[string]struct {
		a, b    sim.Script
		after   time.Duration // when it leaves
		read    string        // once it has read this
		charged bool
		calls   int
	}{
		"before the status":         {a: sim.Play(sim.Hang()), after: time.Second, calls: 1},
		"after the status":          {a: play(sim.Reply(200)), after: time.Second, calls: 1},
		"while events are held":     {a: play(sim.Created(), sim.InProgress()), after: time.Second, calls: 1},
		"after the hold's deadline": {a: play(sim.Created()), read: "response.created", calls: 1},
		"in output":                 {a: play(opened...), read: "Hel", charged: true, calls: 1},
		"behind an error":           {a: play(append(opened, sim.Error("server_error"))...), after: 500 * time.Millisecond, charged: true, calls: 1},
		"in the second attempt":     {a: sim.Play(sim.Created(), sim.Failed("server_error")), b: play(sim.Created()), after: time.Second, calls: 2},
		"in its output":             {a: sim.Play(sim.Created(), sim.Failed("server_error")), b: play(opened...), read: "Hel", charged: true, calls: 2},
	} {
		for how, leave := range leaving {
			t.Run(name+", "+how, func(t *testing.T) {
				if tt.b.Calls == nil {
					tt.b = hello()
				}
				inBubble(t, "", tt.a, tt.b, func(t *testing.T, x *virtualInstallation) {
					c := x.raw()
					_, _ = c.Write(textFrame(`{"type":"response.create","model":"m","input":"one"}`))
					_, _ = c.Write(textFrame(`{"type":"response.create","model":"m","input":"waits"}`))
					for seen := ""; tt.read != "" && !strings.Contains(seen, tt.read); {
						_, payload, err := readRaw(c, 0)
						if err != nil {
							t.Fatal(err)
						}
						seen += string(payload)
					}
					time.Sleep(tt.after)
					start := time.Now()
					leave(t, c)
					for len(x.a.Calls(""))+len(x.b.Calls("")) < tt.calls {
						time.Sleep(time.Millisecond)
					}
					for _, p := range []*sim.Provider{x.a, x.b} {
						if _, err := p.WaitDone(t.Context(), "", len(p.Calls(""))); err != nil {
							t.Fatal(err)
						}
					}
					if d := since(start); d > time.Second {
						t.Errorf("upstream was left after %v", d)
					}
					records := x.records()
					if len(records) != 1 { // the one that waited never began
						t.Fatalf("%d records", len(records))
					}
					r := records[0]
					if r.Outcome != journal.OutcomeCancelled || len(r.Attempts) != tt.calls || r.Charge > 0 != tt.charged {
						t.Errorf("outcome %s, %d attempts, charge %s", r.Outcome, len(r.Attempts), r.Charge)
					}
					x.settled()
					_ = c.Close()
				})
			})
		}
	}
}

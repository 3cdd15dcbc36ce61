package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"rubicon/internal/books/journal"
	"rubicon/test/stand"
)

// only waits for the one record there is.
func only(t *testing.T, s *stand.Gateway) (r journal.Record) {
	t.Helper()
	must(t, 5*time.Second, "a final record", func() bool {
		for _, r = range s.Records() {
		}
		return r.Outcome != "" && r.Outcome != journal.OutcomeRunning
	})
	return r
}

func wantDrained(t *testing.T, s *stand.Gateway, r journal.Record) {
	t.Helper()
	if r.Outcome != journal.OutcomeCancelled || r.Error != nil || !r.AfterOutput {
		t.Errorf("outcome %s, error %v, after output %t", r.Outcome, r.Error, r.AfterOutput)
	}
	if r.Usage.Source != "reported" || r.Usage.Input != 10 || r.Usage.Output != 5 || r.Charge.String() != "0.000350000" {
		t.Errorf("charged %s for %+v", r.Charge, r.Usage)
	}
	if r.Delivered.Events != 1 || r.Delivered.Bytes != int64(len("Hello")) {
		t.Errorf("delivered %+v", r.Delivered)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "drain") {
		t.Errorf("notes %q", r.Notes)
	}
	if kinds := strings.Join(s.Kinds(r.RequestID), " "); kinds != "hold settle cost" {
		t.Errorf("transactions %s", kinds)
	}
}

// on_disconnect: drain reads a stream on for its usage, once its client was
// given output and left.
func TestDrain(t *testing.T) {
	t.Parallel()
	for _, a := range apis {
		t.Run(a.protocol, func(t *testing.T) {
			t.Parallel()
			left := make(chan struct{})
			up := &stand.Raw{Handle: func(c *stand.Exchange) bool {
				c.Stream()
				_ = c.Chunk(events[a.protocol].opening + events[a.protocol].output)
				<-left
				for range 3 { // output that nobody gets
					_ = c.Chunk(events[a.protocol].output)
				}
				_ = c.Chunk(events[a.protocol].ending)
				return c.End()
			}}
			s := stand.Start(t, stand.Options{Config: peersOf("on_disconnect: drain", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
			conn := dial(t, s, a.path, a.stream(a.protocol[:1]))
			readUntil(t, conn, "Hello")
			conn.Close()
			time.AfterFunc(100*time.Millisecond, func() { close(left) }) // the gateway learns of it meanwhile
			wantDrained(t, s, only(t, s))
			wantGood(t, s.Post(s.Default, a.path, a.stream(a.protocol[:1])))
		})
	}
}

func TestDrainWebSocket(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	up := &stand.Raw{Handle: func(c *stand.Exchange) bool {
		c.Stream()
		_ = c.Chunk(events["responses"].opening + events["responses"].output)
		<-left
		_ = c.Chunk(events["responses"].ending)
		return c.End()
	}}
	s := stand.Start(t, stand.Options{Config: peersOf("on_disconnect: drain", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	ws, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/v1/responses",
		&websocket.DialOptions{HTTPHeader: map[string][]string{"Authorization": {"Bearer " + s.Default.Key}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"response.create","model":"r","store":false,"input":"Hi"}`)); err != nil {
		t.Fatal(err)
	}
	for {
		_, data, err := ws.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "Hello") {
			break
		}
	}
	ws.CloseNow()
	time.AfterFunc(100*time.Millisecond, func() { close(left) })
	wantDrained(t, s, only(t, s))
}

// Where the client pays nothing there is nothing to learn: upstream is
// cancelled at once, as without the option.
func TestDrainNothing(t *testing.T) {
	t.Parallel()
	for _, ph := range phases {
		if ph.paid {
			continue
		}
		ph.config += "\non_disconnect: drain"
		t.Run(ph.name, func(t *testing.T) {
			t.Parallel()
			clientGone(t, apis[0], ph)
		})
	}
}

// A stream that says nothing of its usage is drained in vain: the estimate
// counts what the client was given.
func TestDrainUnreported(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	up := &stand.Raw{Handle: func(c *stand.Exchange) bool {
		c.Stream()
		_ = c.Chunk(events["responses"].opening + events["responses"].output)
		<-left
		_ = c.Chunk(strings.Repeat(events["responses"].output, 50))
		return c.Cut(false)
	}}
	s := stand.Start(t, stand.Options{Config: peersOf("on_disconnect: drain", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	conn := dial(t, s, apis[0].path, apis[0].stream("r"))
	readUntil(t, conn, "Hello")
	conn.Close()
	time.AfterFunc(100*time.Millisecond, func() { close(left) })
	r := only(t, s)
	if r.Outcome != journal.OutcomeCancelled || r.Usage.Source != "estimated" || r.Usage.Output != 2 || r.Delivered.Events != 1 {
		t.Errorf("%s, %+v, delivered %+v", r.Outcome, r.Usage, r.Delivered)
	}
}

// What is read for nobody is bounded in bytes, and ends with the gateway.
func TestDrainBounds(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{"bytes": "\nlimits: {event: 64KiB}", "shutdown": "\ntimers: {shutdown_grace: 100ms}"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there, gone := make(chan struct{}), make(chan bool, 1)
			up := &stand.Raw{Handle: func(c *stand.Exchange) bool {
				c.Stream()
				_ = c.Chunk(events["responses"].opening + events["responses"].output)
				<-there
				if name == "bytes" {
					for c.Chunk(strings.Repeat(events["responses"].output, 50)) == nil {
					}
				}
				gone <- c.Gone(10 * time.Second)
				return false
			}}
			s := stand.Start(t, stand.Options{Config: peersOf("on_disconnect: drain"+config, "alpha"), Peers: map[string]stand.Peer{"alpha": up}, Open: name == "shutdown"})
			conn := dial(t, s, apis[0].path, apis[0].stream("r"))
			readUntil(t, conn, "Hello")
			conn.Close()
			time.Sleep(100 * time.Millisecond)
			close(there)
			if name == "shutdown" {
				s.Shutdown()
			}
			if !<-gone {
				t.Fatal("it is read on for ever")
			}
			if name == "bytes" {
				if r := only(t, s); r.Outcome != journal.OutcomeCancelled || r.Usage.Source != "estimated" || r.Usage.Output != 2 {
					t.Errorf("%s, %+v", r.Outcome, r.Usage)
				}
			}
		})
	}
}

// With an Idempotency-Key a drained request is as good as one that was listened
// to: the repeat gets the whole answer.
func TestDrainIdempotent(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	up := &stand.Raw{Handle: func(c *stand.Exchange) bool {
		c.Stream()
		_ = c.Chunk(events["responses"].opening + events["responses"].output)
		<-left
		_ = c.Chunk(events["responses"].ending)
		return c.End()
	}}
	s := stand.Start(t, stand.Options{Config: peersOf("on_disconnect: drain", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	body := apis[0].stream("r")
	conn := dialWith(t, s, apis[0].path, body, "Idempotency-Key: k\r\n")
	readUntil(t, conn, "Hello")
	conn.Close()
	time.AfterFunc(100*time.Millisecond, func() { close(left) })
	r := only(t, s)
	if r.Outcome != journal.OutcomeCompleted || r.Charge.String() != "0.000350000" {
		t.Errorf("%s, %s", r.Outcome, r.Charge)
	}
	again := once(s, s.Default, apis[0], body, "k")
	if again.ID() != r.RequestID || !strings.Contains(again.Body, "response.completed") || up.Calls.Load() != 1 {
		t.Errorf("the repeat: %v %q", again.Header, again.Body)
	}
}

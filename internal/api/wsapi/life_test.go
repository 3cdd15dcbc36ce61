package wsapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
)

// talk is an answer with a word a second for a minute.
func talk() sim.Script {
	steps := []sim.Step{sim.Created(), sim.Item("message"), sim.Part()}
	for range 60 {
		steps = append(steps, sim.Text("word "), sim.Wait(time.Second))
	}
	return sim.Play(append(steps, sim.Completed(sim.Tokens(10, 0, 60)))...)
}

func TestLifetimeOfAnIdleConnection(t *testing.T) {
	inBubble(t, "", hello(), hello(), func(t *testing.T, x *virtualInstallation) {
		start := time.Now()
		c := x.dial()
		c.create(`"input":"hi"`)
		c.good()
		f, err := c.wait()
		if err != nil || f.Type != "error" || f.Error.Code != "websocket_connection_limit_reached" || f.Status != 400 {
			t.Fatalf("got %s, %v", f.raw, err)
		}
		if _, err := c.wait(); websocket.CloseStatus(err) != websocket.StatusGoingAway {
			t.Errorf("closed with %v", err)
		}
		if d := since(start); d < time.Hour || d > time.Hour+time.Second {
			t.Errorf("after %v", d)
		}
	})
}

// wait reads one frame, however long it takes.
func (c *client) wait() (frame, error) {
	typ, b, err := c.ws.Read(c.t.Context())
	if err != nil {
		return frame{}, err
	}
	if typ != websocket.MessageText {
		c.t.Errorf("a frame of type %v", typ)
	}
	return parse(c.t, b), nil
}

func TestLifetimeEndsTheRunningTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		a       sim.Script
		outcome journal.Outcome
		output  bool
	}{
		"after output":             {talk(), journal.OutcomePartial, true},
		"while events are held":    {sim.Play(sim.Created(), sim.Hang()), journal.OutcomeFailed, false},
		"before the status":        {sim.Play(sim.Hang()), journal.OutcomeFailed, false},
		"silent after one output":  {sim.Play(sim.Created(), sim.Item("message"), sim.Part(), sim.Text("x"), sim.Hang()), journal.OutcomePartial, true},
		"in the second attempt":    {sim.Calls([]sim.Step{sim.Created(), sim.Failed("server_error")}), journal.OutcomeFailed, false},
		"after its last lifecycle": {sim.Play(sim.Created(), sim.InProgress(), sim.Hang()), journal.OutcomeFailed, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, "ws: {lifetime: 5s}\n", tt.a, sim.Play(sim.Created(), sim.Hang()), func(t *testing.T, x *virtualInstallation) {
				start := time.Now()
				c := x.dial()
				c.create(`"input":"hi"`)
				c.create(`"input":"waits"`)
				all := c.turn()
				last := all[len(all)-1]
				if last.Type != "error" || last.Error.Code != "websocket_connection_limit_reached" || last.Status != 400 {
					t.Errorf("ended with %s", last.raw)
				}
				if d := since(start); d < 5*time.Second || d > 6*time.Second {
					t.Errorf("after %v", d)
				}
				// The one that waited is told by itself; nothing else comes.
				waited := c.refused("websocket_connection_limit_reached", 400)
				c.closed(websocket.StatusGoingAway)
				records := x.records()
				if len(records) != 2 {
					t.Fatalf("%d records", len(records))
				}
				for _, r := range records {
					want := tt.outcome
					if r.RequestID == waited.Error.RequestID {
						want = journal.OutcomeRejected
					}
					if r.Outcome != want || r.Error == nil || r.Error.Code != "websocket_connection_limit_reached" {
						t.Errorf("record %+v, error %+v", r.Outcome, r.Error)
					}
					if want == tt.outcome && (r.AfterOutput != tt.output || r.Charge > 0 != tt.output) {
						t.Errorf("after output %v, charge %s", r.AfterOutput, r.Charge)
					}
				}
				x.settled()
				for _, call := range append(x.a.Calls(""), x.b.Calls("")...) {
					if call.Done.IsZero() {
						t.Error("an upstream call goes on")
					}
				}
			})
		})
	}
}

func TestShutdownOfIdleConnections(t *testing.T) {
	inBubble(t, "", hello(), hello(), func(t *testing.T, x *virtualInstallation) {
		c := x.dial()
		c.create(`"input":"hi"`)
		c.good()
		start := time.Now()
		closed := make(chan error, 1)
		go func() {
			_, err := c.wait()
			closed <- err
		}()
		x.shutdown()
		if err := <-closed; websocket.CloseStatus(err) != websocket.StatusServiceRestart {
			t.Errorf("closed with %v", err)
		}
		if d := since(start); d > time.Second {
			t.Errorf("after %v", d)
		}
	})
}

func TestShutdownLetsTheTurnEnd(t *testing.T) {
	a := sim.Play(sim.Created(), sim.Item("message"), sim.Part(), sim.Text("x"), sim.Wait(10*time.Second), sim.Completed(sim.Tokens(10, 0, 5)))
	inBubble(t, "", a, hello(), func(t *testing.T, x *virtualInstallation) {
		c := x.dial()
		c.create(`"input":"runs"`)
		c.create(`"input":"waits"`)
		for c.next().Type != "response.output_text.delta" {
		}
		start := time.Now()
		down := make(chan struct{})
		go func() {
			defer close(down)
			x.shutdown()
		}()
		time.Sleep(time.Second)
		c.create(`"input":"late"`)
		c.refused("shutting_down", 503)
		if last := c.good(); last.Response.Status != "completed" {
			t.Errorf("got %s", last.raw)
		}
		c.refused("shutting_down", 503)
		c.closed(websocket.StatusServiceRestart)
		<-down
		if d := since(start); d < 10*time.Second || d > 11*time.Second {
			t.Errorf("after %v", d)
		}
	})
}

func TestShutdownAfterTheGraceTime(t *testing.T) {
	inBubble(t, "timers: {shutdown_grace: 3s}\n", talk(), hello(), func(t *testing.T, x *virtualInstallation) {
		c := x.dial()
		c.create(`"input":"runs"`)
		for c.next().Type != "response.output_text.delta" {
		}
		start := time.Now()
		down := make(chan struct{})
		go func() {
			defer close(down)
			x.shutdown()
		}()
		all := c.turn()
		last := all[len(all)-1]
		if last.Type != "error" || last.Error.Code != "shutting_down" || last.Status != 503 {
			t.Errorf("ended with %s", last.raw)
		}
		c.closed(websocket.StatusServiceRestart)
		<-down
		if d := since(start); d < 3*time.Second || d > 4*time.Second {
			t.Errorf("after %v", d)
		}
	})
}

func TestPings(t *testing.T) {
	inBubble(t, "", hello(), hello(), func(t *testing.T, x *virtualInstallation) {
		c := x.raw()
		start := time.Now()
		var pings []time.Duration
		for {
			op, payload, err := readRaw(c, 0)
			if err != nil {
				t.Fatalf("after %v: %v", pings, err)
			}
			if op == opClose {
				if closeCode(payload) != 1011 {
					t.Errorf("closed with %d", closeCode(payload))
				}
				break
			}
			pings = append(pings, since(start))
			if op == opPing && len(pings) <= 3 { // three are answered
				_, _ = c.Write(append(frameHead(opPong, true, len(payload)), payload...))
			}
		}
		want := []time.Duration{30 * time.Second, 60 * time.Second, 90 * time.Second, 120 * time.Second, 150 * time.Second}
		if len(pings) != len(want) {
			t.Fatalf("pings at %v", pings)
		}
		for i := range want {
			if pings[i] != want[i] {
				t.Errorf("pings at %v", pings)
			}
		}
		if d := since(start); d != 180*time.Second {
			t.Errorf("closed after %v", d)
		}
		c.Close()
	})
}

// TestUnansweredPingsEndTheTurn: a client that is gone without a word.
func TestUnansweredPingsEndTheTurn(t *testing.T) {
	inBubble(t, "ws: {ping: 2s}\n", sim.Play(sim.Created(), sim.Hang()), hello(), func(t *testing.T, x *virtualInstallation) {
		c := x.raw()
		if _, err := c.Write(textFrame(`{"type":"response.create","model":"m"}`)); err != nil {
			t.Fatal(err)
		}
		calls, err := x.a.WaitDone(t.Context(), "", 1)
		if err != nil || calls[0].CallerLeft.IsZero() {
			t.Fatalf("%v %+v", err, calls)
		}
		if r := x.records(); len(r) != 1 || r[0].Outcome != journal.OutcomeCancelled {
			t.Errorf("records %+v", r)
		}
		x.settled()
		c.Close()
	})
}

// TestALargeUploadIsNoSilence: a client cannot answer pings in the middle of a
// frame.
func TestALargeUploadIsNoSilence(t *testing.T) {
	inBubble(t, "ws: {ping: 2s}\n", hello(), hello(), func(t *testing.T, x *virtualInstallation) {
		c := x.raw()
		go func() {
			for { // what comes is read and pings are not answered
				if _, _, err := readRaw(c, 0); err != nil {
					return
				}
			}
		}()
		text := `{"type":"response.create","model":"m","input":"` + strings.Repeat("x", 100<<10) + `"}`
		whole := textFrame(text)
		for len(whole) > 0 {
			n := min(len(whole), 4<<10)
			if _, err := c.Write(whole[:n]); err != nil {
				t.Fatalf("cut while uploading: %v", err)
			}
			whole = whole[n:]
			time.Sleep(time.Second)
		}
		if _, err := x.a.WaitDone(t.Context(), "", 1); err != nil {
			t.Fatal(err)
		}
		c.Close()
	})
}

// TestADripIsSilence: one byte now and then keeps nothing open.
func TestADripIsSilence(t *testing.T) {
	inBubble(t, "ws: {ping: 2s}\n", hello(), hello(), func(t *testing.T, x *virtualInstallation) {
		c := x.raw()
		closed := make(chan time.Time, 1)
		go func() {
			for {
				if op, _, err := readRaw(c, 0); err != nil || op == opClose {
					closed <- time.Now()
					return
				}
			}
		}()
		start := time.Now()
		_, _ = c.Write(frameHead(opText, true, 1<<20))
		for range 20 {
			if _, err := c.Write([]byte(" ")); err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		if d := (<-closed).Sub(start); d < 6*time.Second || d > 8*time.Second {
			t.Errorf("closed after %v", d)
		}
		c.Close()
	})
}

// TestKeepAliveIsAPing: in a silent turn that is committed.
func TestKeepAliveIsAPing(t *testing.T) {
	a := sim.Play(sim.Created(), sim.Item("message"), sim.Part(), sim.Text("x"), sim.Wait(20*time.Second), sim.Completed(nil))
	inBubble(t, "ws: {ping: 10m}\n", a, hello(), func(t *testing.T, x *virtualInstallation) {
		c := x.raw()
		_, _ = c.Write(textFrame(`{"type":"response.create","model":"m"}`))
		start := time.Now()
		for {
			op, payload, err := readRaw(c, 0)
			if err != nil {
				t.Fatal(err)
			}
			if op == opPing {
				if d := since(start); d < 15*time.Second || d > 16*time.Second {
					t.Errorf("a ping after %v", d)
				}
				break
			}
			if strings.Contains(string(payload), "response.completed") {
				t.Fatal("no ping in a silent turn")
			}
		}
		c.Close()
	})
}

// TestAClientThatTakesNothing is cut by the write timer, and little of the
// answer was read for it.
func TestAClientThatTakesNothing(t *testing.T) {
	steps := []sim.Step{sim.Created(), sim.Item("message"), sim.Part()}
	for range 200 {
		steps = append(steps, sim.Huge(64<<10))
	}
	inBubble(t, "timers: {write: 5s}\n", sim.Play(append(steps, sim.Completed(nil))...), hello(), func(t *testing.T, x *virtualInstallation) {
		c := x.raw()
		_, _ = c.Write(textFrame(`{"type":"response.create","model":"m"}`))
		start := time.Now()
		calls, err := x.a.WaitDone(t.Context(), "", 1)
		if err != nil {
			t.Fatal(err)
		}
		if d := since(start); d < 5*time.Second || d > 7*time.Second {
			t.Errorf("cut after %v", d)
		}
		if calls[0].Sent > 8<<20 {
			t.Errorf("%d bytes were read for it", calls[0].Sent)
		}
		if r := x.records(); len(r) != 1 || r[0].Outcome != journal.OutcomeCancelled {
			t.Errorf("records %+v", r)
		}
		x.settled()
		c.Close()
	})
}

// TestPatienceOfAModel: a model's own write timer holds for its turns, shorter
// than what was in force before.
func TestPatienceOfAModel(t *testing.T) {
	steps := []sim.Step{sim.Created(), sim.Item("message"), sim.Part()}
	for range 200 {
		steps = append(steps, sim.Huge(64<<10))
	}
	hasty := `  - name: hasty
    price: {input: "10", output: "50"}
    timers: {write: 5s}
    channels: [{channel: ch-a, upstream_model: up-a}]
timers: {write: 10m}
`
	inBubble(t, hasty, sim.Play(append(steps, sim.Completed(nil))...), hello(), func(t *testing.T, x *virtualInstallation) {
		c := x.raw()
		_, _ = c.Write(textFrame(`{"type":"response.cancel"}`))
		_, _ = c.Write(textFrame(`{"type":"response.create","model":"hasty"}`))
		start := time.Now()
		if _, err := x.a.WaitDone(t.Context(), "", 1); err != nil {
			t.Fatal(err)
		}
		if d := since(start); d < 5*time.Second || d > 7*time.Second {
			t.Errorf("cut after %v", d)
		}
		x.settled()
		c.Close()
	})
}

// TestASlowReaderIsNotCut: it takes something all the time, though a large
// event as a whole takes longer than the write timer. (No keep-alive: a timer
// that waits for the gate's lock stops a virtual clock.)
func TestASlowReaderIsNotCut(t *testing.T) {
	a := sim.Play(sim.Created(), sim.Item("message"), sim.Part(), sim.Huge(1<<20), sim.Completed(nil))
	inBubble(t, "timers: {write: 2s, keepalive: 0s}\nws: {ping: 3s}\n", a, hello(), func(t *testing.T, x *virtualInstallation) {
		c := x.raw()
		_, _ = c.Write(textFrame(`{"type":"response.create","model":"m"}`))
		start := time.Now()
		var got strings.Builder
		buf := make([]byte, 48<<10)
		pings := 0
		for !strings.Contains(got.String(), "response.completed") {
			n, err := c.Read(buf)
			got.Write(buf[:n])
			if err != nil {
				t.Fatalf("cut after %v and %d bytes: %v", since(start), got.Len(), err)
			}
			time.Sleep(time.Second)
			if pings++; pings%4 == 0 { // in the middle of the frame
				_, _ = c.Write(append(frameHead(opPing, true, 3), fmt.Sprintf("%03d", pings)...))
			}
		}
		if d := since(start); d < 10*time.Second {
			t.Fatalf("the test is too fast: %v", d)
		}
		if i := strings.Index(got.String(), "\x8a\x03"); i < 1<<20 {
			t.Errorf("a pong at byte %d", i)
		}
		c.Close()
	})
}

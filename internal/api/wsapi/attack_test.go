package wsapi_test

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
	"rubicon/test/stand"
)

func TestFramesUpToTheLimit(t *testing.T) {
	w := start(t, "", hello(), hello())
	c := w.dial()
	big := func(n int) string {
		head := `{"type":"response.create","model":"m","max_output_tokens":10,"input":"`
		return head + strings.Repeat("x", n-len(head)-2) + `"}`
	}
	c.send(big(16 << 20))
	c.good()
	if got := len(w.a.Calls("up-a")[0].Body); got < 16<<20-100 {
		t.Errorf("upstream got %d bytes", got)
	}
	_ = c.ws.Write(t.Context(), websocket.MessageText, []byte(big(17<<20)))
	c.closed(websocket.StatusMessageTooBig)
}

// TestLyingFrames end the connection and nothing else.
func TestLyingFrames(t *testing.T) {
	w := start(t, "ws: {message: 64KiB}", hello(), hello())
	for name, tt := range map[string]struct {
		send []byte
		code int // 0: cut without a close frame
	}{
		"17 MiB promised":       {append(frameHead(opText, true, 17<<20), make([]byte, 70<<10)...), 1009},
		"endless fragments":     {fragments(2000, 64), 1009},
		"reserved bits":         {[]byte{0xC1, 0x80, 0, 0, 0, 0}, 1002},
		"unknown opcode":        {[]byte{0x83, 0x80, 0, 0, 0, 0}, 1002},
		"continuation first":    {frameHead(opContinue, true, 0), 1002},
		"text inside text":      {append(append(frameHead(opText, false, 1), 'a'), textFrame("b")...), 1002},
		"long control frame":    {append(frameHead(opPing, true, 126), make([]byte, 126)...), 1002},
		"split control frame":   {frameHead(opPing, false, 0), 1002},
		"not masked":            {[]byte{0x81, 0x01, 'a'}, 0},
		"bad close payload":     {append(frameHead(opClose, true, 1), 0), 1002},
		"half a head, then FIN": {[]byte{0x81}, 0},
		"half a frame":          {append(frameHead(opText, true, 100), `{"type":`...), 0},
		"no frames at all":      {[]byte("GET / HTTP/1.1\r\n\r\n"), 1002},
	} {
		t.Run(name, func(t *testing.T) {
			c := rawDial(t, w.Gateway, w.Default)
			_, _ = c.Write(tt.send)
			if strings.HasPrefix(name, "half") {
				_ = c.CloseWrite()
			}
			for {
				op, payload, err := readRaw(c, patience)
				var timeout net.Error
				if errors.As(err, &timeout) && timeout.Timeout() {
					t.Fatal("the connection stays open")
				}
				if err != nil {
					if tt.code != 0 {
						t.Errorf("cut (%v) without a close frame", err)
					}
					return
				}
				if op == opClose {
					if closeCode(payload) != tt.code {
						t.Errorf("closed with %d %s", closeCode(payload), payload[2:])
					}
					return
				}
			}
		})
	}
	c := w.dial()
	c.create(`"input":"still here"`)
	c.good()
}

// fragments is one message in pieces that never ends.
func fragments(n, size int) []byte {
	out := append(frameHead(opText, false, size), make([]byte, size)...)
	for range n {
		out = append(append(out, frameHead(opContinue, false, size)...), make([]byte, size)...)
	}
	return out
}

// TestAFloodOfCreates: five are taken, every other one is refused by name, and
// the connection works afterwards.
func TestAFloodOfCreates(t *testing.T) {
	w := start(t, "", slow(), hello())
	c := w.dial()
	const n = 300
	go func() {
		for range n {
			_ = c.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"response.create","model":"m","input":"hi"}`))
		}
	}()
	var good, refused int
	for good+refused < n {
		switch f := c.next(); {
		case f.Type == "response.completed":
			good++
		case f.Error.Code == "response_already_active":
			refused++
		case f.Type == "error" || f.Type == "response.failed":
			t.Fatalf("got %s", f.raw)
		}
	}
	if calls := len(w.a.Calls("")); calls != good || good < 5 || refused == 0 {
		t.Errorf("%d good, %d refused, %d upstream calls", good, refused, calls)
	}
	if got := len(w.Records()); got != n {
		t.Errorf("%d records", got)
	}
	c.create(`"input":"hi"`)
	c.good()
}

// TestAFloodFromOneThatNeverReads: refusals are written, not gathered, so the
// gateway stops reading; the write timer ends it.
func TestAFloodFromOneThatNeverReads(t *testing.T) {
	w := start(t, "timers: {write: 1s}", slow(), hello())
	c := rawDial(t, w.Gateway, w.Default)
	// A much smaller buffer makes TCP itself stall: full, it drops acknowledgements too.
	_ = c.SetReadBuffer(256 << 10)
	before := heap()
	junk := strings.Repeat(string(textFrame(`{"type":"nonsense `+strings.Repeat("x", 150)+`"}`)), 1000)
	_ = c.SetWriteDeadline(time.Now().Add(4 * patience)) // refusing megabytes takes a while under the race detector
	var sent int
	for {
		n, err := c.Write([]byte(junk))
		sent += n
		if err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				t.Fatalf("%d bytes were sent and nobody cut the connection", sent)
			}
			break
		}
	}
	if grown := heap() - before; grown > 16<<20 {
		t.Errorf("%d bytes more after %d were sent", grown, sent)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestManyAtOnce: several connections, chained turns, first attempts that fail,
// clients that vanish; the stand checks the money.
func TestManyAtOnce(t *testing.T) {
	flaky := sim.Calls([]sim.Step{sim.Created(), sim.Failed("server_error")}, []sim.Step{sim.Answer("Hello", sim.Tokens(10, 0, 5))},
		[]sim.Step{sim.Answer("Hello", sim.Tokens(10, 0, 5))}, []sim.Step{sim.Answer("Hello", sim.Tokens(10, 0, 5))})
	w := start(t, "", flaky, hello())
	var wg sync.WaitGroup
	for i := range 8 {
		c := w.dial()
		wg.Go(func() {
			id := ""
			for j := range 6 {
				members := fmt.Sprintf(`"input":"%d/%d"`, i, j)
				if id != "" {
					members += `,"previous_response_id":"` + id + `"`
				}
				if err := c.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"response.create","model":"m",`+members+`}`)); err != nil {
					t.Error(err)
					return
				}
				if i%4 == 3 && j == 3 {
					_ = c.ws.CloseNow()
					return
				}
				for {
					f, err := c.read()
					if err != nil || f.Type == "error" || f.Type == "response.failed" {
						t.Errorf("%v %s", err, f.raw)
						return
					}
					if f.Type == "response.completed" {
						id = f.Response.ID
						break
					}
				}
			}
		})
	}
	wg.Wait()
	for _, r := range w.Records() {
		if r.Outcome != journal.OutcomeCompleted && r.Outcome != journal.OutcomeCancelled && !stand.WaitFor(patience, func() bool { return w.Record(r.RequestID).Outcome != journal.OutcomeRunning }) {
			t.Errorf("record %+v", r)
		}
	}
}

// TestIdleConnectionsAreSmall measures what 500 idle connections cost. The
// other ends, raw sockets without buffers, are in the number too.
func TestIdleConnectionsAreSmall(t *testing.T) {
	const n = 500
	w := start(t, "", hello(), hello())
	for range 20 { // what is made once
		oneTurn(t, rawDial(t, w.Gateway, w.Default))
	}
	heap, stacks, routines := inUse()
	conns := make([]net.Conn, n)
	for i := range conns {
		conns[i] = rawDial(t, w.Gateway, w.Default)
	}
	heapThen, stacksThen, _ := inUse()
	heap, stacks = (heapThen-heap)/n, (stacksThen-stacks)/n
	t.Logf("%d bytes of heap and %d of stacks per idle connection", heap, stacks)
	if heap+stacks > 32<<10 {
		t.Errorf("%d bytes per idle connection", heap+stacks)
	}
	for _, c := range conns { // a turn leaves no goroutine behind
		oneTurn(t, c)
	}
	if !stand.WaitFor(patience, func() bool { return runtime.NumGoroutine()-routines <= n+5 }) {
		t.Errorf("%d goroutines for %d connections", runtime.NumGoroutine()-routines, n)
	}
}

func inUse() (heap, stacks int64, goroutines int) {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.StackInuse), runtime.NumGoroutine()
}

// oneTurn plays a whole small turn on a raw socket.
func oneTurn(t *testing.T, c net.Conn) {
	t.Helper()
	_, _ = c.Write(textFrame(`{"type":"response.create","model":"m","input":"hi","store":true}`))
	for {
		_, payload, err := readRaw(c, patience)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(payload), `"type":"response.completed"`) {
			return
		}
	}
}

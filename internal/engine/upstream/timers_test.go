package upstream_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/lab/memnet"
	"rubicon/internal/wire/classify"
)

// beats writes a heartbeat every second until the connection ends.
func beats(c net.Conn) {
	for {
		time.Sleep(time.Second)
		if _, err := io.WriteString(c, chunk(": ping\n\ndata: {\"type\":\"keepalive\"}\n\n")); err != nil {
			return
		}
	}
}

// chatChunk is one chunk of a chat stream that speaks of one choice.
func chatChunk(choice int, what string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":%d,%s}]}\n\n", choice, what)
}

// TestDeadlines: each deadline ends the attempt at its moment, as its own
// class; heartbeats are no progress.
func TestDeadlines(t *testing.T) {
	after := func(d time.Duration, script func(net.Conn, int)) func(net.Conn, int) {
		return func(c net.Conn, n int) { time.Sleep(d); script(c, n) }
	}
	then := func(raw string) func(net.Conn, int) {
		return func(c net.Conn, _ int) { write(c, streamHead+raw); beats(c) }
	}
	none := func(config.Timers) config.Timers { return config.Timers{} }
	for _, c := range []struct {
		name     string
		script   func(net.Conn, int)
		timers   func(config.Timers) config.Timers
		protocol string
		types    string
		want     classify.Failure
		at       time.Duration
	}{
		{name: "headers", script: after(time.Hour, says("")), want: classify.HeaderTimeout, at: time.Minute},
		{name: "first event, counted from the status", script: after(30*time.Second, then("")), want: classify.FirstEventTimeout, at: 90 * time.Second},
		{name: "idle, counted from the last event", script: after(10*time.Second, then(chunk(created))), types: "l", want: classify.IdleTimeout, at: 310 * time.Second},
		{name: "idle after output", script: then(chunk(created) + chunk(delta)), types: "lo", want: classify.IdleTimeout, at: 300 * time.Second},
		{name: "idle is shorter than first_event", script: after(time.Second, then(chunk(created))), types: "l", want: classify.IdleTimeout, at: 21 * time.Second,
			timers: func(t config.Timers) config.Timers { t.Idle = 20 * time.Second; return t }},
		{name: "idle without first_event", script: after(time.Second, then(chunk(created))), types: "l", want: classify.IdleTimeout, at: 301 * time.Second,
			timers: func(t config.Timers) config.Timers { t.FirstEvent = 0; return t }},
		{name: "first output, no status", script: after(time.Hour, says("")), want: classify.FirstOutputTimeout, at: 5 * time.Second,
			timers: func(t config.Timers) config.Timers { t.FirstOutput = 5 * time.Second; return t }},
		{name: "first output, lifecycle is none", script: after(2*time.Second, then(chunk(created))), types: "l", want: classify.FirstOutputTimeout, at: 5 * time.Second,
			timers: func(t config.Timers) config.Timers { t.FirstOutput = 5 * time.Second; return t }},
		{name: "first output came", script: after(2*time.Second, then(chunk(delta))), types: "o", want: classify.IdleTimeout, at: 302 * time.Second,
			timers: func(t config.Timers) config.Timers { t.FirstOutput = 5 * time.Second; return t }},
		{name: "lifecycle events for ever are no progress", script: func(c net.Conn, _ int) {
			write(c, streamHead+chunk(created))
			for range 3600 {
				time.Sleep(1500 * time.Millisecond)
				if _, err := io.WriteString(c, chunk(working)); err != nil {
					return
				}
			}
		}, types: "l" + strings.Repeat("l", 14), want: classify.IdleTimeout, at: 21500 * time.Millisecond,
			timers: func(t config.Timers) config.Timers { t.Idle = 20 * time.Second; return t }},
		{name: "empty deltas for ever are no progress", script: func(c net.Conn, _ int) {
			write(c, streamHead+chunk(delta))
			for range 3600 {
				time.Sleep(1500 * time.Millisecond)
				if _, err := io.WriteString(c, chunk("data: {\"type\":\"response.output_text.delta\",\"delta\":\"\"}\n\n")); err != nil {
					return
				}
			}
		}, types: "o" + strings.Repeat("o", 13), want: classify.IdleTimeout, at: 20 * time.Second,
			timers: func(t config.Timers) config.Timers { t.Idle = 20 * time.Second; return t }},
		{name: "no deadline but the total one", script: then(""), timers: none, want: classify.TotalTimeout, at: 30 * time.Minute},
		{name: "total", script: after(time.Second, func(c net.Conn, _ int) {
			write(c, streamHead)
			for {
				time.Sleep(30 * time.Second)
				if _, err := io.WriteString(c, chunk(delta)); err != nil {
					return
				}
			}
		}), types: strings.Repeat("o", 59), want: classify.TotalTimeout, at: 30 * time.Minute},
		{name: "usage after the finish reason is awaited for a second", protocol: config.ProtocolChat,
			script: says(streamHead + chunk("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n"+
				"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")), types: "oo", at: time.Second},
		{name: "a choice that shows after the first has finished is waited for", protocol: config.ProtocolChat,
			script: func(c net.Conn, _ int) {
				write(c, streamHead+chunk(chatChunk(0, `"delta":{"content":"x"}`)+chatChunk(0, `"delta":{},"finish_reason":"stop"`)))
				for range 3 {
					time.Sleep(900 * time.Millisecond)
					write(c, chunk(chatChunk(1, `"delta":{"content":"x"}`)))
				}
				time.Sleep(5 * time.Second)
				write(c, chunk(chatChunk(1, `"delta":{},"finish_reason":"stop"`)))
			}, types: "oooooo", at: 8700 * time.Millisecond},
		{name: "silence while the rest of a whole answer is awaited is no failure", protocol: config.ProtocolChat,
			script: says(streamHead + chunk(chatChunk(0, `"delta":{"content":"x"},"finish_reason":"stop"`))), types: "o", at: 300 * time.Millisecond,
			timers: func(t config.Timers) config.Timers { t.Idle = 300 * time.Millisecond; return t }},
		{name: "what is no event after a whole answer changes nothing", protocol: config.ProtocolChat,
			script: says(streamHead + chunk(chatChunk(0, `"delta":{"content":"x"},"finish_reason":"stop"`)+"data: [END]\n\n")), types: "o"},
		{name: "response.failed after error is awaited for a second",
			script: then(chunk("data: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"x\"}\n\n")), types: "f", at: time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl, p, address := bubble(t, c.script)
				call := to(address)
				if c.protocol != "" {
					call.Channel.Protocol = c.protocol
				}
				if c.timers != nil {
					call.Timers = c.timers(call.Timers)
				}
				ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Minute, upstream.ErrTotal)
				defer cancel()
				got := run(ctx, cl, call)
				if c.want == "" && got.failed != nil {
					t.Errorf("failed: %v", got.failed)
				} else if c.want != "" {
					expect(t, got.failed, c.want, true)
				}
				if types := strings.ReplaceAll(got.types, "h", ""); types != c.types || got.took != c.at {
					t.Errorf("events %q after %v, want %q after %v", types, got.took, c.types, c.at)
				}
				p.stop()
			})
		})
	}
}

func TestConnectDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		network.Blackhole("up.example:80")
		got := run(t.Context(), client(t, network.Dial), to("up.example"))
		expect(t, got.failed, classify.Connect, false)
		if got.took != 5*time.Second {
			t.Errorf("took %v", got.took)
		}
	})
}

// TestAbandonedDial: a dial whose request has given up ends too.
func TestAbandonedDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan time.Time, 1)
		cl := client(t, func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			ended <- time.Now()
			return nil, ctx.Err()
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		got := run(ctx, cl, to("up.example"))
		expect(t, got.failed, classify.ClientGone, false)
		if got.took != time.Second {
			t.Errorf("the client waited %v", got.took)
		}
		if d := (<-ended).Sub(start); d > 5*time.Second {
			t.Errorf("the dial went on for %v", d)
		}
	})
}

// TestBodyNotTaken: a peer that takes no request does not escape the deadline.
func TestBodyNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		l, err := network.Listen("up.example:80")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		call := to("up.example")
		call.Body = []byte(`{"model":"` + strings.Repeat("m", 1<<20) + `"}`)
		got := run(t.Context(), client(t, network.Dial), call)
		expect(t, got.failed, classify.HeaderTimeout, true)
		if got.took != time.Minute {
			t.Errorf("took %v", got.took)
		}
	})
}

// TestHeadersFromRequestWritten: the deadline for the status begins anew when
// the request is out.
func TestHeadersFromRequestWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		l, err := network.Listen("up.example:80")
		if err != nil {
			t.Fatal(err)
		}
		slow := &slowListener{Listener: l, before: 40 * time.Second}
		p := serve(t, slow, func(net.Conn, int) { time.Sleep(time.Hour) })
		call := to("up.example")
		call.Body = []byte(`{"model":"` + strings.Repeat("m", 1<<20) + `"}`)
		got := run(t.Context(), client(t, network.Dial), call)
		expect(t, got.failed, classify.HeaderTimeout, true)
		if got.took != 100*time.Second {
			t.Errorf("took %v, want 40s of writing and 60s", got.took)
		}
		p.stop()
	})
}

// slowListener waits before it reads what it accepted.
type slowListener struct {
	net.Listener
	before time.Duration
}

func (l *slowListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		time.Sleep(l.before)
	}
	return c, err
}

func TestAnswerDeadline(t *testing.T) {
	for name, script := range map[string]func(net.Conn, int){
		"no status": func(net.Conn, int) { time.Sleep(time.Hour) },
		"half a body": func(c net.Conn, _ int) {
			write(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"+chunk(`{"id":`))
			for {
				time.Sleep(time.Minute)
				if _, err := io.WriteString(c, chunk(" ")); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl, p, address := bubble(t, script)
				start := time.Now()
				_, failed := cl.Do(t.Context(), whole(address))
				expect(t, failed, classify.AnswerTimeout, true)
				if took := time.Since(start); took != 10*time.Minute {
					t.Errorf("took %v", took)
				}
				p.stop()
			})
		})
	}
}

// TestSlowErrorBody: the status line alone decides when the rest does not come.
func TestSlowErrorBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl, p, address := bubble(t, func(c net.Conn, _ int) {
			write(c, "HTTP/1.1 429 Too Many\r\nContent-Type: application/json\r\nRetry-After: 7\r\nContent-Length: 100\r\n\r\n{\"error\":")
			time.Sleep(time.Hour)
		})
		got := run(t.Context(), cl, to(address))
		expect(t, got.failed, classify.RateLimited, false)
		if got.took != 5*time.Second || got.failed.RetryAfter != 7*time.Second || got.failed.Status != 429 || got.failed.JSON {
			t.Errorf("took %v: %+v", got.took, got.failed)
		}
		p.stop()
	})
}

// TestSlowClient: time in which nobody reads is no silence of upstream's.
func TestSlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl, p, address := bubble(t, says(streamHead+chunk(created)+chunk(delta)))
		s, failed := cl.Open(t.Context(), to(address), newReader(config.ProtocolResponses))
		if failed != nil {
			t.Fatal(failed)
		}
		defer s.Close()
		start := time.Now()
		for range 2 {
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(400 * time.Second)
		}
		_, err := s.Next()
		f, _ := err.(*upstream.Failure)
		expect(t, f, classify.IdleTimeout, true)
		if took := time.Since(start); took != 1100*time.Second {
			t.Errorf("took %v, want 2 × 400s of handing on and 300s of silence", took)
		}
		p.stop()
	})
}

// TestSlowClientWithoutProgress: neither is the time in which nobody reads
// between events that are no progress, and they do not begin the silence anew.
func TestSlowClientWithoutProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl, p, address := bubble(t, func(c net.Conn, _ int) {
			write(c, streamHead+chunk(created)+chunk(working))
			time.Sleep(900 * time.Second)
			write(c, chunk(working))
		})
		s, failed := cl.Open(t.Context(), to(address), newReader(config.ProtocolResponses))
		if failed != nil {
			t.Fatal(failed)
		}
		defer s.Close()
		start := time.Now()
		for range 3 {
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(400 * time.Second)
		}
		_, err := s.Next()
		f, _ := err.(*upstream.Failure)
		expect(t, f, classify.IdleTimeout, true)
		if took := time.Since(start); took != 1500*time.Second {
			t.Errorf("took %v, want 3 × 400s of handing on and 100s + 200s of silence", took)
		}
		p.stop()
	})
}

// TestClientLeaves: the upstream connection ends at once, in every phase.
func TestClientLeaves(t *testing.T) {
	for name, before := range map[string]string{
		"before the status": "", "before an event": streamHead, "after lifecycle": streamHead + chunk(created), "after output": streamHead + chunk(delta),
		"in an error body": "HTTP/1.1 500 Oh\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				closed := make(chan time.Duration, 1)
				start := time.Now()
				cl, p, address := bubble(t, func(c net.Conn, _ int) {
					write(c, before)
					_, _ = c.Read(make([]byte, 1))
					closed <- time.Since(start)
				})
				ctx, leave := context.WithCancel(t.Context())
				time.AfterFunc(3*time.Second, leave)
				got := run(ctx, cl, to(address))
				expect(t, got.failed, classify.ClientGone, true)
				if got.took != 3*time.Second {
					t.Errorf("the attempt took %v", got.took)
				}
				if at := <-closed; at != 3*time.Second {
					t.Errorf("the peer saw the end after %v", at)
				}
				p.stop()
			})
		})
	}
}

// TestReady: what has arrived already is known without waiting.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl, p, address := bubble(t, says(streamHead+chunk(created+delta)))
		s, failed := cl.Open(t.Context(), to(address), newReader(config.ProtocolResponses))
		if failed != nil {
			t.Fatal(failed)
		}
		for _, ready := range []bool{true, false} {
			ev, err := s.Next()
			if err != nil || s.Ready() != ready {
				t.Errorf("after %s: ready %v, %v", ev.Type, s.Ready(), err)
			}
		}
		s.Close()
		if s.Ready() {
			t.Error("ready after Close")
		}
		if _, err := s.Next(); err != io.EOF {
			t.Errorf("after Close: %v", err)
		}
		s.Close() // again is nothing
		p.stop()
	})
}

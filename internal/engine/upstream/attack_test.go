package upstream_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/wire/classify"
)

// drips writes a piece every second until the connection ends.
func drips(head, piece string) func(net.Conn, int) {
	return func(c net.Conn, _ int) {
		write(c, head)
		for {
			if _, err := c.Write([]byte(piece)); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	}
}

// opensAndStays writes and leaves the connection open, whatever comes.
func opensAndStays(raw string) func(net.Conn, int) { return says(raw) }

// TestNothingOutlastsItsDeadline: an upstream that dribbles or floods, in
// whatever part of an answer, is cut by the deadline of that part, and is a
// failure of a class that is known. Nothing waits for what a status promises
// that nobody asked for.
func TestNothingOutlastsItsDeadline(t *testing.T) {
	const (
		stream  = 0
		jsonOne = 1
	)
	upgrade := "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
	chunkedJSON := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, c := range []struct {
		name   string
		script func(net.Conn, int)
		want   [2]classify.Failure // streamed, not streamed; "" answered
		at     [2]time.Duration
	}{
		{"101 with an upgrade", opensAndStays(upgrade), [2]classify.Failure{classify.BadAnswer, classify.BadAnswer}, [2]time.Duration{}},
		{"101 that talks on", drips(upgrade, "data: x\n\n"), [2]classify.Failure{classify.BadAnswer, classify.BadAnswer}, [2]time.Duration{}},
		{"101 without an upgrade", opensAndStays("HTTP/1.1 101 Switching Protocols\r\n\r\n"), [2]classify.Failure{classify.BadAnswer, classify.BadAnswer}, [2]time.Duration{}},
		{"100 and then nothing", opensAndStays("HTTP/1.1 100 Continue\r\n\r\n"), [2]classify.Failure{classify.HeaderTimeout, classify.AnswerTimeout}, [2]time.Duration{10 * time.Second, 20 * time.Second}},
		{"the status line by bytes", drips("HTTP/1.1 200 ", "O"), [2]classify.Failure{classify.HeaderTimeout, classify.AnswerTimeout}, [2]time.Duration{10 * time.Second, 20 * time.Second}},
		{"headers for ever", drips("HTTP/1.1 200 OK\r\n", "X: y\r\n"), [2]classify.Failure{classify.HeaderTimeout, classify.AnswerTimeout}, [2]time.Duration{10 * time.Second, 20 * time.Second}},
		{"a header of a megabyte", says("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", 1<<20) + "\r\n\r\n"), [2]classify.Failure{classify.ReadError, classify.ReadError}, [2]time.Duration{}},
		{"204 with a body", opensAndStays("HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\ndata: x\n\n"), [2]classify.Failure{classify.BadAnswer, classify.BadAnswer}, [2]time.Duration{}},
		{"304 with a body", opensAndStays("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\ndata: x\n\n"), [2]classify.Failure{classify.BadAnswer, classify.BadAnswer}, [2]time.Duration{}},
		{"205 and a body that never comes", opensAndStays("HTTP/1.1 205 Reset\r\nContent-Length: 9\r\n\r\n"), [2]classify.Failure{classify.FirstEventTimeout, classify.AnswerTimeout}, [2]time.Duration{15 * time.Second, 20 * time.Second}},
		{"a chunk's size by bytes", drips(chunkedJSON, "0"), [2]classify.Failure{classify.FirstEventTimeout, classify.AnswerTimeout}, [2]time.Duration{15 * time.Second, 20 * time.Second}},
		{"blank lines for ever", drips(chunkedJSON, chunk("\n")), [2]classify.Failure{classify.FirstEventTimeout, classify.AnswerTimeout}, [2]time.Duration{15 * time.Second, 20 * time.Second}},
		{"trailers for ever", drips(chunkedJSON+chunk(`{"id":"x"}`)+"0\r\n", "X: y\r\n"), [2]classify.Failure{classify.FirstEventTimeout, classify.AnswerTimeout}, [2]time.Duration{15 * time.Second, 20 * time.Second}},
		{"an error body for ever", drips("HTTP/1.1 500 Oh\r\nContent-Type: text/plain\r\n\r\n", "x"), [2]classify.Failure{classify.Upstream5xx, classify.Upstream5xx}, [2]time.Duration{5 * time.Second, 5 * time.Second}},
		{"one record for ever", drips(streamHead, chunk("data: x\n")), [2]classify.Failure{classify.FirstEventTimeout, classify.BadAnswer}, [2]time.Duration{15 * time.Second, 5 * time.Second}},
		{"1xx for ever", drips("", "HTTP/1.1 103 Early Hints\r\n\r\n"), [2]classify.Failure{classify.HeaderTimeout, classify.AnswerTimeout}, [2]time.Duration{10 * time.Second, 20 * time.Second}},
		{"1xx in a flood", says(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1000)), [2]classify.Failure{classify.HeaderTimeout, classify.AnswerTimeout}, [2]time.Duration{10 * time.Second, 20 * time.Second}},
		{"half a gzip head", opensAndStays("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: text/plain\r\n\r\n\x1f\x8b"), [2]classify.Failure{classify.FirstEventTimeout, classify.BadAnswer}, [2]time.Duration{15 * time.Second, 5 * time.Second}},
	} {
		for mode, kind := range [...]string{stream: "streamed", jsonOne: "whole"} {
			t.Run(c.name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cl, p, address := bubble(t, c.script)
					call := to(address)
					call.Timers = config.Timers{Connect: time.Second, Headers: 10 * time.Second, Answer: 20 * time.Second, FirstEvent: 15 * time.Second, Idle: 30 * time.Second}
					ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, upstream.ErrTotal)
					defer cancel()
					start := time.Now()
					var failed *upstream.Failure
					if call.Stream = mode == stream; call.Stream {
						failed = run(ctx, cl, call).failed
					} else {
						_, failed = cl.Do(ctx, call)
					}
					took := time.Since(start)
					if failed == nil {
						t.Fatal("it went well")
					}
					if failed.Failure != c.want[mode] || took != c.at[mode] {
						t.Errorf("%v after %v, want %s after %v", failed, took, c.want[mode], c.at[mode])
					}
					p.stop()
					synctest.Wait()
				})
			})
		}
	}
}

package upstream_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/lab/memnet"
	"rubicon/internal/wire/classify"
)

// eventStream is a stream that ends with its connection.
func eventStream(body string, headers ...string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + strings.Join(append(headers, ""), "\r\n") + "Connection: close\r\n\r\n" + body
}

func zipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

// TestStreamFailures: every way in which a streamed exchange can go wrong, over
// real sockets.
func TestStreamFailures(t *testing.T) {
	for _, c := range []struct {
		name     string
		script   func(net.Conn, int)
		want     classify.Failure // "" the stream is good
		executed bool
		types    string
		check    func(*upstream.Failure) bool
	}{
		{name: "a good stream", script: cuts(eventStream(created + delta + completed)), types: "lot"},
		{name: "no blank line after the last record", script: cuts(eventStream(created + strings.TrimRight(completed, "\n"))), types: "lt"},
		{name: "no content type", script: cuts("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + completed), types: "t"},
		{name: "an interim answer first", script: cuts("HTTP/1.1 103 Early Hints\r\n\r\n" + eventStream(completed)), types: "t"},
		{name: "gzip that nobody asked for", script: cuts(eventStream(zipped(created+delta+completed), "Content-Encoding: gzip")), types: "lot"},

		{name: "reset after the request", script: func(c net.Conn, _ int) { resets(c) }, want: classify.ReadError, executed: true},
		{name: "closed after the request", script: cuts(""), want: classify.ReadError, executed: true},
		{name: "half a status line", script: cuts("HTTP/1.1 2"), want: classify.ReadError, executed: true},
		{name: "no HTTP at all", script: cuts("SSH-2.0-OpenSSH\r\n\r\n"), want: classify.ReadError, executed: true},
		{name: "an endless header", script: cuts("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20)), want: classify.ReadError, executed: true},
		{name: "an empty stream", script: cuts(eventStream("")), want: classify.ReadError, executed: true},
		{name: "nothing but heartbeats", script: cuts(eventStream(": ping\n\n")), types: "h", want: classify.ReadError, executed: true},
		{name: "a clean end after lifecycle", script: cuts(eventStream(created)), types: "l", want: classify.ReadError, executed: true},
		{name: "a chunked body without its end", script: cuts(streamHead + chunk(created+delta)), types: "lo", want: classify.ReadError, executed: true},
		{name: "a cut inside the last record", script: cuts(eventStream(created + delta[:30])), types: "l", want: classify.ReadError, executed: true,
			check: func(f *upstream.Failure) bool { return !f.NotEvent }},
		{name: "a record that is no JSON", script: cuts(eventStream(created + "data: <html>\n\n")), types: "l", want: classify.ReadError, executed: true,
			check: func(f *upstream.Failure) bool { return f.NotEvent }},
		{name: "an event over the limit", script: cuts(eventStream("data: {\"type\":\"x\",\"x\":\"" + strings.Repeat("x", 2<<20) + "\"}\n\n")), want: classify.BufferLimit, executed: true},
		{name: "broken gzip", script: cuts(eventStream("no gzip at all, but long enough", "Content-Encoding: gzip")), want: classify.BadAnswer, executed: true},
		{name: "an empty gzip body", script: cuts(eventStream("", "Content-Encoding: gzip")), want: classify.ReadError, executed: true},
		{name: "cut gzip", script: cuts(eventStream(zipped(created + delta)[:20], "Content-Encoding: gzip")), want: classify.ReadError, executed: true},
		{name: "an encoding nobody knows", script: cuts(eventStream(completed, "Content-Encoding: br")), want: classify.BadAnswer, executed: true},

		{name: "a redirect", script: cuts("HTTP/1.1 302 Found\r\nLocation: /v1/elsewhere\r\nContent-Length: 0\r\n\r\n"), want: classify.BadAnswer, executed: true},
		{name: "HTML", script: cuts("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>"), want: classify.BadAnswer, executed: true,
			check: func(f *upstream.Failure) bool { return !f.JSON }},
		{name: "empty JSON", script: cuts(jsonAnswer("200 OK", "{}")), want: classify.BadAnswer, executed: true},
		{name: "an error with a good status", script: cuts(jsonAnswer("200 OK", `{"error":{"message":"x","type":"server_error"}}`)), want: classify.BadAnswer, executed: true},
		{name: "a deterministic error with a good status", script: cuts(jsonAnswer("200 OK", `{"error":{"message":"x","code":"context_length_exceeded"}}`)), want: classify.Deterministic,
			check: func(f *upstream.Failure) bool { return f.JSON && f.Info.Code == "context_length_exceeded" }},
		{name: "no content", script: cuts("HTTP/1.1 204 No Content\r\n\r\n"), want: classify.BadAnswer, executed: true},
		{name: "switching protocols", script: cuts("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), want: classify.BadAnswer, executed: true},
		{name: "408", script: cuts(jsonAnswer("408 Timeout", "{}")), want: classify.BadAnswer, executed: true},

		{name: "400", script: cuts(jsonAnswer("400 Bad", `{"error":{"message":"no","code":"invalid_value","param":"input"}}`)), want: classify.Deterministic,
			check: func(f *upstream.Failure) bool { return f.Status == 400 && f.JSON && f.Info.Param == "input" }},
		{name: "401", script: cuts(jsonAnswer("401 No", "{}")), want: classify.Auth},
		{name: "402", script: cuts(jsonAnswer("402 Pay", "{}")), want: classify.Balance},
		{name: "405", script: cuts(jsonAnswer("405 No", "{}")), want: classify.Unfit},
		{name: "429", script: cuts(jsonAnswer("429 Slow", "{}", "Retry-After: 3", "X-Request-Id: up-9")), want: classify.RateLimited,
			check: func(f *upstream.Failure) bool {
				return f.RateLimit && f.RetryAfter == 3*time.Second && f.RequestID == "up-9"
			}},
		{name: "429 in milliseconds", script: cuts(jsonAnswer("429 Slow", "{}", "Retry-After-Ms: 1500")), want: classify.RateLimited,
			check: func(f *upstream.Failure) bool { return f.RetryAfter == 1500*time.Millisecond }},
		{name: "429 for an empty account", script: cuts(jsonAnswer("429 Slow", `{"error":{"code":"insufficient_quota"}}`)), want: classify.Balance},
		{name: "500", script: cuts(jsonAnswer("500 Oh", "oh no")), want: classify.Upstream5xx, executed: true, check: func(f *upstream.Failure) bool { return !f.JSON }},
		{name: "503 overloaded", script: cuts(jsonAnswer("503 Busy", `{"error":{"code":"server_is_overloaded"}}`)), want: classify.Overloaded},
		{name: "529 overloaded", script: cuts(jsonAnswer("529 Busy", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)), want: classify.Overloaded},
		{name: "503 without a word", script: cuts(jsonAnswer("503 Busy", "")), want: classify.Upstream5xx, executed: true},
		{name: "a zipped error body", script: cuts("HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n" + zipped(`{"error":{"code":"z"}}`)),
			want: classify.Deterministic, check: func(f *upstream.Failure) bool { return f.Info.Code == "z" }},
		{name: "an error body that breaks off", script: cuts("HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{\"error\":"),
			want: classify.Deterministic, check: func(f *upstream.Failure) bool { return !f.JSON && f.Status == 400 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := overTCP(t, c.script)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			got := run(ctx, client(t, nil), to(p.listener.Addr().String()))
			if c.want != "" {
				expect(t, got.failed, c.want, c.executed)
			} else if got.failed != nil {
				t.Errorf("failed: %v", got.failed)
			}
			if got.types != c.types {
				t.Errorf("events %q, want %q", got.types, c.types)
			}
			if c.check != nil && got.failed != nil && !c.check(got.failed) {
				t.Errorf("%+v", got.failed)
			}
			if requests, _ := p.got(); len(requests) != 1 {
				t.Errorf("the peer saw %d requests", len(requests))
			}
		})
	}
}

// TestResetAfterOutput waits before the reset, which would overtake what was
// not read yet.
func TestResetAfterOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl, p, address := bubble(t, func(c net.Conn, _ int) {
			write(c, streamHead+chunk(created+delta))
			time.Sleep(time.Second)
			resets(c)
		})
		got := run(t.Context(), cl, to(address))
		expect(t, got.failed, classify.ReadError, true)
		if got.types != "lo" || got.took != time.Second {
			t.Errorf("events %q after %v", got.types, got.took)
		}
		p.stop()
	})
}

// TestAnswers: the same for answers that are not streamed.
func TestAnswers(t *testing.T) {
	const answer = `{"id":"resp_1","status":"completed"}`
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	for _, c := range []struct {
		name string
		raw  string
		want classify.Failure
		body string
	}{
		{"whole", jsonAnswer("200 OK", answer), "", answer},
		{"created", jsonAnswer("201 Created", answer), "", answer},
		{"a vendor's type", strings.Replace(jsonAnswer("200 OK", answer), "application/json", "application/vnd.api+json; charset=utf-8", 1), "", answer},
		{"zipped", head + "Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + zipped(answer), "", answer},
		{"until the connection ends", head + "Connection: close\r\n\r\n" + answer, "", answer},
		{"breaks off inside its length", head + "Content-Length: 99\r\n\r\n" + answer, classify.ReadError, ""},
		{"breaks off between chunks", head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(answer), classify.ReadError, ""},
		{"breaks off with the connection", head + "Connection: close\r\n\r\n" + answer[:20], classify.ReadError, ""},
		{"breaks off inside gzip", head + "Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + zipped(answer)[:25], classify.ReadError, ""},
		{"broken gzip", head + "Content-Encoding: gzip\r\nConnection: close\r\n\r\nno gzip, but ten bytes", classify.BadAnswer, ""},
		{"empty", jsonAnswer("200 OK", ""), classify.BadAnswer, ""},
		{"no object", jsonAnswer("200 OK", `[1]`), classify.BadAnswer, ""},
		{"no JSON", jsonAnswer("200 OK", `{"id":}`), classify.BadAnswer, ""},
		{"HTML", strings.Replace(jsonAnswer("200 OK", "<html>"), "application/json", "text/html", 1), classify.BadAnswer, ""},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", classify.BadAnswer, ""},
		{"a redirect", "HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", classify.BadAnswer, ""},
		{"over the limit", jsonAnswer("200 OK", `{"x":"`+strings.Repeat("x", 2<<20)+`"}`), classify.BufferLimit, ""},
		{"500", jsonAnswer("500 Oh", `{"error":{"message":"x"}}`), classify.Upstream5xx, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := overTCP(t, cuts(c.raw))
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			a, failed := client(t, nil).Do(ctx, whole(p.listener.Addr().String()))
			switch {
			case c.want != "":
				expect(t, failed, c.want, true)
			case failed != nil:
				t.Errorf("failed: %v", failed)
			case string(a.Body) != c.body:
				t.Errorf("body %q", a.Body)
			}
			if requests, _ := p.got(); len(requests) != 1 {
				t.Errorf("the peer saw %d requests", len(requests))
			}
		})
	}
}

// TestLongErrorBody: 64 KiB of an error body are read, no more; the status
// alone speaks then.
func TestLongErrorBody(t *testing.T) {
	var sent atomic.Int64
	p := overTCP(t, func(c net.Conn, _ int) {
		body := `{"error":{"code":"` + strings.Repeat("x", 8<<20) + `"}}`
		n, _ := fmt.Fprintf(c, "HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		sent.Store(int64(n))
		_ = c.Close()
	})
	start := time.Now()
	got := run(t.Context(), client(t, nil), to(p.listener.Addr().String()))
	expect(t, got.failed, classify.Deterministic, false)
	if got.failed.JSON || got.failed.Status != 400 || time.Since(start) > 4*time.Second {
		t.Errorf("%+v", got.failed)
	}
	p.stop()
	if n := sent.Load(); n > 8<<20 {
		t.Errorf("all of %d bytes were taken", n)
	}
}

func TestNoConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	got := run(t.Context(), client(t, nil), to(address))
	expect(t, got.failed, classify.Connect, false)

	network := memnet.New()
	got = run(t.Context(), client(t, network.Dial), to("nobody.invalid"))
	expect(t, got.failed, classify.Connect, false)

	call := to(address)
	call.Channel.BaseURL = "https://" + overTCP(t, says("")).listener.Addr().String()
	call.Timers.Connect = 50 * time.Millisecond // a peer that never shakes hands
	got = run(t.Context(), client(t, nil), call)
	expect(t, got.failed, classify.Connect, false)

	call = to("x")
	call.Channel.BaseURL = "http://bad host"
	call.Channel.Query = config.SecretMap{"key": "secret-key"}
	got = run(t.Context(), client(t, nil), call)
	expect(t, got.failed, classify.GatewayFault, false)
	if strings.Contains(got.failed.Error(), "secret-key") {
		t.Errorf("the error shows a key: %v", got.failed)
	}
}

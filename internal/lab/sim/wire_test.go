package sim

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const textHi = `{"type":"response.output_text.delta","sequence_number":0,"item_id":"msg_000001","output_index":0,` +
	`"content_index":0,"delta":"Hi","logprobs":[]}`

func TestRawBytesOnTheWire(t *testing.T) {
	event := "event: response.output_text.delta\ndata: " + textHi + "\n\n"
	head := func(extra string) string {
		return "HTTP/1.1 200 OK\r\n" + "Content-Type: text/event-stream; charset=utf-8\r\n" + extra +
			"Transfer-Encoding: chunked\r\nX-Request-Id: req_000001\r\n\r\n"
	}
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	const last = "0\r\n\r\n"
	tests := []struct {
		name  string
		steps []Step
		want  string // all bytes up to the end of the connection
		err   error  // how the connection ended after them
	}{
		{"event, clean end, close said", []Step{Close(), Text("Hi"), End()}, "HTTP/1.1 200 OK\r\nConnection: close\r\n" +
			"Content-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\nX-Request-Id: req_000001\r\n\r\n" +
			chunk(event) + last, nil},
		{"fin without the final chunk", []Step{Text("Hi"), FIN()}, head("") + chunk(event), nil},
		{"crlf", []Step{CRLF(), Text("Hi"), FIN()}, head("") + chunk(strings.ReplaceAll(event, "\n", "\r\n")), nil},
		{"no event names", []Step{Unnamed(), Text("Hi"), FIN()}, head("") + chunk("data: "+textHi+"\n\n"), nil},
		{"raw bytes", []Step{Raw("data: {\n"), Raw("\xff\n"), FIN()}, head("") + chunk("data: {\n") + chunk("\xff\n"), nil},
		{"several lines of data", []Step{Event("x", "a\nb"), FIN()}, head("") + chunk("event: x\ndata: a\ndata: b\n\n"), nil},
		{"comment", []Step{Comment("hm"), FIN()}, head("") + chunk(": hm\n\n"), nil},
		{"pieces", []Step{Split(7, 0), Raw("0123456789"), FIN()}, head("") + chunk("0123456") + chunk("789"), nil},
		{"cut at a byte", []Step{CutAt(4, "fin"), Raw("0123456789"), End()}, head("") + chunk("0123"), nil},
		{"head only, then fin", []Step{Reply(200), FIN()}, head(""), nil},
		{"reset before any byte", []Step{Reset()}, "", syscall.ECONNRESET},
		{"refused", []Step{Refuse()}, "", syscall.ECONNRESET},
		{"refused with fin", []Step{{Do: "refuse", How: "fin"}}, "", nil},
		{"whole json with a credential", []Step{Close(), ReplyJSON(500, map[string]string{"m": "$KEY at $HOST for $MODEL"})},
			"HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\nContent-Length: 43\r\nContent-Type: application/json\r\n" +
				"X-Request-Id: req_000001\r\n\r\n" + `{"m":"sk-secret at HOST for m"}`, nil},
		{"empty reply", []Step{Close(), Reply(405)}, "HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\nContent-Length: 0\r\n" +
			"X-Request-Id: req_000001\r\n\r\n", nil},
		{"headers", []Step{Close(), {Do: "reply", Status: 429, RetryAfter: "7", Headers: map[string]string{"x-request-id": "", "a": "b"}}},
			"HTTP/1.1 429 Too Many Requests\r\nA: b\r\nConnection: close\r\nContent-Length: 0\r\nRetry-After: 7\r\n\r\n", nil},
	}
	for _, network := range []string{"memory", "tcp"} {
		for _, tt := range tests {
			t.Run(network+"/"+tt.name, func(t *testing.T) {
				run := func(t *testing.T, b *bench) {
					if err := b.p.Script("m", Play(tt.steps...)); err != nil {
						t.Fatal(err)
					}
					got, err := io.ReadAll(b.send("/v1/responses", stream("m")))
					want := tt.want
					if strings.Contains(want, "HOST") {
						want = strings.Replace(want, "HOST", b.addr, 1)
						body := want[strings.Index(want, "\r\n\r\n")+4:]
						want = strings.Replace(want, "Content-Length: 43", fmt.Sprint("Content-Length: ", len(body)), 1)
					}
					if diff := cmp.Diff(want, string(got)); diff != "" {
						t.Error(diff)
					}
					if !errors.Is(err, tt.err) {
						t.Errorf("ended with %v, want %v", err, tt.err)
					}
				}
				if network == "tcp" {
					run(t, overTCP(t, nil))
				} else {
					virtualProvider(t, run)
				}
			})
		}
	}
}

// On TCP a reset may overtake the bytes before it, so only its arrival is asserted.
func TestResetAfterBytes(t *testing.T) {
	b := overTCP(t, map[string]Script{"m": Play(Text("Hi"), Wait(20*time.Millisecond), Reset())})
	got, err := io.ReadAll(b.send("/v1/responses", stream("m")))
	if !errors.Is(err, syscall.ECONNRESET) || !bytes.Contains(got, []byte(`"Hi"`)) {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestTimes(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		b.p.Script("m", Play(Wait(3*time.Second), PauseAt(2, 5*time.Second), Raw("0123"), Wait(time.Second), Drip(time.Minute), Raw("ab"), FIN()))
		start := time.Now()
		in := bufio.NewReader(b.send("/v1/responses", stream("m")))
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		buf := make([]byte, 10)
		for {
			n, err := res.Body.Read(buf)
			if n > 0 {
				got = append(got, fmt.Sprintf("%v %s", time.Since(start), buf[:n]))
			}
			if err != nil {
				break
			}
		}
		want := []string{"3s 01", "8s 23", "9s a", "1m9s b"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestHangEndsWhenThePeerLeaves(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		b.p.Script("m", Play(Created(), Hang()))
		c := b.send("/v1/responses", stream("m"))
		start := time.Now()
		time.Sleep(time.Hour) // the virtual clock: the script is still silent
		if calls := b.p.Calls("m"); len(calls) != 1 || !calls[0].Done.IsZero() {
			t.Fatalf("calls before leaving: %+v", calls)
		}
		c.Close()
		calls, err := b.p.WaitDone(t.Context(), "m", 1)
		if err != nil {
			t.Fatal(err)
		}
		if d := calls[0].CallerLeft.Sub(start); d != time.Hour {
			t.Errorf("gone after %v", d)
		}
	})
}

func TestGzip(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		for _, steps := range [][]Step{{Gzip(), Raw("hello"), End()}, {Gzip(), ReplyBody(200, "text/plain", "hello")}} {
			b.p.Script("m", Play(steps...))
			res, body, err := b.answer("/v1/responses", stream("m"))
			if err != nil || res.Header.Get("Content-Encoding") != "gzip" {
				t.Fatalf("%v %v", res, err)
			}
			z, err := gzip.NewReader(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(z); string(got) != "hello" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		}
	})
}

func TestHugeEventHasExactlyTheSize(t *testing.T) {
	for _, path := range []string{"/v1/responses", "/v1/chat/completions", "/v1/messages"} {
		for _, style := range [][]Step{nil, {CRLF()}, {Unnamed()}} {
			virtualProvider(t, func(t *testing.T, b *bench) {
				got := b.body(path, append(style, Huge(100_000), End())...)
				if len(got) != 100_000 {
					t.Errorf("%s: %d bytes", path, len(got))
				}
			})
		}
	}
}

func TestConnectionIsKeptAfterACleanEnd(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		b.p.Script("m", Calls([]Step{Completed(nil)}, []Step{ReplyJSON(503, nil)}, []Step{CutAt(1, "end"), Raw("ab"), End()}))
		c := b.send("/v1/responses", stream("m"))
		in := bufio.NewReader(c)
		for i := range 4 {
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatalf("answer %d: %v", i, err)
			}
			io.Copy(io.Discard, res.Body)
			b.sendOn(c, "/v1/responses", stream("m"))
		}
		for i, call := range b.p.Calls("m") {
			if call.Conn != 1 {
				t.Errorf("call %d came on connection %d", i+1, call.Conn)
			}
		}
	})
}

func TestCutBeyondTheBodyIsReported(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		b.body("/v1/responses", CutAt(1000, "reset"), Raw("ab"), End())
		calls, _ := b.p.WaitDone(t.Context(), "m", 1)
		if want := "the body ended at byte 2, before the cut at 1000"; calls[0].Err != want || calls[0].Sent != 2 {
			t.Errorf("err %q, sent %d", calls[0].Err, calls[0].Sent)
		}
	})
}

func TestServeRefusing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ServeRefusing(ctx, l) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err == nil { // the reset may be faster than the dialer
		defer c.Close()
		_, err = c.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("dial or read: %v", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	addr, err := UnreachableAddr()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial of a dead address: %v", err)
	}
}

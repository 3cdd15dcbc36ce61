package sim

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"rubicon/internal/lab/memnet"
)

// bench is a provider on a network with a raw client, so that tests see every byte.
type bench struct {
	t    *testing.T
	p    *Provider
	addr string
	dial func() (net.Conn, error)
}

// overMemory starts a provider on memnet; it ends with the test. Use inside a bubble.
func overMemory(t *testing.T, scripts map[string]Script) *bench {
	t.Helper()
	n := memnet.New()
	l, err := n.Listen("up.test:80")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, addr: "up.test", dial: func() (net.Conn, error) { return n.Dial(t.Context(), "tcp", "up.test:80") }}
	b.start(l, scripts)
	return b
}

// overTCP starts a provider on a real socket.
func overTCP(t *testing.T, scripts map[string]Script) *bench {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	b := &bench{t: t, addr: addr, dial: func() (net.Conn, error) { return net.Dial("tcp", addr) }}
	b.start(l, scripts)
	return b
}

func (b *bench) start(l net.Listener, scripts map[string]Script) {
	b.t.Helper()
	b.p = New(Options{Scripts: scripts})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.p.Serve(ctx, l) }()
	b.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.t.Error(err)
		}
	})
}

// send writes one request and gives the connection.
func (b *bench) send(path, body string) net.Conn {
	b.t.Helper()
	c, err := b.dial()
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { c.Close() })
	b.sendOn(c, path, body)
	return c
}

func (b *bench) sendOn(c net.Conn, path, body string) {
	b.t.Helper()
	method := "POST"
	if body == "" {
		method = "GET"
	}
	_, err := fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer sk-secret\r\nContent-Length: %d\r\n\r\n%s",
		method, path, b.addr, len(body), body)
	if err != nil {
		b.t.Fatal(err)
	}
}

// answer sends one request and reads what came, its body to the end.
func (b *bench) answer(path, body string) (*http.Response, string, error) {
	b.t.Helper()
	return readAnswer(b.t, b.send(path, body))
}

func readAnswer(t *testing.T, c io.Reader) (*http.Response, string, error) {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return nil, "", err
	}
	got, err := io.ReadAll(res.Body)
	return res, string(got), err
}

func stream(model string) string { return `{"model":"` + model + `","stream":true}` }

// body is what the given steps make of a streamed request in one protocol.
func (b *bench) body(path string, steps ...Step) string {
	b.t.Helper()
	if err := b.p.Script("m", Play(steps...)); err != nil {
		b.t.Fatal(err)
	}
	_, got, err := b.answer(path, stream("m"))
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

// events splits an event stream into its names and JSON data.
func events(t *testing.T, body string) (names []string, data []map[string]any) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		name, payload := "", ""
		for line := range strings.SplitSeq(block, "\n") {
			if v, ok := strings.CutPrefix(line, "event: "); ok {
				name = v
			} else if v, ok := strings.CutPrefix(line, "data: "); ok {
				payload = v
			} else if v, ok := strings.CutPrefix(line, ": "); ok {
				name, payload = ":"+v, "{}"
			}
		}
		if payload == "[DONE]" {
			name, payload = payload, "{}"
		}
		var o map[string]any
		if err := json.Unmarshal([]byte(payload), &o); err != nil {
			t.Fatalf("event %q: %v", block, err)
		}
		names, data = append(names, name), append(data, o)
	}
	return names, data
}

func virtualProvider(t *testing.T, f func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, overMemory(t, nil)) })
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

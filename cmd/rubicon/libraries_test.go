package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// talkative is an upstream that answers a request and then says more than it
// was asked for.
func talkative(t *testing.T, more string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		body := `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}`
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s%s", len(body), body, more)
		_, _ = io.Copy(io.Discard, conn)
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return "http://" + l.Addr().String() + "/v1"
}

// What net/http finds behind an answer may be the rest of it. The operator is
// told that it came, and not what it was.
func TestLibrariesSayNothingOfAnswers(t *testing.T) {
	t.Chdir(t.TempDir())
	more := "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ncanary"
	write(t, "mine.yaml", strings.Replace(routes, `base_url: "http://b.example/v1"`, `base_url: "`+talkative(t, more)+`", allow_private: true`, 1))
	s := serve(t, "mine.yaml")
	var made struct{ ID, Key string }
	read := func(out string) {
		t.Helper()
		if err := json.Unmarshal([]byte(out), &made); err != nil {
			t.Fatal(err)
		}
	}
	read(s.must("customer", "create", "acme", "--json"))
	s.must("credit", "give", made.ID, "1.00", "--reason", "test")
	read(s.must("key", "create", made.ID, "--json"))
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.clients+"/v1/chat/completions", strings.NewReader(`{"model":"n","messages":[{"role":"user","content":"Hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+made.Key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d %s, %v", resp.StatusCode, body, err)
	}
	resp.Body.Close()
	s.until("a word of the library", func() bool { return strings.Contains(s.said(), "Unsolicited response") })
	if strings.Contains(s.said(), "canary") || !strings.Contains(s.said(), `level=WARN msg="from a library"`) {
		t.Errorf("log: %s", s.said())
	}
}

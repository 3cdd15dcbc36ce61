package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rubicon/internal/lab/memnet"
)

func TestCallsAreKeptAndScriptsAdvance(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		b.p.Script("m", Calls([]Step{Answer("one", nil)}, []Step{Answer("two", nil)}))
		var got []string
		for range 3 {
			_, body, _ := b.answer("/base/v1/responses?a=1", `{"model":"m"}`)
			for _, word := range []string{"one", "two"} {
				if strings.Contains(body, word) {
					got = append(got, word)
				}
			}
		}
		if strings.Join(got, " ") != "one two two" {
			t.Errorf("answers %v", got)
		}
		calls := b.p.Calls("m")
		c := calls[2]
		if len(calls) != 3 || c.N != 3 || c.Key != "m" || c.Method != "POST" || c.Path != "/base/v1/responses" || c.Query != "a=1" ||
			c.Body != `{"model":"m"}` || c.Header.Get("Authorization") != "Bearer sk-secret" || c.At.IsZero() || !c.CallerLeft.IsZero() {
			t.Errorf("third call %+v", c)
		}
		if len(b.p.Calls("")) != 3 || len(b.p.Calls("other")) != 0 {
			t.Error("calls are not told apart")
		}
	})
}

func TestMostSpecialScriptPlays(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		for key, text := range map[string]string{"m": "model", "*": "star", "POST /responses/compact": "call",
			"POST /responses/compact special": "both"} {
			b.p.Script(key, Play(ReplyBody(200, "", text)))
		}
		for ask, want := range map[string]string{"/v1/responses m": "model", "/v1/responses x": "star",
			"/v1/responses/compact m": "call", "/v1/responses/compact special": "both"} {
			path, model, _ := strings.Cut(ask, " ")
			if _, got, _ := b.answer(path, stream(model)); got != want {
				t.Errorf("%s: %q, want %q", ask, got, want)
			}
		}
	})
}

func TestPick(t *testing.T) {
	p := New(Options{Scripts: map[string]Script{"m": Play(Answer("by model", nil)), "marked": Play(Answer("by body", nil))},
		Pick: func(body []byte) string {
			if strings.Contains(string(body), "mark") {
				return "marked"
			}
			return ""
		}})
	s := httptest.NewServer(p)
	defer s.Close()
	for body, want := range map[string]string{`{"model":"m"}`: "by model", `{"model":"m","input":"mark"}`: "by body"} {
		resp, err := http.Post(s.URL+"/v1/responses", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(got), want) {
			t.Errorf("%s: %s, want %q", body, got, want)
		}
	}
	if n := len(p.Calls("marked")); n != 1 {
		t.Errorf("%d calls of the picked script", n)
	}
}

func TestWaitCalls(t *testing.T) {
	virtualProvider(t, func(t *testing.T, b *bench) {
		b.p.Script("m", Play(Wait(time.Minute), Answer("x", nil)))
		start := time.Now()
		go func() {
			time.Sleep(time.Second)
			b.answer("/v1/responses", stream("m"))
		}()
		if _, err := b.p.WaitCalls(t.Context(), "m", 1); err != nil || time.Since(start) != time.Second {
			t.Errorf("call seen after %v: %v", time.Since(start), err)
		}
		if _, err := b.p.WaitDone(t.Context(), "m", 1); err != nil || time.Since(start) != time.Minute+time.Second {
			t.Errorf("end seen after %v: %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		calls, err := b.p.WaitCalls(ctx, "m", 2)
		if !errors.Is(err, context.DeadlineExceeded) || len(calls) != 1 {
			t.Errorf("%d calls, %v", len(calls), err)
		}
	})
}

func TestControlInterface(t *testing.T) {
	b := overTCP(t, nil)
	do := func(method, path, body string) string {
		t.Helper()
		req, err := http.NewRequest(method, "http://"+b.addr+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		got, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(res.StatusCode, " ", string(got))
	}
	want := func(got, part string) {
		t.Helper()
		if !strings.Contains(got, part) {
			t.Errorf("got %s, want %s", got, part)
		}
	}
	want(do("PUT", "/sim/scripts/openai/m", "- [created, {failed: server_error, message: costs $KEY}]"), "200 ")
	want(do("PUT", "/sim/scripts/bad", "- [creatd]"), `unknown word \"creatd\"`)
	want(do("GET", "/sim/scripts", ""), `{"models":{"openai/m":[[{"do":"created"},{"do":"failed","code":"server_error","message":"costs $KEY"}]]}}`)
	want(do("POST", "/v1/responses", `{"model":"openai/m"}`), `"status":"failed"`)
	var got struct{ Calls []Call }
	_, text, _ := strings.Cut(do("GET", "/sim/calls?model=openai/m", ""), " ")
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Calls) != 1 || got.Calls[0].Body != `{"model":"openai/m"}` {
		t.Errorf("calls %s: %v", text, err)
	}
	want(do("GET", "/sim/calls?model=x", ""), `{"calls":[]}`)
	want(do("DELETE", "/sim/calls", ""), "200 ")
	want(do("GET", "/sim/calls", ""), `{"calls":[]}`)
	want(do("GET", "/sim/else", ""), "404 ")
}

// As a handler of an http.Server the provider takes the connection over and serves its further requests itself.
func TestServeHTTP(t *testing.T) {
	p := New(Options{Scripts: map[string]Script{"m": Calls([]Step{Answer("Hello", nil)}, []Step{Created(), Wait(time.Millisecond), Reset()})}})
	srv := httptest.NewServer(p)
	defer srv.Close()
	post := func() (string, error) {
		res, err := http.Post(srv.URL+"/v1/chat/completions", "application/json", strings.NewReader(stream("m")))
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return string(b), err
	}
	if got, err := post(); err != nil || !strings.HasSuffix(got, "data: [DONE]\n\n") {
		t.Errorf("first answer %q, %v", got, err)
	}
	if got, err := post(); err == nil {
		t.Errorf("a reset was read as %q", got)
	}
	for _, c := range p.Calls("") {
		if c.Conn != 1 {
			t.Errorf("connection %d, want 1", c.Conn)
		}
	}
}

func TestExpectContinueAndHead(t *testing.T) {
	b := overTCP(t, map[string]Script{"m": Play(Answer("Hello", nil))})
	req, _ := http.NewRequest("POST", "http://"+b.addr+"/v1/messages", strings.NewReader(stream("m")))
	req.Header.Set("Expect", "100-continue")
	tr := &http.Transport{ExpectContinueTimeout: time.Minute}
	defer tr.CloseIdleConnections()
	res, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	res, err = http.Head("http://" + b.addr + "/")
	if err != nil || res.StatusCode != 200 {
		t.Errorf("HEAD: %v, %v", res, err)
	}
}

// Many clients at once on a real network, each with its own model: for the race detector.
func TestParallelCalls(t *testing.T) {
	b := overTCP(t, map[string]Script{"*": Play(Answer("Hello", nil))})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			res, err := http.Post("http://"+b.addr+"/v1/responses", "application/json", strings.NewReader(stream(fmt.Sprint("m", i))))
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			io.Copy(io.Discard, res.Body)
			b.p.Calls("")
		})
	}
	wg.Wait()
	if n := len(b.p.Calls("*")); n != 20 {
		t.Errorf("%d calls", n)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := memnet.New()
		l, _ := n.Listen("up:80")
		p := New(Options{Scripts: map[string]Script{"m": Play(Hang())}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Serve(ctx, l) }()
		c, err := n.Dial(t.Context(), "tcp", "up:80")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /v1/responses HTTP/1.1\r\nHost: up\r\nContent-Length: 13\r\n\r\n{\"model\":\"m\"}")
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the client read %v", err)
		}
	})
}

// Every entry of the catalogue plays in every protocol it is for, streamed and not, without complaint.
func TestCatalogPlays(t *testing.T) {
	paths := map[string]string{"responses": responsesPath, "chat": chatPath, "messages": messagesPath}
	for _, e := range Catalog() {
		for _, protocol := range e.Protocols {
			if e.Unreachable || testing.Short() && e.Name == "row-14" {
				continue
			}
			t.Run(e.Name+"/"+protocol, func(t *testing.T) {
				virtualProvider(t, func(t *testing.T, b *bench) {
					b.p.Script("m", e.Script)
					for _, body := range []string{stream("m"), `{"model":"m"}`} {
						c := b.send(paths[protocol], body)
						c.SetReadDeadline(time.Now().Add(24 * time.Hour))
						_, _, err := readAnswer(t, c)
						if errors.Is(err, os.ErrDeadlineExceeded) && !hangs(e.Script) {
							t.Errorf("silent: %v", err)
						}
						c.Close()
					}
					calls, err := b.p.WaitDone(t.Context(), "m", 2)
					if err != nil {
						t.Fatal(err)
					}
					for _, call := range calls {
						if call.Err != "" {
							t.Errorf("call %d: %s", call.N, call.Err)
						}
					}
				})
			})
		}
	}
}

func hangs(s Script) bool {
	last := s.Calls[0][len(s.Calls[0])-1]
	return last.Do == "hang"
}

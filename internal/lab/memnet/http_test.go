package memnet

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// serve runs an http.Server on the network and gives a client for it. Everything ends with the test.
func serve(t *testing.T, h http.Handler) *http.Client {
	t.Helper()
	n := New()
	l, err := n.Listen("api.test:80")
	if err != nil {
		t.Fatal(err)
	}
	srv, done := &http.Server{Handler: h}, make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	tr := &http.Transport{DialContext: n.Dial, IdleConnTimeout: time.Minute}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		srv.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return &http.Client{Transport: tr}
}

func TestHTTPStreamsOnTheVirtualClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conns := map[string]bool{}
		c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conns[r.RemoteAddr] = true
			io.Copy(io.Discard, r.Body)
			for range 3 {
				time.Sleep(time.Hour)
				io.WriteString(w, "tick\n")
				w.(http.Flusher).Flush()
			}
		}))
		for range 2 {
			start := time.Now()
			res, err := c.Post("http://api.test/x", "text/plain", strings.NewReader(strings.Repeat("x", 3*window)))
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(res.Body)
			for i := 1; lines.Scan(); i++ {
				if d := time.Since(start); d != time.Duration(i)*time.Hour {
					t.Errorf("line %d after %v", i, d)
				}
			}
			res.Body.Close()
		}
		if len(conns) != 1 {
			t.Errorf("%d connections, want one that is reused", len(conns))
		}
	})
}

func TestServerNoticesThatClientLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan time.Duration, 1)
		c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			w.(http.Flusher).Flush()
			<-r.Context().Done() // the server's background read sees the end
			gone <- time.Since(start)
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, "GET", "http://api.test/", nil)
		res, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(res.Body); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("read ended with %v", err)
		}
		res.Body.Close()
		if d := <-gone; d != 7*time.Second {
			t.Errorf("server noticed after %v", d)
		}
	})
}

func TestAbortedHandlerIsAReadError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}))
		res, err := c.Get("http://api.test/")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		got, err := io.ReadAll(res.Body)
		if string(got) != "half" || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("read %q, %v", got, err)
		}
	})
}

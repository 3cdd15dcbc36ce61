package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/test/stand"
)

// once posts with an Idempotency-Key.
func once(s *stand.Gateway, c stand.Customer, a api, body, key string) stand.Reply {
	return s.Do(c, "POST", a.path, strings.NewReader(body), http.Header{"Idempotency-Key": {key}, "Content-Type": {"application/json"}})
}

// A repeat gives the recorded answer byte for byte, under the first request's
// id, for one charge; on every surface, streamed or not.
func TestIdempotentRepeat(t *testing.T) {
	t.Parallel()
	s := limited(t)
	for _, a := range apis {
		for name, body := range map[string]string{"stream": a.stream(a.protocol[:1]), "whole": a.unstreamed(a.protocol[:1])} {
			c := s.NewCustomer("1")
			key := a.protocol + name
			first := once(s, c, a, body, key)
			wantGood(t, first)
			if first.Header.Get("Idempotent-Replayed") != "" {
				t.Error("the first answer says that it was replayed")
			}
			for range 3 {
				again := once(s, c, a, body, key)
				wantGood(t, again)
				if again.Body != first.Body || again.ID() != first.ID() || again.Header.Get("Idempotent-Replayed") != "true" ||
					again.Header.Get("Content-Type") != first.Header.Get("Content-Type") {
					t.Errorf("%s: the repeat differs: %v %q, first %v %q", key, again.Header, again.Body, first.Header, first.Body)
				}
			}
			other := once(s, c, a, strings.Replace(body, "Hi", "Ho", 1), key)
			wantFault(t, s, other, 409, "idempotency_key_conflict")
			if b := s.Balance(c); b.Available.String() != "0.999650000" {
				t.Errorf("%s: the balance is %s after one charge", key, b.Available)
			}
			if r := once(s, s.Default, a, body, key); r.Header.Get("Idempotent-Replayed") != "" || r.ID() == first.ID() {
				t.Errorf("%s: another customer got %v", key, r.Header)
			}
		}
	}
	for _, bad := range []string{"", strings.Repeat("x", 256), "ключ"} {
		wantFault(t, s, once(s, s.Default, apis[0], apis[0].stream("r"), bad), 400, "invalid_request")
	}
}

// The same request while it runs joins its stream; the first client may leave.
func TestIdempotentJoin(t *testing.T) {
	t.Parallel()
	for _, a := range apis {
		t.Run(a.protocol, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			up := &stand.Raw{Handle: func(c *stand.Exchange) bool {
				c.Stream()
				_ = c.Chunk(events[a.protocol].opening + events[a.protocol].output)
				<-release
				_ = c.Chunk(events[a.protocol].ending)
				return c.End()
			}}
			s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
			body := a.stream(a.protocol[:1])
			conn := dialWith(t, s, a.path, body, "Idempotency-Key: k\r\n")
			readUntil(t, conn, "Hello")
			replies := make(chan stand.Reply, 3)
			var seen sync.WaitGroup
			seen.Add(3)
			for range 3 {
				go func() {
					resp, err := open(s, a.path, body, "k")
					if err != nil {
						seen.Done()
						replies <- stand.Reply{Err: err}
						return
					}
					defer resp.Body.Close()
					var got []byte
					told := sync.OnceFunc(seen.Done)
					defer told()
					for {
						b := make([]byte, 1<<10)
						n, err := resp.Body.Read(b)
						if got = append(got, b[:n]...); strings.Contains(string(got), "Hello") {
							told()
						}
						if err != nil {
							if err == io.EOF {
								err = nil
							}
							replies <- stand.Reply{Status: resp.StatusCode, Header: resp.Header, Body: string(got), Err: err}
							return
						}
					}
				}()
			}
			seen.Wait() // all have output while the request runs
			conn.Close()
			must(t, 5*time.Second, "the first client's leaving is noticed and changes nothing", func() bool { return len(s.Records()) == 1 })
			close(release)
			var all []stand.Reply
			for range 3 {
				all = append(all, <-replies)
			}
			for _, r := range all {
				wantGood(t, r)
				if r.Body != all[0].Body || r.ID() != all[0].ID() || r.Header.Get("Idempotent-Replayed") != "true" {
					t.Errorf("%v %q; another got %v %q", r.Header, r.Body, all[0].Header, all[0].Body)
				}
			}
			rec := s.Record(all[0].ID())
			if rec.Outcome != journal.OutcomeCompleted || rec.Charge.String() != "0.000350000" || up.Calls.Load() != 1 || len(s.Records()) != 1 {
				t.Errorf("%d upstream calls, record %+v", up.Calls.Load(), rec)
			}
			again := once(s, s.Default, a, body, "k")
			if again.Body != all[0].Body {
				t.Errorf("recorded %q, joined %q", again.Body, all[0].Body)
			}
		})
	}
}

func open(s *stand.Gateway, path, body, key string) (*http.Response, error) {
	req, err := http.NewRequest("POST", s.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.Default.Key)
	req.Header.Set("Idempotency-Key", key)
	return s.HTTP.Do(req)
}

// What delivered nothing frees its key; what delivered something and failed is
// given again with its failure.
func TestIdempotentFailures(t *testing.T) {
	t.Parallel()
	up := &stand.Raw{}
	up.Handle = func(c *stand.Exchange) bool {
		switch {
		case c.N == 1: // refused
			return c.Whole(400, "application/json", `{"error":{"message":"no","type":"invalid_request_error","code":"bad"}}`)
		case c.N == 2: // cut after output
			c.Stream()
			_ = c.Chunk(events["responses"].opening + events["responses"].output)
			return c.Cut(true)
		}
		c.Stream()
		_ = c.Chunk(events["responses"].opening + events["responses"].output + events["responses"].ending)
		return c.End()
	}
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	a, body := apis[0], apis[0].stream("r")
	if r := once(s, s.Default, a, body, "k"); r.Status != 400 {
		t.Fatalf("status %d: %s", r.Status, r.Body)
	}
	cut := once(s, s.Default, a, body, "k")
	if cut.Status != 200 || !strings.Contains(cut.Body, "stream_read_error") || cut.Header.Get("Idempotent-Replayed") != "" {
		t.Fatalf("status %d: %s", cut.Status, cut.Body)
	}
	again := once(s, s.Default, a, body, "k")
	if again.Body != cut.Body || again.ID() != cut.ID() || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the repeat of a cut answer: %v %q", again.Header, again.Body)
	}
	if up.Calls.Load() != 2 {
		t.Errorf("%d upstream calls", up.Calls.Load())
	}
	// A refusal frees its key as well.
	c := keyOf(t, s, `"rpm":1`)
	wantGood(t, once(s, c, a, body, "k2"))
	wantFault(t, s, once(s, c, a, body, "k3"), 429, "rate_limit_exceeded")
	s.Operate("PATCH", "/admin/v1/keys/"+c.KeyID, map[string]any{"rpm": 0}, nil)
	wantGood(t, once(s, c, a, body, "k3"))
}

// A client that leaves alone ends its request; the repeat gets what it paid for,
// with an ending.
func TestIdempotentLeave(t *testing.T) {
	t.Parallel()
	left := make(chan bool, 1)
	up := &stand.Raw{Handle: func(c *stand.Exchange) bool {
		c.Stream()
		_ = c.Chunk(events["responses"].opening + events["responses"].output)
		left <- c.Gone(10 * time.Second)
		return false
	}}
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	body := apis[0].stream("r")
	conn := dialWith(t, s, apis[0].path, body, "Idempotency-Key: k\r\n")
	readUntil(t, conn, "Hello")
	conn.Close()
	if !<-left {
		t.Fatal("the upstream call goes on")
	}
	again := once(s, s.Default, apis[0], body, "k")
	if again.Status != 200 || !strings.Contains(again.Body, "Hello") || !strings.Contains(again.Body, "response.failed") {
		t.Errorf("status %d, %v: %q", again.Status, again.Err, again.Body)
	}
	if rec := s.Record(again.ID()); rec.Outcome != journal.OutcomeCancelled || rec.Charge == 0 || up.Calls.Load() != 1 {
		t.Errorf("the record: %+v", rec)
	}
}

// dialWith is dial with further header lines.
func dialWith(t *testing.T, s *stand.Gateway, path, body, header string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer %s\r\n%sContent-Length: %d\r\n\r\n%s",
		path, s.Default.Key, header, len(body), body)
	return conn
}

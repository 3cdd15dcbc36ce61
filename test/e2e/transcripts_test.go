package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"rubicon/internal/app"
	"rubicon/internal/books/journal"
	"rubicon/internal/wire/protocol/recorded"
	"rubicon/test/stand"
)

// play is what the player is asked to do with a transcript; it travels in the
// request, as an unknown field that the gateway must not touch.
type play struct {
	N    int    `json:"n"`
	CRLF bool   `json:"crlf,omitempty"`
	Cut  int    `json:"cut,omitempty"` // events that are sent before the cut, plus one; 0: all
	How  string `json:"how,omitempty"` // fin, reset, half
}

// library is the transcripts of all surfaces, and the upstream that plays them.
type library struct{ exchanges []recorded.Exchange }

func newLibrary(t *testing.T, streams bool) *library {
	l := &library{}
	for _, a := range apis {
		for _, e := range recorded.Load(t, a.protocol) {
			if e.Stream == streams {
				l.exchanges = append(l.exchanges, e)
			}
		}
	}
	return l
}

// records cuts a stream into its events, blank line included.
func records(body string) []string {
	all := strings.SplitAfter(body, "\n\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

func (l *library) upstream() *stand.Raw {
	return &stand.Raw{Handle: func(c *stand.Exchange) bool {
		var asked struct{ Play play }
		if json.Unmarshal(c.Body, &asked) != nil || asked.Play.N >= len(l.exchanges) {
			return c.Whole(400, "application/json", `{"error":{"message":"the request arrived changed"}}`)
		}
		return asked.Play.perform(c, l.exchanges[asked.Play.N])
	}}
}

func (p play) perform(c *stand.Exchange, e recorded.Exchange) bool {
	if !e.Stream {
		return c.Whole(e.Status, "application/json", e.Body)
	}
	body := e.Normal()
	c.Stream()
	if p.Cut == 0 {
		if p.CRLF {
			body = strings.ReplaceAll(body, "\n", "\r\n")
		}
		return c.Chunk(body) == nil && c.End()
	}
	all := records(body)
	sent := strings.Join(all[:p.Cut-1], "")
	if p.How == "half" {
		sent += all[p.Cut-1][:len(all[p.Cut-1])/2]
	}
	_ = c.Chunk(sent)
	return c.Cut(p.How == "reset")
}

// request is the transcript's own request, asking for the play.
func (p play) request(e recorded.Exchange) (path, body string) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(e.Request, &fields)
	for _, a := range apis {
		if a.protocol == e.Protocol {
			path = a.path
			fields["model"], _ = json.Marshal(a.protocol[:1])
		}
	}
	fields["play"], _ = json.Marshal(p)
	raw, _ := json.Marshal(fields)
	return path, string(raw)
}

// single gives every read of the gateway from upstream one byte.
func single(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &singleConn{Conn: conn, in: bufio.NewReader(conn)}, nil
}

type singleConn struct {
	net.Conn
	in *bufio.Reader
}

func (c *singleConn) Read(p []byte) (int, error) { return c.in.Read(p[:min(1, len(p))]) }

// eachOf runs n functions on as many goroutines as keep two cores busy.
func eachOf(n int, run func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range 12 {
		wg.Go(func() {
			for i := range next {
				run(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// Every recorded stream goes through byte for byte, with CRLF (which becomes
// LF) and one byte at a time too; its usage is the record's, and it ends once.
func TestTranscriptsStream(t *testing.T) {
	l := newLibrary(t, true)
	for _, mode := range []struct {
		name string
		crlf bool
		dial func(context.Context, string, string) (net.Conn, error)
	}{{name: "whole"}, {name: "CRLF", crlf: true}, {name: "one byte at a time", dial: single}} {
		t.Run(mode.name, func(t *testing.T) {
			s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": l.upstream()},
				App: app.Options{Dial: mode.dial}, Tune: patient, Credit: "100000.00"})
			ids := make([]string, len(l.exchanges))
			eachOf(len(l.exchanges), func(i int) {
				e := l.exchanges[i]
				path, body := play{N: i, CRLF: mode.crlf}.request(e)
				got := s.Post(s.Default, path, body)
				ids[i] = got.ID()
				if got.Status != 200 || got.Err != nil || got.Body != e.Normal() {
					t.Errorf("%s/%s: status %d, %v: %s", e.Protocol, e.Name, got.Status, got.Err, difference(got.Body, e.Normal()))
				}
			})
			checkUsages(t, s, l.exchanges, ids)
		})
	}
}

// Nobody asked: the usage chunk of Chat is upstream's answer to the gateway
// alone, and is taken out. Usage is known all the same.
func TestTranscriptsUnaskedUsage(t *testing.T) {
	l := newLibrary(t, true)
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": l.upstream()}, Tune: patient, Credit: "100000.00"})
	ids := make([]string, len(l.exchanges))
	eachOf(len(l.exchanges), func(i int) {
		e := l.exchanges[i]
		if e.Protocol != "chat" {
			return
		}
		path, body := play{N: i}.request(e)
		got := s.Post(s.Default, path, strings.Replace(body, `"stream_options":{"include_usage":true}`, `"stream_options":null`, 1))
		ids[i] = got.ID()
		if want := withoutUsageChunk(e.Normal()); got.Status != 200 || got.Body != want {
			t.Errorf("%s: status %d: %s", e.Name, got.Status, difference(got.Body, want))
		}
	})
	checkUsages(t, s, l.exchanges, ids)
}

// Answers that are not streamed come out byte for byte.
func TestTranscriptsWhole(t *testing.T) {
	l := newLibrary(t, false)
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": l.upstream()}, Tune: patient, Credit: "100000.00"})
	ids := make([]string, len(l.exchanges))
	eachOf(len(l.exchanges), func(i int) {
		e := l.exchanges[i]
		path, body := play{N: i}.request(e)
		got := s.Post(s.Default, path, body)
		ids[i] = got.ID()
		if got.Status != e.Status || got.Body != e.Body {
			t.Errorf("%s/%s: status %d: %s", e.Protocol, e.Name, got.Status, difference(got.Body, e.Body))
		}
	})
	checkUsages(t, s, l.exchanges, ids)
}

// checkUsages compares the records with the transcripts' own usage.
func checkUsages(t *testing.T, s *stand.Gateway, exchanges []recorded.Exchange, ids []string) {
	t.Helper()
	all := s.Records()
	var charged int64
	for i, e := range exchanges {
		if ids[i] == "" {
			continue
		}
		r := all[ids[i]]
		charged += int64(r.Charge)
		want, known := usageOf(e)
		got := tokens{r.Usage.Input, r.Usage.CachedInput, r.Usage.CacheWrite, r.Usage.Output}
		switch {
		case r.Outcome != journal.OutcomeCompleted && r.Outcome != journal.OutcomeIncomplete:
			t.Errorf("%s/%s: outcome %s", e.Protocol, e.Name, r.Outcome)
		case !known && r.Usage.Source != "estimated":
			t.Errorf("%s/%s: %s usage where none was reported", e.Protocol, e.Name, r.Usage.Source)
		case known && (r.Usage.Source != "reported" || got != want):
			t.Errorf("%s/%s: %s usage %+v, want %+v", e.Protocol, e.Name, r.Usage.Source, got, want)
		}
	}
	if b := s.Balance(s.Default); int64(b.Available) != 100_000*1_000_000_000-charged {
		t.Errorf("the balance of %v is not the credit without %d nano-USD", b.Available, charged)
	}
}

// difference shows where two texts part.
func difference(got, want string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	end := func(s string) string { return s[max(0, i-60):min(len(s), i+120)] }
	if got == want {
		return "the same"
	}
	return fmt.Sprintf("after %d of %d bytes, got\n%q, want\n%q", i, len(want), end(got), end(want))
}

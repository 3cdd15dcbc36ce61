package e2e

import (
	"bufio"
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

// running is a request that runs when SIGTERM comes.
type running struct {
	name    string
	api     int // of apis
	whole   bool
	before  string // events that upstream has sent, by name
	ends    bool   // upstream ends it within the grace time
	outcome journal.Outcome
	charged bool
	reply   stand.Reply
}

// At SIGTERM running requests may finish within the grace time; those that do
// not are ended with shutting_down and settled. New requests meanwhile are told.
func TestSIGTERM(t *testing.T) {
	cases := []*running{
		{name: "ends in time", api: 0, before: "output", ends: true, outcome: journal.OutcomeCompleted, charged: true},
		{name: "whole answer in time", api: 1, whole: true, ends: true, outcome: journal.OutcomeCompleted, charged: true},
		{name: "responses after output", api: 0, before: "output", outcome: journal.OutcomePartial, charged: true},
		{name: "chat after output", api: 1, before: "output", outcome: journal.OutcomePartial, charged: true},
		{name: "messages after output", api: 2, before: "output", outcome: journal.OutcomePartial, charged: true},
		{name: "responses held", api: 0, before: "opening", outcome: journal.OutcomeFailed},
		{name: "messages held", api: 2, before: "opening", outcome: journal.OutcomeFailed},
		{name: "nothing yet", api: 0, outcome: journal.OutcomeFailed},
		{name: "whole answer too late", api: 0, whole: true, outcome: journal.OutcomeFailed},
	}
	there, finish := make(chan struct{}, len(cases)), make(chan struct{})
	up := &stand.Raw{Handle: func(c *stand.Exchange) bool { return stay(c, cases, there, finish) }}
	config := configFile(t, peersOf("timers: {shutdown_grace: 1500ms}", "alpha"), map[string]string{"alpha": provider(t, up)})
	p := serve(t, config)
	customer := p.NewCustomer("100.00")
	var wg sync.WaitGroup
	for _, c := range cases {
		wg.Go(func() { c.send(p, customer) })
	}
	for range cases {
		<-there
	}
	ended := make(chan int, 1)
	go func() { ended <- p.terminate(t) }()
	must(t, 5*time.Second, "new requests are refused", func() bool {
		return refusesNew(t, p.URL+"/readyz") && refusesNew(t, p.URL+"/v1/models")
	})
	for _, size := range []int{100 << 10, 4 << 20} {
		refusesUpload(t, p, customer, size)
	}
	close(finish)
	wg.Wait()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.tail())
	}
	again := serve(t, config)
	if b := again.Balance(customer); b.Held != 0 {
		t.Errorf("%v is held", b.Held)
	}
	again.Verify()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.check(t, again) })
	}
}

// stay plays what a case has sent, then waits: to end, or until it is left.
func stay(c *stand.Exchange, cases []*running, there chan<- struct{}, finish <-chan struct{}) bool {
	var r *running
	for _, x := range cases {
		if strings.Contains(string(c.Body), `"user":"`+x.name+`"`) {
			r = x
		}
	}
	e := events[apis[r.api].protocol]
	if r.before != "" {
		c.Stream()
		_ = c.Chunk(e.opening)
	}
	if r.before == "output" {
		_ = c.Chunk(e.output)
	}
	there <- struct{}{}
	if !r.ends {
		c.Gone(20 * time.Second)
		return false
	}
	<-finish
	if r.whole {
		return c.Whole(200, "application/json", e.answer)
	}
	return c.Chunk(e.ending) == nil && c.End()
}

func (r *running) send(p *process, c stand.Customer) {
	a := apis[r.api]
	body := a.stream(a.protocol[:1])
	if r.whole {
		body = a.unstreamed(a.protocol[:1])
	}
	r.reply = p.Post(c, a.path, strings.Replace(body, "{", `{"user":"`+r.name+`",`, 1))
}

func (r *running) check(t *testing.T, p *process) {
	protocol := apis[r.api].protocol
	e := events[protocol]
	before := map[string]string{"output": e.opening + e.output, "opening": e.opening}[r.before]
	switch {
	case r.ends && r.whole:
		if r.reply.Body != e.answer {
			t.Errorf("got %d %s", r.reply.Status, r.reply.Body)
		}
	case r.ends:
		if want := before + e.ending; r.reply.Body != want || r.reply.Err != nil {
			t.Errorf("got %d %s %v", r.reply.Status, r.reply.Body, r.reply.Err)
		}
	case before != "" && (protocol == "responses" || r.before == "output"):
		checkBroken(t, protocol, r.reply, before, "shutting_down")
	default:
		checkFault(t, r.reply, protocol, 503, "shutting_down")
		if r.reply.Header.Get("Retry-After") == "" {
			t.Error("503 without retry-after")
		}
	}
	rec := p.Record(r.reply.ID())
	if rec.Outcome != r.outcome || r.charged != (rec.Charge > 0) || !r.ends && (rec.Error == nil || rec.Error.Code != "shutting_down") {
		t.Errorf("record %s, charge %v, error %+v", rec.Outcome, rec.Charge, rec.Error)
	}
}

// refusesNew reports whether a GET without a key is answered with shutting_down.
func refusesNew(t *testing.T, url string) bool {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return err == nil && res.StatusCode == 503 && strings.Contains(string(body), `"code":"shutting_down"`) &&
		res.Header.Get("Retry-After") != "" && res.Header.Get("X-Should-Retry") == "true" && res.Close
}

// refusesUpload: a client that sends everything before it looks reads why it was
// refused, and not a reset connection.
func refusesUpload(t *testing.T, p *process, c stand.Customer, size int) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST /v1/responses HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", c.Key, size); err != nil {
		t.Fatal(err)
	}
	for rest := size; rest > 0; rest -= 4 << 10 { // in pieces, as a network brings them
		if _, err := conn.Write(make([]byte, min(rest, 4<<10))); err != nil {
			t.Errorf("%d bytes: %d before the end the gateway let no more be sent: %v", size, rest, err)
			return
		}
		if rest == size {
			time.Sleep(50 * time.Millisecond)
		}
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode != 503 {
		t.Errorf("status %d", resp.StatusCode)
	}
}

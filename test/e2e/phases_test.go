package e2e

import (
	"bufio"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/store/pgtest"
	"rubicon/test/stand"
)

// leaveMoment is a phase of a request at which something dies.
type leaveMoment struct {
	name string
	// upside is what upstream does, on a Responses stream.
	upside func(c *stand.Exchange)
	read   string // what the client has read by then; "" nothing
	// settling: it is in the middle of its settlement.
	settling bool
	// dials: upstream does not even take the connection.
	dials bool
	// complete: upstream's answer is there whole.
	complete bool
}

var moments = []leaveMoment{
	{name: "after the hold", dials: true},
	{name: "after dispatch", upside: func(*stand.Exchange) {}},
	{name: "during output", read: "Hello", upside: func(c *stand.Exchange) {
		c.Stream()
		_ = c.Chunk(events["responses"].opening + events["responses"].output)
	}},
	{name: "after the terminal event", read: "response.completed", complete: true, upside: func(c *stand.Exchange) {
		c.Stream()
		_ = c.Chunk(events["responses"].opening + events["responses"].output + events["responses"].ending)
	}},
	{name: "during settlement", read: "Hello", settling: true, complete: true, upside: func(c *stand.Exchange) {
		c.Stream()
		_ = c.Chunk(events["responses"].opening + events["responses"].output)
	}},
}

// leaveCase is a request that has come to a moment.
type leaveCase struct {
	leaveMoment
	store  string
	config string
	arrive chan struct{} // upstream was reached
	going  chan struct{} // lets upstream go on
}

// newScene sets up an upstream that stops at the moment.
func newScene(t *testing.T, m leaveMoment, store string) *leaveCase {
	t.Helper()
	s := &leaveCase{leaveMoment: m, store: store, arrive: make(chan struct{}, 10), going: make(chan struct{})}
	url := ""
	if m.dials {
		url = "http://" + deaf(t, s.arrive) + "/v1"
	} else {
		url = provider(t, &stand.Raw{Handle: func(c *stand.Exchange) bool {
			m.upside(c)
			s.arrive <- struct{}{}
			if m.settling {
				<-s.going
				_ = c.Chunk(events["responses"].ending)
			}
			c.Gone(30 * time.Second)
			return false
		}})
	}
	s.config = configOn(t, store, "timers: {connect: 60s}\n"+peersOf("", "alpha"), map[string]string{"alpha": url})
	return s
}

// deaf is an address that takes no more connections: its queue is full.
func deaf(t *testing.T, arrive chan<- struct{}) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	a := name.(*syscall.SockaddrInet4)
	addr := (&net.TCPAddr{IP: net.IP(a.Addr[:]), Port: a.Port}).String()
	for range 3 { // until it is full
		c, err := net.DialTimeout("tcp", addr, 200*time.Millisecond)
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
		}
	}
	arrive <- struct{}{}
	return addr
}

// come brings a request to the moment; the client's connection stays open.
func (s *leaveCase) come(t *testing.T, p *process, c stand.Customer) (id string, client *listener) {
	t.Helper()
	client = ask(t, p.URL, c, "/v1/responses", apis[0].stream("r"))
	switch {
	case s.dials:
		must(t, 10*time.Second, "a hold", func() bool { return p.Balance(c).Held > 0 })
	default:
		<-s.arrive
	}
	if s.read != "" {
		client.until(s.read)
	}
	if s.upside != nil && s.read != "" && !s.complete || s.settling {
		// Progress is noted once a second, and only that is known after a kill.
		must(t, 10*time.Second, "noted progress", func() bool { return len(p.Records()) == 1 && noted(t, s.store) })
	}
	for id = range p.Records() {
	}
	return id, client
}

// listener is a client in the middle of its answer.
type listener struct {
	t    *testing.T
	conn net.Conn
	resp *http.Response
	got  []byte
}

// ask sends a request and does not wait for its answer.
func ask(t *testing.T, url string, c stand.Customer, path, body string) *listener {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	req, err := http.NewRequest("POST", url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Key)
	req.Header.Set("Content-Type", "application/json")
	if err := req.Write(conn); err != nil {
		t.Fatal(err)
	}
	return &listener{t: t, conn: conn}
}

// until reads on until something was said.
func (l *listener) until(want string) {
	l.t.Helper()
	_ = l.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	if l.resp == nil {
		var err error
		if l.resp, err = http.ReadResponse(bufio.NewReader(l.conn), nil); err != nil {
			l.t.Fatal(err)
		}
	}
	for b := make([]byte, 1024); !strings.Contains(string(l.got), want); {
		n, err := l.resp.Body.Read(b)
		l.got = append(l.got, b[:n]...)
		if err != nil && !strings.Contains(string(l.got), want) {
			l.t.Fatalf("the answer ended with %v at %q", err, l.got)
		}
	}
}

// resolved wants what every hold must come to, whoever died when.
func (s *leaveCase) resolved(t *testing.T, p *process, c stand.Customer, id string) {
	t.Helper()
	must(t, 20*time.Second, "the hold's end", func() bool { return p.Freed(c) })
	r := p.Record(id)
	kinds := p.Kinds(id)
	settled, released := slices.Contains(kinds, "settle"), slices.Contains(kinds, "release")
	if kinds[0] != "hold" || settled == released || len(kinds) > 3 {
		t.Errorf("transactions %v", kinds)
	}
	if output := s.read != ""; settled != output {
		t.Errorf("output delivered %t, transactions %v, outcome %s", output, kinds, r.Outcome)
	}
	p.Verify()
}

// The gateway is killed at every moment of a request, and the next start
// resolves its hold.
func TestKilledAtEveryMoment(t *testing.T) {
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			onEach(t, func(t *testing.T, store string) {
				t.Parallel()
				s := newScene(t, m, store)
				p := serve(t, s.config)
				c := p.NewCustomer("10.00")
				id, _ := s.come(t, p, c)
				unblock := func() {}
				if m.settling {
					unblock = blockWrites(t, store)
					close(s.going)
					// The settlement waits for its turn; nothing shows that.
					time.Sleep(100 * time.Millisecond)
				}
				p.kill()
				unblock()
				p = serve(t, s.config)
				s.resolved(t, p, c, id)
				if r := p.Record(id); !m.complete && r.Outcome != journal.OutcomeFailed && r.Outcome != journal.OutcomePartial {
					t.Errorf("outcome %s", r.Outcome)
				}
			})
		})
	}
}

// Another node resolves what a killed one left behind, after its lease.
func TestAnotherNodeTakesOver(t *testing.T) {
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			store := pgtest.Database(t)
			s := newScene(t, m, store)
			first := serve(t, s.config)
			second := serve(t, configOn(t, store, peersOf("", "alpha"), map[string]string{"alpha": "http://127.0.0.1:1/v1"}))
			c := first.NewCustomer("10.00")
			id, _ := s.come(t, first, c)
			unblock := func() {}
			if m.settling {
				unblock = blockWrites(t, store)
				close(s.going)
				time.Sleep(100 * time.Millisecond)
			}
			first.kill()
			unblock()
			s.resolved(t, second, c, id)
		})
	}
}

// PostgreSQL is killed at every moment of a request: the client sees nothing of
// it, and the money comes out right once the server is back.
func TestDatabaseKilledAtEveryMoment(t *testing.T) {
	for _, m := range moments[1:] {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			server, store := ownServer(t)
			s := newScene(t, m, store)
			p := serve(t, s.config)
			c := p.NewCustomer("10.00")
			id, client := s.come(t, p, c)
			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
			if m.settling {
				close(s.going)
				client.until("response.completed") // its end does not wait for the server
			}
			_ = client.conn.Close()
			if err := server.Up(); err != nil {
				t.Fatal(err)
			}
			s.resolved(t, p, c, id)
			if r := p.Record(id); m.complete && (r.Outcome != journal.OutcomeCompleted || r.Charge.String() != "0.000350000") {
				t.Errorf("%s, %s", r.Outcome, r.Charge)
			}
		})
	}
}

// noted reports whether progress of a running request is in the database.
func noted(t *testing.T, store string) bool {
	t.Helper()
	var n int
	scanRow(t, store, "SELECT COUNT(*) FROM running_requests WHERE output_events > 0", &n)
	return n > 0
}

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/lab/sim"
	"rubicon/test/stand"
)

// answering is an upstream that answers well.
func answering() *sim.Provider {
	return sim.New(sim.Options{Scripts: map[string]sim.Script{"up": sim.Play(sim.Answer("Hi", sim.Tokens(10, 0, 5)))}})
}

// living is how much memory is in use, garbage apart.
func living() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// connect opens a connection of a client and sends the beginning of something.
func connect(t *testing.T, s *stand.Gateway, beginning string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, beginning); err != nil {
		t.Fatal(err)
	}
	return conn
}

// answerOn reads an answer whole.
func answerOn(t *testing.T, conn net.Conn) (status int, body string) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// claim is the head of a request that announces the largest body there may be.
func claim(key string) string {
	return fmt.Sprintf("POST /v1/responses HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer %s\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", key, 32<<20)
}

// began waits until the gateway reads the body of a request.
func began(t *testing.T, conn net.Conn) {
	t.Helper()
	want := "HTTP/1.1 100 Continue\r\n\r\n"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		t.Fatalf("%q, %v", got, err)
	}
}

// An announcement costs no memory: requests that claim more than the whole
// limit together leave it to those that pay.
func TestClaimedBodies(t *testing.T) {
	s := stand.Start(t, stand.Options{Config: peersOf("limits: {memory: 512MiB}", "alpha"), Peers: map[string]stand.Peer{"alpha": answering()}})
	poor := s.NewCustomer("")
	before := living()
	for range 40 {
		conn := connect(t, s, claim(poor.Key))
		began(t, conn)
		if _, err := io.WriteString(conn, "{"); err != nil {
			t.Fatal(err)
		}
	}
	if took := living() - before; took > 16<<20 {
		t.Errorf("%d bytes for 40 bodies of one byte", took)
	}
	wantGood(t, s.Post(s.Default, "/v1/responses", apis[0].stream("r")))
}

// What is really sent counts against its customer, who has a share: the others
// are served.
func TestUploadsHaveAShare(t *testing.T) {
	s := stand.Start(t, stand.Options{Config: peersOf("limits: {memory: 512MiB}", "alpha"), Peers: map[string]stand.Peer{"alpha": answering()}})
	poor := s.NewCustomer("")
	before := living()
	body := strings.Repeat("x", 20<<20)
	for range 4 { // 32 MiB each: a buffer doubles
		conn := connect(t, s, claim(poor.Key))
		began(t, conn)
		if _, err := io.WriteString(conn, body); err != nil {
			t.Fatal(err)
		}
	}
	must(t, 20*time.Second, "four bodies are in memory", func() bool { return living()-before > 120<<20 })
	conn := connect(t, s, strings.Replace(claim(poor.Key), "Expect: 100-continue\r\n", "", 1))
	if _, err := io.WriteString(conn, body+body[:12<<20]); err != nil {
		t.Fatal(err)
	}
	status, text := answerOn(t, conn)
	if status != 429 || !strings.Contains(text, `"code":"concurrency_limit"`) {
		t.Errorf("the fifth: %d %s", status, text)
	}
	if took := living() - before; took > 150<<20 {
		t.Errorf("%d bytes are in use", took)
	}
	wantGood(t, s.Post(s.Default, "/v1/responses", apis[0].stream("r")))
}

// Connections on which nothing runs make place for those with a request.
func TestIdleConnections(t *testing.T) {
	s := stand.Start(t, stand.Options{Config: peersOf("limits: {connections: 50}", "alpha"), Peers: map[string]stand.Peer{"alpha": answering()}})
	for i := range 200 {
		conn := connect(t, s, "GET /healthz HTTP/1.1\r\nHost: gw\r\n\r\n")
		if status, text := answerOn(t, conn); status != 200 {
			t.Fatalf("connection %d: %d %s", i, status, text)
		}
		if i%50 == 49 {
			s.HTTP.CloseIdleConnections()
			wantGood(t, s.Post(s.Default, "/v1/responses", apis[0].stream("r")))
		}
	}
}

// A request that names more of upstream state than any needs is refused before
// any of it is looked up, and one of a key at its limit before it is read.
func TestManyNamesOfState(t *testing.T) {
	up := answering()
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	key := keyOf(t, s, `"rpm":1`)
	item := `{"type":"item_reference","id":"msg_0123456789"},`
	body := `{"model":"r","store":false,"input":[` + strings.Repeat(item, 600_000) + `{"type":"item_reference","id":"msg"}]}`
	before, most := living(), peak()
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]int{}
	for range 12 {
		wg.Go(func() {
			r := s.Post(key, "/v1/responses", body)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case r.Status == 429 && strings.Contains(r.Body, `"rate_limit_exceeded"`):
				seen["limited"]++
			case r.Status == 400 && strings.Contains(r.Body, `"invalid_request"`) && strings.Contains(r.Body, "1000"):
				seen["too many"]++
			default:
				t.Errorf("%d %.300s, %v", r.Status, r.Body, r.Err)
			}
		})
	}
	wg.Wait()
	if grew := most(); grew > 200<<20 {
		t.Errorf("%d bytes at the most", grew)
	}
	if left := living() - before; left > 16<<20 {
		t.Errorf("%d bytes are still in use", left)
	}
	if seen["limited"] == 0 || seen["too many"] == 0 || len(up.Calls("")) != 0 {
		t.Errorf("%v, %d upstream calls", seen, len(up.Calls("")))
	}
	wantGood(t, s.Post(key, "/v1/responses", apis[0].stream("r"))) // what was refused took no request
}

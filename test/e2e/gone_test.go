package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/test/stand"
)

// events are what a Raw upstream says, by protocol.
var events = map[string]struct{ opening, output, ending, answer string }{
	"responses": {
		opening: "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"output\":[]}}\n\n",
		output:  "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":1,\"output_index\":0,\"content_index\":0,\"item_id\":\"msg_1\",\"delta\":\"Hello\"}\n\n",
		ending:  "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":2,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"completed\",\"output\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":5,\"total_tokens\":15}}}\n\n",
		answer:  `{"id":"resp_1","object":"response","status":"completed","output":[],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}`,
	},
	"chat": {
		opening: "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
		output:  "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null}]}\n\n",
		ending: "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"total_tokens\":15}}\n\n" +
			"data: [DONE]\n\n",
		answer: `{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`,
	},
	"messages": {
		opening: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n",
		output:  "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n",
		ending: "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		answer: `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":5}}`,
	},
}

// leavePhase is a moment at which a client leaves.
type leavePhase struct {
	name   string
	config string
	stream bool
	upside func(c *stand.Exchange, protocol string) // what upstream does before it waits for the gateway to leave
	read   string                                   // the client leaves once it has read this; "" at once when upstream got there
	first  bool                                     // the first attempt fails retryably; the client leaves in the second
	paid   bool                                     // output was delivered
}

var phases = []leavePhase{
	{name: "before the status line", stream: true, upside: func(*stand.Exchange, string) {}},
	{name: "after the status line", stream: true, upside: func(c *stand.Exchange, _ string) { c.Stream() }},
	{name: "while lifecycle events are held", stream: true, upside: func(c *stand.Exchange, p string) {
		c.Stream()
		_ = c.Chunk(events[p].opening)
	}},
	{name: "after the hold's deadline", config: "timers: {event_hold: 1ms}", stream: true, read: "\n\n", upside: func(c *stand.Exchange, p string) {
		c.Stream()
		_ = c.Chunk(events[p].opening)
	}},
	{name: "in the middle of output", stream: true, read: "Hello", paid: true, upside: func(c *stand.Exchange, p string) {
		c.Stream()
		_ = c.Chunk(events[p].opening + events[p].output)
	}},
	{name: "in the middle of an event", stream: true, read: "Hello", paid: true, upside: func(c *stand.Exchange, p string) {
		c.Stream()
		_ = c.Chunk(events[p].opening + events[p].output + events[p].output[:30])
	}},
	{name: "in the second attempt, held", stream: true, first: true, upside: func(c *stand.Exchange, p string) {
		c.Stream()
		_ = c.Chunk(events[p].opening)
	}},
	{name: "in the second attempt, output", stream: true, first: true, read: "Hello", paid: true, upside: func(c *stand.Exchange, p string) {
		c.Stream()
		_ = c.Chunk(events[p].opening + events[p].output)
	}},
	{name: "not streaming, before the status line", upside: func(*stand.Exchange, string) {}},
	{name: "not streaming, in the body", upside: func(c *stand.Exchange, p string) {
		c.Head(200, "application/json")
		_ = c.Chunk(events[p].answer[:20])
	}},
	{name: "not streaming, in the second attempt", first: true, upside: func(*stand.Exchange, string) {}},
}

// A client that leaves at any phase: upstream is cancelled within a second, the
// hold is settled or released once, the outcome is cancelled.
func TestClientGone(t *testing.T) {
	for _, ph := range phases {
		for _, a := range apis {
			t.Run(a.protocol+"/"+ph.name, func(t *testing.T) {
				t.Parallel()
				clientGone(t, a, ph)
			})
		}
	}
}

func clientGone(t *testing.T, a api, ph leavePhase) {
	there, left := make(chan struct{}), make(chan bool, 1)
	good := &stand.Raw{}
	good.Handle = func(c *stand.Exchange) bool {
		ph.upside(c, a.protocol)
		close(there)
		left <- c.Gone(10 * time.Second)
		return false
	}
	peers, yaml := map[string]stand.Peer{"beta": good}, peersOf(ph.config, "beta")
	if ph.first {
		peers["alpha"] = &stand.Raw{Handle: func(c *stand.Exchange) bool {
			return c.Whole(500, "application/json", `{"error":{"message":"no","type":"server_error","code":"server_error"}}`)
		}}
		yaml = peersOf(ph.config, "alpha", "beta")
	}
	s := stand.Start(t, stand.Options{Config: yaml, Peers: peers})
	body := a.unstreamed(a.protocol[:1])
	if ph.stream {
		body = a.stream(a.protocol[:1])
	}
	conn := dial(t, s, a.path, body)
	got := ""
	if ph.read != "" {
		got = readUntil(t, conn, ph.read)
	}
	<-there
	start := time.Now()
	conn.Close()
	if !<-left {
		t.Fatal("the upstream call goes on although the client left")
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("upstream was cancelled %v after the client had left", took)
	}
	checkGone(t, s, ph, got)
}

func checkGone(t *testing.T, s *stand.Gateway, ph leavePhase, got string) {
	t.Helper()
	var r journal.Record
	must(t, 5*time.Second, "a final record", func() bool {
		for _, r = range s.Records() {
		}
		return r.Outcome != "" && r.Outcome != journal.OutcomeRunning
	})
	if r.Outcome != journal.OutcomeCancelled || r.Error != nil {
		t.Errorf("outcome %s with error %v, want cancelled without", r.Outcome, r.Error)
	}
	if r.AfterOutput != ph.paid {
		t.Errorf("after_output %t, want %t; the client read %q", r.AfterOutput, ph.paid, got)
	}
	last := r.Attempts[len(r.Attempts)-1]
	if last.Failure != "client_gone" || last.Reason != "client_disconnected" || last.Verdict != "deliver" {
		t.Errorf("the attempt ended with %s, %s, %s", last.Failure, last.Verdict, last.Reason)
	}
	want := []string{"hold", "release", "cost"}
	if ph.paid {
		want = []string{"hold", "settle", "cost"}
	}
	if ph.first {
		want = append(want, "cost")
		if len(r.Attempts) != 2 || r.Attempts[0].Verdict != "replay" {
			t.Errorf("attempts %+v", r.Attempts)
		}
	}
	if kinds := s.Kinds(r.RequestID); !slices.Equal(kinds, want) {
		t.Errorf("transactions %v, want %v", kinds, want)
	}
	if ph.paid != (r.Charge > 0) || ph.paid != (r.Usage.Source == "estimated") {
		t.Errorf("charge %v from %s usage %+v", r.Charge, r.Usage.Source, r.Usage)
	}
}

// dial sends a request over a connection of the test's own.
func dial(t *testing.T, s *stand.Gateway, path, body string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, s.Default.Key, len(body), body)
	return conn
}

// readUntil reads until the text ends with what is wanted or holds it.
func readUntil(t *testing.T, conn net.Conn, want string) string {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for !strings.Contains(string(got), want) {
		b := make([]byte, 1024)
		n, err := resp.Body.Read(b)
		got = append(got, b[:n]...)
		if err == io.EOF || err != nil {
			t.Fatalf("the answer ended with %v at %q", err, got)
		}
	}
	return string(got)
}

package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const least = "title: t\nwhy: w\nupstream: {a: [[{answer: Hi}]]}\nrequest: {}\nexpect: {calls: {a: 1}}\n"

func TestParse(t *testing.T) {
	s, err := parse([]byte(least))
	if err != nil {
		t.Fatal(err)
	}
	all := s.Requests()
	if len(all) != 1 || all[0].Name != "1" || all[0].Surface != surfaceResponses || all[0].Customer != mainCustomer {
		t.Errorf("requests: %+v", all)
	}
	if !s.Streams() {
		t.Error("has no twin")
	}
	if diff := cmp.Diff([]string{"a"}, s.Channels()); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, was, is, want string }{
		{"unknown field", "request: {}", "request: {}\nrequests: []", "unknown field"},
		{"unknown field of a request", "request: {}", "request: {surfaces: x}", "unknown field"},
		{"unknown expectation", "calls: {a: 1}", "calls: {a: 1}, verdict: x", "unknown field"},
		{"no why", "why: w", "row: x", "title and why"},
		{"no calls", "{calls: {a: 1}}", "{status: 200}", "expect.calls is required"},
		{"no request", "request: {}\n", "", "no request"},
		{"no such surface", "request: {}", "request: {surface: telnet}", "no such surface"},
		{"no such customer", "request: {}", "request: {customer: x}", "no such customer"},
		{"two things in a step", "request: {}", "steps: [{request: {}, wait: 1s}]", "says 2 things"},
		{"an empty step", "request: {}", "steps: [{request: {}}, {}]", "says 0 things"},
		{"one name twice", "request: {}", "steps: [{request: {name: x}}, {request: {name: x}}]", `named "x"`},
		{"a name of two words", "request: {}", "request: {name: x y}", "a name is one word"},
		{"whose expectation", "request: {}\nexpect: {", "steps: [{request: {}}, {request: {}}]\nexpect: {status: 200, ", "own expect"},
		{"a racing reset", "{answer: Hi}", "created, reset", "put {wait: 10ms} between"},
		{"a racing cut", "{answer: Hi}", "{cut: 10, how: reset}, {answer: Hi}", "use fin"},
		{"a script without end", "{answer: Hi}", "created", "does not say how it ends"},
		{"duplicate", "title: t", "title: t\ntitle: u", "already defined"},
		{"unknown fault", "title: t", "title: t\nfault: earthquake", "fault:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(least, c.was, c.is, 1)
			if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q for:\n%s", err, c.want, text)
			}
		})
	}
}

func TestBodiesAreLaidOver(t *testing.T) {
	s, err := parse([]byte(strings.Replace(least, "request: {}", `request: {body: {store: null, stream: "$null", input: [{role: user}], extra: {b: 1, a: 2}}}`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := (&installation{t: t}).bodyOf(s.Requests()[0])
	want := `{"model":"m","input":[{"role":"user"}],"stream":null,"pad":"-----------","extra":{"b":1,"a":2}}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestTwinsAreEquallyLong: what is estimated from a body's length must be equal.
func TestTwinsAreEquallyLong(t *testing.T) {
	st := &installation{t: t}
	http, err := st.bodyOf(&Request{Surface: surfaceResponses})
	if err != nil {
		t.Fatal(err)
	}
	socket, err := st.bodyOf(&Request{Surface: surfaceSocket})
	if err != nil || len(http) != len(socket) {
		t.Errorf("%d and %d bytes: %s, %s, %v", len(http), len(socket), http, socket, err)
	}
}

const three = "title: t\nwhy: w\nprotocols: [responses, chat, messages]\nupstream: {a: [[{answer: Hi}]], b: [[{answer: Ho}]]}\nrequest: {}\n" +
	"expect: {calls: {a: 1, b: 0}, text: Hi, first: 1s}\nchat: {upstream: {b: null}, expect: {calls: {b: null}, text: Hey}}\n"

// TestProtocols: one file is a scenario for each protocol, with what stands under
// the protocol's name laid over it.
func TestProtocols(t *testing.T) {
	all, err := Parse([]byte(three))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprint(s.Protocol, " ", s.Requests()[0].Surface, " ", s.Channels(), " ", *s.Expect.Text, " ", s.Streams()))
	}
	want := []string{"responses responses [a b] Hi true", "chat chat [a] Hey false", "messages messages [a b] Hi false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestProtocolsRefused(t *testing.T) {
	for _, c := range []struct{ name, was, is, want string }{
		{"one", "[responses, chat, messages]", "[chat]", "two or three"},
		{"twice", "messages]", "chat]", "each once"},
		{"unknown", "messages]", "gemini]", "each once"},
		{"both words", "why: w", "why: w\nprotocol: chat", "one of them"},
		{"of another", "responses, chat, messages", "responses, messages", "none of its protocols"},
		{"no mapping", "chat: {", "messages: 1\nchat: {", "no mapping"},
		{"unknown field", "chat: {", "messages: {reqest: {}}\nchat: {", "unknown field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(three, c.was, c.is, 1)
			if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q for:\n%s", err, c.want, text)
			}
		})
	}
}

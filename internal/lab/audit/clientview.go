package audit

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// clientView is what the client saw of one request.
type clientView struct {
	status int // of HTTP, or of a WebSocket's error frame; 0: no answer
	header http.Header
	socket bool
	raw    []byte // everything that came, bounded

	events   int
	openings int      // events that begin an answer
	ids      []string // of answers
	text     strings.Builder
	tools    []toolSeen
	finish   string // the reason that the answer gives for its end
	done     int    // events that end an answer well
	failures []failureSeen
	after    int // events behind an ending
	unread   int // events that are no JSON
	usage    *usageSeen

	first, firstOutput, total time.Duration // since the request was sent; 0: never
	end                       endKind
	problem                   string // of the transport
}

// toolSeen is one function call.
type toolSeen struct {
	key, name, args string
}

// failureSeen is an error as the client was told it.
type failureSeen struct {
	status              int // of an event that names one
	code, kind, message string
	jsonBody            bool
	afterOutput         *bool // as Rubicon tells it
}

type usageSeen struct{ input, output int64 }

// endKind is how the answer ended on the wire.
type endKind string

const (
	endClean      endKind = "closed"  // a proper end of the body
	endBroken     endKind = "broken"  // the connection broke off
	endHung       endKind = "hung"    // nothing more came until the limit
	endClientLeft endKind = "left"    // the client left, as the case wants
	endRefused    endKind = "refused" // no connection
)

// whole reports whether the client has the complete answer, once.
func (s *clientView) whole(want string) bool {
	return s.finished() && s.text.String() == want && !s.hasDuplicate() && len(s.tools) == 0
}

// finished reports whether the answer looks finished to a client: nothing says
// that something went wrong.
func (s *clientView) finished() bool {
	if s.status != http.StatusOK || len(s.failures) > 0 {
		return false
	}
	return s.done > 0 || s.finish != "" || s.end == endClean
}

// silent tells that the stream was just closed: no ending, no error.
func (s *clientView) silent() bool {
	return s.status == http.StatusOK && s.end == endClean && s.done == 0 && s.finish == "" && len(s.failures) == 0
}

// hasFailure reports whether the client was told of a failure in the protocol.
func (s *clientView) hasFailure() bool { return len(s.failures) > 0 || s.status >= 400 }

// hasDuplicate reports whether something was said twice, or of two answers.
func (s *clientView) hasDuplicate() bool {
	words := strings.Fields(s.text.String())
	slices.Sort(words)
	return len(slices.Compact(words)) != len(strings.Fields(s.text.String())) || s.openings > 1 || len(s.ids) > 1
}

// inOrder reports whether the text is the beginning of the answer, without holes.
func (s *clientView) inOrder(want string) bool { return strings.HasPrefix(want, s.text.String()) }

// words is how many words came.
func (s *clientView) words() int { return len(strings.Fields(s.text.String())) }

// endings counts what ends an answer.
func (s *clientView) endings() int { return s.done + len(s.failures) }

// noteID remembers the id of an answer.
func (s *clientView) noteID(id string) {
	if id != "" && !slices.Contains(s.ids, id) {
		s.ids = append(s.ids, id)
	}
}

// ended reports whether an ending was seen already.
func (s *clientView) ended() bool { return s.endings() > 0 }

// String is what the client saw in a few words.
func (s *clientView) String() string {
	var parts []string
	switch {
	case s.status != 0:
		parts = append(parts, fmt.Sprint(s.status))
	case s.end == endRefused:
		return "no connection: " + s.problem
	}
	if n := s.words(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d words", n))
	}
	if n := len(s.tools); n > 0 {
		parts = append(parts, fmt.Sprintf("%d tool calls", n))
	}
	for _, f := range s.failures {
		parts = append(parts, "error "+f.name())
	}
	switch {
	case s.end == endHung, s.end == endBroken, s.end == endClientLeft:
		parts = append(parts, string(s.end))
	case s.done > 0:
		parts = append(parts, "finished")
	case s.finish != "":
		parts = append(parts, "finish "+s.finish)
	case s.silent():
		parts = append(parts, "just closed")
	}
	return strings.Join(parts, ", ")
}

// name is the code, else the type.
func (f failureSeen) name() string {
	switch {
	case f.code != "":
		return f.code
	case f.kind != "":
		return f.kind
	}
	return "without a code"
}

package messages

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// reader reads one stream.
type reader struct {
	seen   protocol.Observed
	tokens counts
	calls  protocol.Calls
	seal   sealDigest
	item   bool // the open block is something even without text
	closed bool
}

// NewReader starts reading a stream.
func NewReader(protocol.ReaderOptions) protocol.Reader { return newReader() }

func newReader() *reader { return &reader{seen: protocol.Observed{Sequence: -1}} }

func (r *reader) Seen() *protocol.Observed { return &r.seen }

// Stage: only message_stop and an error end a stream; nothing is waited for
// after either.
func (r *reader) Stage() protocol.Stage {
	if r.closed {
		return protocol.Closed
	}
	return protocol.Open
}

// Tail is nothing: a stream without its message_stop is cut.
func (r *reader) Tail() []byte { return nil }

// Read classifies one record. It changes nothing if the record is refused.
func (r *reader) Read(f sse.Frame) (protocol.Event, error) {
	ev, data := protocol.Record(f)
	if data == nil {
		return ev, nil
	}
	var e event
	if err := e.split(data); err != nil {
		if err != jsonscan.ErrNotObject {
			return protocol.Event{}, protocol.ErrNotProtocol
		}
		if string(f.Name) != "error" {
			return ev, nil
		}
	}
	ev.Type = e.name(f.Name)
	ev.Class = r.take(&e, ev.Type)
	ev.Vain = ev.Type == "content_block_delta" && vain(e.delta)
	switch ev.Class {
	case protocol.Heartbeat:
		return ev, nil
	case protocol.Output:
		r.seen.OutputEvents++
	case protocol.Terminal, protocol.Failure:
		r.closed = true
	}
	r.seen.Events++
	return ev, nil
}

// take reads an event whose JSON is known to be valid, and classifies it
// (docs/contract.md#s2).
func (r *reader) take(e *event, typ string) protocol.Class {
	switch typ {
	case "ping":
		return protocol.Heartbeat
	case "content_block_delta":
		r.delta(e.delta)
		return protocol.Output
	case "content_block_start":
		return r.blockStart(e.block)
	case "content_block_stop":
		r.blockStop()
		return protocol.Output
	case "message_start":
		r.messageStart(e.message)
		return protocol.Lifecycle
	case "vertex_event":
		return protocol.Lifecycle
	case "message_stop":
		return protocol.Terminal
	}
	if typ == "error" || e.typ == nil && e.err != nil {
		r.fail(e)
		return protocol.Failure
	}
	if typ == "" {
		return protocol.Heartbeat
	}
	r.messageDelta(e)
	return protocol.Output
}

// messageDelta reads the closing numbers. Usage in an event that nobody knows
// is read as well: it is a sign of execution wherever it stands.
func (r *reader) messageDelta(e *event) {
	r.container(jsonscan.Get(e.delta, "container"))
	r.usage(e.usage)
}

// usage reads a cumulative usage; raw is nil if there is none.
func (r *reader) usage(raw []byte) {
	if raw == nil {
		return
	}
	r.seen.ShowsExecution = true
	r.tokens.read(raw)
	r.tokens.report(&r.seen)
	r.callsTold(raw)
	tier(raw, &r.seen)
}

// messageStart reads who answers and the input of the request. The output
// tokens in it are a guess of the provider's and mean nothing.
func (r *reader) messageStart(message []byte) {
	var usage []byte
	m := jsonscan.Object(message)
	for m.Next() {
		v := m.Value()
		switch string(m.Key()) {
		case "id":
			r.seen.ResponseID, _ = jsonscan.Text(v)
		case "model":
			r.seen.Model, _ = jsonscan.Text(v)
		case "container":
			r.container(v)
		case "usage":
			usage = v
		}
	}
	r.tokens.read(usage)
	r.tokens.open(&r.seen)
	tier(usage, &r.seen)
}

// container remembers the container that the answer's tools ran in.
func (r *reader) container(raw []byte) {
	if id, _ := jsonscan.Text(jsonscan.Get(raw, "id")); id != "" {
		r.seen.Remember(protocol.KindContainer, id)
	}
}

func (r *reader) fail(e *event) {
	info, _ := protocol.ReadFailure(e.data)
	if info.Type == "error" {
		info.Type = "" // the event's own type, not the error's
	}
	info.RetryAfter = max(protocol.Delay(e.err), protocol.Delay(e.data))
	r.seen.Failure = &info
	r.failureUsage(e)
}

// failureUsage reads a usage beside an error, or in it.
func (r *reader) failureUsage(e *event) {
	r.usage(e.usage)
	if usage := jsonscan.Get(e.err, "usage"); jsonscan.KindOf(usage) == jsonscan.KindObject {
		r.usage(usage)
	}
}

// tier keeps the service tier of a usage.
func tier(usage []byte, seen *protocol.Observed) {
	if t, _ := jsonscan.Text(jsonscan.Get(usage, "service_tier")); t != "" {
		seen.Tier = t
	}
}

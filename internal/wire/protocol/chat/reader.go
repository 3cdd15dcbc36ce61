package chat

import (
	"math/bits"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// done is the record that ends a stream; it is the only one that is not JSON.
const done = "[DONE]"

// maxChoices is how many choices are told apart; the API itself stops at 128.
const maxChoices = 256

// reader reads one stream.
type reader struct {
	seen   protocol.Observed
	strip  bool
	need   int // choices that must have finished before the stream can settle
	begun  slots
	ended  slots
	tokens counts // last known numbers of any usage
	called bool   // a tool was called
	done   bool   // [DONE] came after the finish
}

// NewReader starts reading a stream.
func NewReader(o protocol.ReaderOptions) protocol.Reader {
	return &reader{
		seen:  protocol.Observed{Sequence: -1},
		strip: o.StripUsage,
		need:  int(min(max(o.Choices, 1), maxChoices)),
	}
}

func (r *reader) Seen() *protocol.Observed { return &r.seen }

// Stage: a stream settles once all choices that it showed, and as many as were
// asked for, have a finish_reason. Usage and [DONE] may still follow.
func (r *reader) Stage() protocol.Stage {
	switch {
	case r.done || r.seen.Failure != nil:
		return protocol.Closed
	case r.ended == r.begun && r.ended.count() >= r.need:
		return protocol.Finishing
	}
	return protocol.Open
}

// Tail is the [DONE] that a finished stream lacks.
func (r *reader) Tail() []byte {
	if r.Stage() != protocol.Finishing {
		return nil
	}
	return []byte("data: " + done + "\n\n")
}

// Read classifies one record. It changes nothing if the record is refused.
func (r *reader) Read(f sse.Frame) (protocol.Event, error) {
	ev, data := protocol.Record(f)
	switch {
	case data == nil:
		return ev, nil
	case string(data) == done:
		r.readDone(&ev)
		return ev, nil
	}
	var c chunk
	if err := c.split(data); err != nil {
		if err == jsonscan.ErrNotObject {
			r.word(&ev, data, f.Name)
			return ev, nil
		}
		return protocol.Event{}, protocol.ErrNotProtocol
	}
	r.take(&c, &ev, f.Name)
	return ev, nil
}

// readDone: [DONE] is the provider's word that no more choices come, so fewer
// than were asked for are enough (some providers ignore n). Without a
// finish_reason it proves nothing, and a client that saw it would take the
// answer for whole: it is hidden.
func (r *reader) readDone(ev *protocol.Event) {
	if r.begun == (slots{}) || r.ended != r.begun {
		ev.Hidden = true
		return
	}
	ev.Class = protocol.Terminal
	r.done = true
	r.seen.Events++
}

// word reads a record that is JSON, but no object: nothing, unless it is named an
// error. Then it is its text.
func (r *reader) word(ev *protocol.Event, data, name []byte) {
	if string(name) != "error" {
		return
	}
	info, _ := protocol.ReadFailure(data)
	ev.Class, r.seen.Failure = protocol.Failure, &info
	r.seen.Events++
}

// take reads a chunk whose JSON is known to be valid.
func (r *reader) take(c *chunk, ev *protocol.Event, name []byte) {
	l := chunkFacts{seen: &r.seen}
	l.choices(c.choices)
	for _, s := range l.shown() {
		r.begun.set(s.slot)
		if s.ended {
			r.ended.set(s.slot)
		}
	}
	usage := c.usageOf(&l)
	ev.Class = r.class(c, &l, usage != nil, name)
	if ev.Class == protocol.Heartbeat {
		return
	}
	ev.Kind = l.kind(c)
	ev.Hidden = r.strip && usage != nil && c.empty() && ev.Class != protocol.Failure
	r.seen.Events++
	if ev.Class == protocol.Output {
		r.seen.OutputEvents++
	}
	r.content(&l)
	c.names(&r.seen)
	r.usage(usage, ev.Class)
	if ev.Class == protocol.Failure {
		r.fail(c, &l)
	}
}

// content notes what a customer pays for. A call is finished with its choice,
// also one without arguments.
func (r *reader) content(l *chunkFacts) {
	r.seen.Wrote(l.text)
	r.called = r.called || l.called
	r.seen.Content = r.seen.Content || l.content || r.called && l.finish && !l.failed
}

// class is docs/contract.md#s2-class-lifecycle and its neighbours. A finish chunk with an empty delta is held
// before output; after output it is output like everything else.
func (r *reader) class(c *chunk, l *chunkFacts, usage bool, name []byte) protocol.Class {
	switch {
	case l.failed || c.failed(name):
		return protocol.Failure
	case l.output || l.finish && r.seen.OutputEvents > 0:
		return protocol.Output
	case c.hasChoices || usage || jsonscan.Equal(c.object, objectChunk):
		return protocol.Lifecycle
	case c.typed(name):
		return protocol.Output
	}
	return protocol.Heartbeat
}

// kind tells apart what of a stream may be lifecycle.
func (l *chunkFacts) kind(c *chunk) string {
	switch {
	case l.finish:
		return "finish"
	case c.empty():
		return "no choices"
	}
	return "delta"
}

func (r *reader) usage(raw []byte, class protocol.Class) {
	if raw == nil {
		return
	}
	opening := class == protocol.Lifecycle && r.seen.OutputEvents == 0 && r.ended == (slots{})
	r.tokens.read(raw, &r.seen)
	r.tokens.report(&r.seen, opening)
}

func (r *reader) fail(c *chunk, l *chunkFacts) {
	info := c.failure()
	if l.failure != nil && info.Code == "" && info.Message == "" {
		info, _ = protocol.ReadFailure(l.failure)
		info.RetryAfter = protocol.Delay(l.failure)
	}
	r.seen.Failure = &info
	if l.output {
		r.seen.Result, r.seen.ShowsExecution = true, true
	}
}

// slots is a set of choices.
type slots [maxChoices / 64]uint64

func (s *slots) set(slot uint8) { s[slot/64] |= 1 << (slot % 64) }

func (s *slots) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

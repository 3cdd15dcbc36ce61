package responses

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// maxSequence keeps the numbers of an ending of ours in range.
const maxSequence = 1 << 53

// reader reads one stream. See protocol.Reader.
type reader struct {
	answer
	stage protocol.Stage
	texts textCounter
	shape responseMembers // of the response object, for an ending of ours
	model string          // as requested
	clean func([]byte) []byte
	other kind // the last kind that is not listed
}

// NewReader starts reading a stream.
func NewReader(o protocol.ReaderOptions) protocol.Reader {
	return &reader{answer: newAnswer(), model: o.Model, clean: o.Clean}
}

func (r *reader) Stage() protocol.Stage    { return r.stage }
func (r *reader) Seen() *protocol.Observed { return &r.seen }

// Tail is nil: what an unfinished stream lacks, Ending says.
func (r *reader) Tail() []byte { return nil }

// Read takes in one record.
func (r *reader) Read(f sse.Frame) (protocol.Event, error) {
	ev, data := protocol.Record(f)
	if data == nil {
		return ev, nil
	}
	var e envelope
	object, err := e.read(data)
	k := kind{class: protocol.Heartbeat}
	switch {
	case err == nil:
		if k = r.kind(&e, f.Name); !object && k.class == protocol.Terminal {
			err = protocol.ErrNotProtocol // it has no response, so it ends none
		}
	case string(data) == "[DONE]":
		// The mark of another protocol. It proves nothing, and is not JSON.
		ev.Hidden, err = true, nil
		r.failureComplete()
	}
	ev.Type, ev.Named = k.name, k.name != "" && len(e.typeName()) == 0
	if r.stage != protocol.Open && (err != nil || !r.awaits(k)) {
		ev.Hidden = true
		r.failureComplete()
		return ev, nil
	}
	if err != nil {
		return protocol.Event{}, err
	}
	if n, ok := jsonscan.Int(e.sequence); ok && n >= 0 && n < maxSequence {
		r.seen.Sequence = n
	}
	if e.opens(k) {
		k.class = protocol.Lifecycle
	}
	ev.Class = k.class
	ev.Vain = k.reads == text && e.delta != nil && jsonscan.Empty(e.delta)
	r.take(k, &e, data)
	return ev, nil
}

// failureComplete ends the wait for a response.failed: nothing else may follow an error.
func (r *reader) failureComplete() {
	if r.stage == protocol.Finishing {
		r.stage = protocol.Closed
	}
}

// awaits reports whether an event of a decided stream is still of interest.
func (r *reader) awaits(k kind) bool {
	return r.stage == protocol.Finishing && (k.class == protocol.Heartbeat || k.name == typeFailed)
}

// kind finds what an event is: by its JSON type, else by the record's name.
func (r *reader) kind(e *envelope, name []byte) kind {
	if typ := e.typeName(); len(typ) > 0 {
		name = typ
	}
	switch {
	case len(name) > 0:
		return r.named(name)
	case isError(e.failure):
		return kind{class: protocol.Failure}
	}
	return kind{class: protocol.Heartbeat}
}

// isError reports whether the "error" of an untyped frame says a failure.
func isError(raw []byte) bool {
	switch jsonscan.KindOf(raw) {
	case jsonscan.KindObject:
		return true
	case jsonscan.KindString:
		return str(raw) != ""
	case jsonscan.KindArray:
		return !empty(raw)
	}
	return false
}

// named finds a kind without making a string again for an event's name.
func (r *reader) named(name []byte) kind {
	if k, ok := byName[string(name)]; ok {
		return k
	}
	if r.other.name != string(name) {
		r.other = unknown(name)
	}
	return r.other
}

// take learns from an event.
func (r *reader) take(k kind, e *envelope, data []byte) {
	if k.class != protocol.Heartbeat {
		r.seen.Events++
	}
	switch k.class {
	case protocol.Output:
		r.seen.OutputEvents++
		r.output(k, e, data)
	case protocol.Lifecycle:
		r.opened(e.response)
		if e.item != nil {
			it := readItem(e.item)
			it.remember(&r.seen)
		}
	case protocol.Terminal:
		r.stage = protocol.Closed
		r.seen.Incomplete = k.name == "response.incomplete"
		r.closing(readResponse(e.response))
		if !r.seen.Reported {
			r.report(e.usage) // some servers put it beside the response
		}
	case protocol.Failure:
		r.failure(k, e, data)
	}
}

func (r *reader) output(k kind, e *envelope, data []byte) {
	if e.usage != nil || e.response != nil && present(jsonscan.Get(e.response, "usage")) != nil {
		r.seen.ShowsExecution = true
	}
	index, indexed := jsonscan.Int(e.index)
	if k.reads == text {
		if n := int64(jsonscan.TextLen(e.delta)); n > 0 {
			r.texts.piece(index, indexed)
			r.seen.Wrote(n)
		}
	}
	if !r.seen.Content {
		r.seen.Content = carries(data)
	}
	if e.item == nil {
		return
	}
	it := readItem(e.item)
	r.seen.Content = r.seen.Content || it.text > 0 || it.image || k.reads == done && it.whole()
	it.remember(&r.seen)
	if k.reads == done {
		r.call(&it, index)
		if r.texts.whole(index, indexed) {
			r.seen.Wrote(it.text)
		}
	}
}

// opened reads a lifecycle event's response. Its usage is no sign of execution;
// a real input count in it beats an estimate.
func (r *reader) opened(raw []byte) {
	resp := readResponse(raw)
	r.identify(&resp)
	r.tiered(&resp) // of an answer that is cut nothing else will tell
	if u, ok := readUsage(resp.usage); ok && !r.seen.Reported && u.Input+u.CachedInput+u.CacheWrite > 0 {
		u.Output = 0
		r.seen.Usage, r.seen.OpeningUsage = u, true
	}
	if raw != nil && !r.shape.known() {
		r.shape.keep(raw)
	}
}

func (r *reader) failure(k kind, e *envelope, data []byte) {
	resp := readResponse(e.response)
	info := errorEvent(data, e.failure)
	r.stage = protocol.Finishing
	if k.name == typeFailed {
		r.stage = protocol.Closed
		info = errorValue(firstOf(resp.failure, e.failure))
	}
	if r.seen.Failure != nil {
		info = fill(info, *r.seen.Failure)
	}
	r.seen.Failure = &info
	r.closing(resp)
	for _, usage := range [...][]byte{e.usage, jsonscan.Get(e.failure, "usage")} {
		r.report(present(usage))
	}
	r.result(&resp)
}

func firstOf(a, b []byte) []byte {
	if a != nil {
		return a
	}
	return b
}

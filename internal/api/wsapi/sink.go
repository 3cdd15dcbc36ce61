package wsapi

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"unicode/utf8"

	"rubicon/internal/engine/turn"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// sink shows one turn: an event's data is one text frame, written at once. A
// client that reads slowly slows its upstream; nothing is gathered here but the
// output items of an answer that is to be continued from memory.
type sink struct {
	c     *conn
	keep  bool // the answer is stored nowhere: its output items are wanted
	limit int64

	parent string // the response in the connection's memory that the turn continues

	placeReleased bool   // the turn's place is free again
	shownCode     string // the code of the failure that was shown

	output []byte // of the terminal event
	done   []doneItem
	kept   int64
}

// doneItem is an output item as response.output_item.done gave it.
type doneItem struct {
	index int64
	raw   []byte
}

// Begin has nothing to open: the socket is.
func (s *sink) Begin(string, *fault.Error) {}

// Event writes one event. Comments and records without data are no frames.
func (s *sink) Event(ev protocol.Event) error {
	if ev.Data == nil {
		return nil
	}
	switch {
	case ev.Class == protocol.Terminal:
		s.releasePlace()
		s.close(ev.Data)
	case s.keep && ev.Type == "response.output_item.done":
		s.item(ev.Data)
	}
	return s.c.send(typed(ev))
}

// typed is an event's data as a frame. Where an event stream said its type by
// the event's name alone, the frame says it itself: it has no name.
func typed(ev protocol.Event) []byte {
	if ev.Named {
		if out, err := jsonscan.Set(ev.Data, jsonscan.Edit{Key: "type", Value: jsonscan.AppendString(nil, ev.Type)}); err == nil {
			return text(out)
		}
	}
	return text(ev.Data)
}

// text makes bytes fit for a text frame. JSON need not be UTF-8 for those who
// read it leniently, but a text frame that is not ends the connection.
func text(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	return bytes.ToValidUTF8(data, []byte("\uFFFD"))
}

// releasePlace gives the turn's place to the next create, once, before the ending is
// written: clients send it within a millisecond.
func (s *sink) releasePlace() {
	if !s.placeReleased {
		s.placeReleased = true
		s.c.releasePlace()
	}
}

// close keeps the output of the terminal event.
func (s *sink) close(data []byte) {
	if s.keep {
		s.output = bytes.Clone(elements(jsonscan.Get(data, "response", "output")))
	}
}

// item keeps a finished output item, in case the terminal event lacks them.
func (s *sink) item(data []byte) {
	raw := jsonscan.Get(data, "item")
	if s.kept += int64(len(raw)); s.kept > s.limit || jsonscan.KindOf(raw) != jsonscan.KindObject {
		return // too much to be remembered, and then it is not
	}
	index, _ := jsonscan.Int(jsonscan.Get(data, "output_index"))
	s.done = append(s.done, doneItem{index, bytes.Clone(raw)})
}

// answered gives the output items, with commas between.
func (s *sink) answered() []byte {
	if len(s.output) > 0 {
		return s.output
	}
	slices.SortStableFunc(s.done, func(a, b doneItem) int { return cmp.Compare(a.index, b.index) })
	var out []byte
	for _, d := range s.done {
		out = joined(out, d.raw)
	}
	return out
}

// Flush has nothing to send: every event was.
func (s *sink) Flush() error { return nil }

// KeepAlive is a ping; nobody waits here for its answer.
func (s *sink) KeepAlive() error {
	s.c.ping()
	return nil
}

// Answer is for requests that are not streamed; there are none here.
func (s *sink) Answer(a *upstream.Answer) error {
	s.releasePlace()
	return s.c.send(text(a.Body))
}

// Fail shows the failure in one frame (docs/contract.md#s5).
func (s *sink) Fail(e turn.ShownFailure) error {
	s.releasePlace()
	s.shownCode = e.Error.Code
	return s.c.send(failure(e))
}

// ErrorAtOnce: an error event waits for the response.failed that may follow,
// since only one of them may end the turn.
func (s *sink) ErrorAtOnce() bool { return false }

// failure is the frame of an ending.
func failure(e turn.ShownFailure) []byte {
	if e.Form != turn.FormEvent || len(e.Events) == 0 {
		return fault.Frame(e.Error)
	}
	last := e.Events[len(e.Events)-1]
	for _, ev := range e.Events {
		if ev.Type == "response.failed" {
			return typed(ev)
		}
	}
	return errorFrame(text(last.Data), e.Error)
}

// errorFrame makes an upstream error event one that clients of the socket
// understand: they ignore an error without an integer status. It ends the turn by
// itself, so that it has all that an ending of ours would have.
func errorFrame(data []byte, f *fault.Error) []byte {
	edits := []jsonscan.Edit{{Key: "error", Value: f.Dress(jsonscan.Get(data, "error"))}, {Key: "headers", Value: fault.FrameHeaders(f)}}
	if n, ok := jsonscan.Int(jsonscan.Get(data, "status")); !ok || n < 400 || n > 599 {
		edits = append(edits, jsonscan.Edit{Key: "status", Value: strconv.AppendInt(nil, int64(f.Status), 10)})
	}
	if !jsonscan.Equal(jsonscan.Get(data, "type"), "error") {
		edits = append(edits, jsonscan.Edit{Key: "type", Value: []byte(`"error"`)})
	}
	out, err := jsonscan.Set(data, edits...)
	if err != nil {
		return fault.Frame(f) // it is no object
	}
	return out
}

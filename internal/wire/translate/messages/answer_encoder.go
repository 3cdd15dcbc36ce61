package messages

import (
	"errors"

	"rubicon/internal/wire/translate"
)

// Errors of answers that are not streamed.
var (
	// ErrArguments: a call's arguments are no JSON object. It never becomes an
	// empty one: that call would be carried out.
	ErrArguments = errors.New("upstream_tool_arguments: the arguments of a call are no JSON object")
	// ErrUnfinished: the answer has not come to its end, or it failed.
	ErrUnfinished = errors.New("the answer did not end")
	errStreamed   = errors.New("the answer was streamed")
)

// answerEncoder writes one answer. One block is open at a time; what comes of
// others meanwhile is kept until it ends.
type answerEncoder struct {
	id       translate.Identity
	names    *translate.Names
	streamed bool
	dst      []translate.Out

	current int // core index of the open block, -1 none
	block   downBlock
	next    int // index of the client's next block
	kept    []translate.Event
	held    int // bytes in kept
	calls   bool
	output  bool // something of the answer was output
	begun   bool
	ended   bool
	failed  bool

	usage translate.Usage
	known bool // upstream gave numbers
	tier  string
	stop  translate.StopReason

	blocks []*wholeBlock
}

func newAnswerEncoder(r *translate.Request, id translate.Identity) *answerEncoder {
	if id.MaxHeld <= 0 {
		id.MaxHeld = translate.DefaultMaxHeld
	}
	return &answerEncoder{id: id, names: translate.NamesOf(r, id.Upstream, id.Flags), streamed: r.Stream, current: -1}
}

// Events writes client events for one event of the answer.
func (e *answerEncoder) Events(dst []translate.Out, ev translate.Event) []translate.Out {
	e.dst = dst
	if !e.ended {
		e.take(&ev)
	}
	dst, e.dst = e.dst, nil
	return dst
}

func (e *answerEncoder) take(ev *translate.Event) {
	switch ev.Kind {
	case translate.Start:
		e.start()
	case translate.UsageNow:
		e.usage, e.known = ev.Usage, true
		if ev.Tier != "" {
			e.tier = ev.Tier
		}
	case translate.Beat:
		e.out(translate.OutHeartbeat, "ping", []byte(`{"type":"ping"}`))
	case translate.Stop:
		e.finish(ev.Stop)
	case translate.Failed:
		e.fail(ev.Failure)
	default:
		e.start()
		e.order(ev)
	}
}

// order gives the open block its events at once, and keeps those of the others.
func (e *answerEncoder) order(ev *translate.Event) {
	if e.current < 0 || e.current == ev.Index {
		e.content(ev)
		if e.current < 0 {
			e.release()
		}
		return
	}
	e.keep(ev)
}

func (e *answerEncoder) keep(ev *translate.Event) {
	own := *ev // its bytes are the decoder's
	own.Raw = append(translate.Raw(nil), ev.Raw...)
	e.held += len(ev.Text) + len(ev.Raw) + len(ev.Block.Raw) + 64
	if e.held > e.id.MaxHeld {
		e.fail(translate.Failure{Type: "api_error", Code: "upstream_stream_buffer_limit", Message: "The upstream's answer holds too many blocks at once."})
		return
	}
	e.kept = append(e.kept, own)
}

// release writes the kept events of one block after the other, until one is
// still open.
func (e *answerEncoder) release() {
	for e.current < 0 && len(e.kept) > 0 {
		index := e.kept[0].Index
		var rest []translate.Event
		for i := range e.kept {
			if e.kept[i].Index != index {
				rest = append(rest, e.kept[i])
				continue
			}
			e.held -= len(e.kept[i].Text) + len(e.kept[i].Raw) + len(e.kept[i].Block.Raw) + 64
			e.content(&e.kept[i])
		}
		e.kept = rest
	}
}

func (e *answerEncoder) out(class translate.OutClass, name string, data []byte) {
	if class == translate.OutOutput {
		e.output = true
	}
	e.dst = append(e.dst, translate.Out{Class: class, Name: name, Data: data})
}

// start opens the message with the estimate of its input, which some clients
// read nowhere else.
func (e *answerEncoder) start() {
	if e.begun {
		return
	}
	e.begun = true
	w := writer{b: make([]byte, 0, 384)}
	w.open('{')
	w.key("type").text("message_start")
	w.key("message").open('{')
	e.envelope(&w)
	w.key("content").raw([]byte("[]"))
	w.key("stop_reason").word("null")
	w.key("stop_sequence").word("null")
	w.key("usage")
	e.writeUsage(&w, translate.Usage{Fresh: e.id.Estimate}, "")
	w.close('}')
	w.close('}')
	e.out(translate.OutLifecycle, "message_start", w.b)
}

func (e *answerEncoder) envelope(w *writer) {
	w.key("id").text(e.id.ResponseID)
	w.key("type").text("message")
	w.key("role").text("assistant")
	w.key("model").text(e.id.Model)
}

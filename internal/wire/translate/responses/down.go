package responses

import (
	"errors"
	"strconv"

	"rubicon/internal/wire/translate"
)

// ErrUnfinished: the answer has not come to its end.
var ErrUnfinished = errors.New("the answer did not end")

// codexProfile is the client profile of Codex: it counts only events with data
// as signs of life, knows no refusal parts, and acts on failures where others
// read the reason of an incomplete answer.
const codexProfile = "codex"

// answerEncoder writes one answer. Every block is an item of its own, and its
// items are told apart by their place, so that blocks may be open side by side.
type answerEncoder struct {
	r     *translate.Request
	id    translate.Identity
	names *translate.Names
	dst   []translate.Out

	sequence int64
	frame    []member    // the response object but for what changes
	blocks   []*downItem // by the index of the core's block; nil: not shown
	items    []*downItem // the output, in order
	begun    bool
	ended    bool
	refused  bool // a refusal was said

	usage translate.Usage
	known bool // upstream gave numbers
	tier  string
	final []byte // the last response object
}

func newAnswerEncoder(r *translate.Request, id translate.Identity) *answerEncoder {
	if id.Upstream == "" {
		id.Upstream = translate.Responses
	}
	return &answerEncoder{r: r, id: id, names: translate.NamesOf(r, id.Upstream, id.Flags)}
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
	if ev.Tier != "" {
		e.tier = ev.Tier
	}
	switch ev.Kind {
	case translate.Start:
		e.start()
	case translate.UsageNow:
		e.usage, e.known = ev.Usage, true
	case translate.Beat:
		e.beat()
	case translate.Stop:
		e.start()
		e.finish(ev.Stop)
	case translate.Failed:
		e.start()
		e.fail(ev.Failure)
	case translate.Open:
		e.start()
		e.open(ev)
	default:
		if ev.Index >= 0 && ev.Index < len(e.blocks) && e.blocks[ev.Index] != nil {
			e.content(e.blocks[ev.Index], ev)
		}
	}
}

// content writes one event of an open item.
func (e *answerEncoder) content(it *downItem, ev *translate.Event) {
	if it.closed {
		return
	}
	switch ev.Kind {
	case translate.Delta:
		e.delta(it, ev)
	case translate.Cite:
		e.cite(it, ev.Raw)
	case translate.Sealed:
		if ev.Seal != nil && it.kind == downThought && e.r.Reasoning.KeepSeals {
			it.seal = ev.Seal.Data
		}
	case translate.Close:
		if ev.Block.Phase != "" {
			it.phase = ev.Block.Phase
		}
		if ev.Raw != nil && it.kind == downHosted {
			it.raw = append([]byte(nil), ev.Raw...)
		}
		e.close(it)
	}
}

// event begins an event's data; done ends it and sends it.
func (e *answerEncoder) event(typ string, room int) writer {
	w := writer{b: make([]byte, 0, room+len(typ)+160)}
	w.open('{')
	w.text("type", typ)
	w.int("sequence_number", e.sequence)
	e.sequence++
	return w
}

func (e *answerEncoder) done(class translate.OutClass, typ string, w *writer) {
	w.shut('}')
	e.dst = append(e.dst, translate.Out{Class: class, Name: typ, Data: w.b})
}

// about begins an event about an item.
func (e *answerEncoder) about(typ string, it *downItem, room int) writer {
	w := e.event(typ, room+len(it.id))
	w.text("item_id", it.id)
	w.int("output_index", int64(it.place))
	return w
}

// start opens the response, once.
func (e *answerEncoder) start() {
	if e.begun {
		return
	}
	e.begun = true
	e.frame = e.members()
	e.lifecycle(translate.OutLifecycle, "response.created")
	e.lifecycle(translate.OutLifecycle, "response.in_progress")
}

func (e *answerEncoder) lifecycle(class translate.OutClass, typ string) {
	w := e.event(typ, 1024)
	w.key("response")
	e.response(&w, &state{status: "in_progress"})
	e.done(class, typ, &w)
}

// beat passes a sign of life on. Codex counts events with data alone; for others
// a comment will do, which has none.
func (e *answerEncoder) beat() {
	if e.id.Profile == codexProfile && e.begun {
		e.lifecycle(translate.OutHeartbeat, "response.in_progress")
		return
	}
	e.dst = append(e.dst, translate.Out{Class: translate.OutHeartbeat})
}

// open begins an item. What stood in front of it is commentary.
func (e *answerEncoder) open(ev *translate.Event) {
	it := e.item(&ev.Block, ev.Index)
	for len(e.blocks) <= ev.Index {
		e.blocks = append(e.blocks, nil)
	}
	if e.blocks[ev.Index] = it; it == nil {
		return
	}
	for _, before := range e.items {
		before.followed = true
	}
	e.settle(nil)
	e.begin(it)
}

// begin writes the beginning of an item.
func (e *answerEncoder) begin(it *downItem) {
	it.place = len(e.items)
	e.items = append(e.items, it)
	w := e.event("response.output_item.added", 256+len(it.raw))
	w.int("output_index", int64(it.place))
	w.key("item")
	it.write(&w, "in_progress", false)
	e.done(translate.OutOutput, "response.output_item.added", &w)
	if it.kind != downText && it.kind != downRefusal {
		return
	}
	w = e.about("response.content_part.added", it, 96)
	w.int("content_index", 0)
	w.key("part")
	it.part(&w, false)
	e.done(translate.OutOutput, "response.content_part.added", &w)
}

// made is the id of an item: of its kind, the response and its place.
func (e *answerEncoder) made(prefix string, place int) string {
	tail := e.id.ResponseID
	if len(tail) > 5 && tail[:5] == "resp_" {
		tail = tail[5:]
	}
	return prefix + tail + "_" + strconv.Itoa(place)
}

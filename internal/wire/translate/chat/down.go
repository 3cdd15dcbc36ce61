package chat

import (
	"rubicon/internal/wire/translate"
)

// plainProfile is the client profile that knows no members beside OpenAI's.
const plainProfile = "strict-openai"

// answerEncoder writes one answer. Everything is in one choice; calls are
// numbered over the whole answer.
type answerEncoder struct {
	r        *translate.Request
	id       translate.Identity
	names    *translate.Names
	thoughts bool // the client may see reasoning
	seals    bool // and gets what is sealed of it
	dst      []translate.Out
	head     []byte // a chunk up to its delta

	begun, ended, failed bool
	output               bool // something of the answer was output
	blocks               []*downBlock
	calls                int
	quotes               []byte // annotations so far, as elements
	quoteCount           int
	signature            []byte // of the call with the id signedCall
	signedCall           string

	texts    gap
	reasoned gap
	refused  bool

	usage translate.Usage
	known bool
	tier  string
	stop  translate.StopReason
	whole *wholeAnswer // nil in a stream
}

func newAnswerEncoder(r *translate.Request, id translate.Identity) *answerEncoder {
	e := &answerEncoder{r: r, id: id, names: translate.NamesOf(r, id.Upstream, id.Flags)}
	e.thoughts = id.Profile != plainProfile && r.Reasoning.Summary != "omitted"
	e.seals = id.Profile != plainProfile && r.Reasoning.KeepSeals
	if !r.Stream {
		e.whole = &wholeAnswer{}
	}
	w := writer{b: make([]byte, 0, 256)}
	w.open('{')
	w.text("id", id.ResponseID)
	w.text("object", "chat.completion.chunk")
	w.int("created", id.Created)
	w.text("model", id.Model)
	w.raw("system_fingerprint", []byte("null"))
	w.b = append(w.b, `,"choices":[{"index":0,"delta":`...)
	e.head = w.b
	return e
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
	e.servedBy(ev.Tier)
	switch ev.Kind {
	case translate.Beat:
	case translate.UsageNow:
		e.usage, e.known = ev.Usage, true
	case translate.Stop:
		e.start()
		e.finish(ev.Stop)
	case translate.Failed:
		e.fail(ev.Failure)
	case translate.Start:
		e.start()
	default:
		e.start()
		e.content(ev)
	}
}

// servedBy keeps the tier in this format's words; others are left out, because
// strict clients refuse a word that they do not know.
func (e *answerEncoder) servedBy(tier string) {
	switch tier {
	case "auto", "default", "flex", "scale", "priority", "fast", "ultrafast":
		e.tier = tier
	case "standard":
		e.tier = "default"
	}
}

// start tells who speaks, in a chunk that is no output.
func (e *answerEncoder) start() {
	if !e.begun {
		e.begun = true
		e.chunk(translate.OutLifecycle, `{"role":"assistant","content":""}`)
	}
}

func (e *answerEncoder) content(ev *translate.Event) {
	if ev.Kind == translate.Open {
		e.open(ev)
		return
	}
	b := e.block(ev.Index)
	if b == nil {
		return
	}
	switch ev.Kind {
	case translate.Delta:
		e.delta(b, ev)
	case translate.Sealed:
		e.sealed(ev)
	case translate.Cite:
		e.cite(ev.Raw)
	case translate.Close:
		if ev.Block.Phase != "" && b.kind == translate.Text {
			e.texts.phase = ev.Block.Phase
		}
		e.shut(b)
	}
}

func (e *answerEncoder) block(index int) *downBlock {
	if index < 0 || index >= len(e.blocks) {
		return nil
	}
	return e.blocks[index]
}

// open begins a block. Only a call's beginning is an event of its own.
func (e *answerEncoder) open(ev *translate.Event) {
	b := &downBlock{kind: ev.Block.Kind}
	for len(e.blocks) <= ev.Index {
		e.blocks = append(e.blocks, nil)
	}
	e.blocks[ev.Index] = b
	switch b.kind {
	case translate.Text:
		b.apart = e.texts.any && (e.texts.between || e.texts.phase != ev.Block.Phase)
		e.texts.phase = ev.Block.Phase
		return
	case translate.Think:
		b.apart = e.reasoned.any
		e.signedCall = ev.Block.ID
	case translate.Call:
		e.call(b, &ev.Block)
	}
	e.texts.between = true
}

// chunk writes a chunk with a delta that is known.
func (e *answerEncoder) chunk(class translate.OutClass, delta string) {
	w := writer{b: append(make([]byte, 0, len(e.head)+len(delta)+64), e.head...)}
	w.b = append(w.b, delta...)
	e.end(&w, class, nil)
}

// begin opens a chunk with a delta of about n bytes.
func (e *answerEncoder) begin(n int) writer {
	w := writer{b: append(make([]byte, 0, len(e.head)+n+64), e.head...)}
	w.open('{')
	return w
}

// end closes a chunk behind its delta.
func (e *answerEncoder) end(w *writer, class translate.OutClass, logprobs []byte) {
	if logprobs != nil {
		w.b = append(append(append(w.b, `,"logprobs":{"content":`...), logprobs...), `,"refusal":null}`...)
	}
	w.b = append(w.b, `,"finish_reason":null}]`...)
	e.close(w, class)
}

// close ends a chunk. A client that wants the usage gets it as null until then.
func (e *answerEncoder) close(w *writer, class translate.OutClass) {
	if e.r.WantUsage {
		w.b = append(w.b, `,"usage":null`...)
	}
	w.shut('}')
	if class == translate.OutOutput {
		e.output = true
	}
	e.dst = append(e.dst, translate.Out{Class: class, Data: w.b})
}

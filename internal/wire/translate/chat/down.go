package chat

import (
	"rubicon/internal/jsonscan"
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

// gap tells whether a text stands apart from the one in front of it.
type gap struct {
	any     bool // there was a text
	between bool // and something else behind it
	phase   string
}

// downBlock is a block of the answer.
type downBlock struct {
	kind    translate.Kind
	number  int // of a call
	custom  bool
	unwrap  *translate.Unwrapper // a wrapped tool's input
	part    translate.Part       // of reasoning: what is shown of it
	started bool
	para    int
	apart   bool // a paragraph of its own
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
	if ev.Tier != "" {
		e.tier = ev.Tier
	}
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

// call opens a call under the name that the client gave its tool.
func (e *answerEncoder) call(b *downBlock, head *translate.Block) {
	name := head.Name
	b.custom = head.Custom
	if t, ok := e.names.Restore(head.Namespace, head.Name); ok {
		name = t.Name
		if t.Kind == translate.Custom && !head.Custom {
			b.custom, b.unwrap = true, &translate.Unwrapper{}
		}
	}
	b.number = e.calls
	e.calls++
	w := e.begin(len(head.ID) + len(name) + 96)
	w.array("tool_calls")
	w.open('{')
	w.int("index", int64(b.number))
	w.text("id", head.ID)
	if b.custom {
		w.b = append(w.b, `,"type":"custom"`...)
		w.object("custom")
		w.text("name", name)
		w.b = append(w.b, `,"input":""}`...)
	} else {
		w.b = append(w.b, `,"type":"function"`...)
		w.object("function")
		w.text("name", name)
		w.b = append(w.b, `,"arguments":""}`...)
	}
	var signed []byte
	if e.signature != nil && e.signedCall == head.ID {
		signed, e.signature = e.signature, nil
		w.raw("extra_content", signed)
	}
	w.b = append(w.b, `}]}`...)
	e.end(&w, translate.OutOutput, nil)
	if e.whole != nil {
		e.whole.calls = append(e.whole.calls, &wholeCall{id: head.ID, name: name, custom: b.custom, signed: signed})
	}
}

func (e *answerEncoder) delta(b *downBlock, ev *translate.Event) {
	switch b.kind {
	case translate.Text:
		if ev.Text != "" || ev.Logprobs != nil {
			e.text(b, ev)
		}
	case translate.Refusal:
		e.refuse(translate.OutOutput, ev.Text)
	case translate.Think:
		e.thought(b, ev)
	case translate.Call:
		text := ev.Text
		if b.unwrap != nil {
			text = b.unwrap.Push(text)
		}
		e.arguments(b, text)
	}
}

func (e *answerEncoder) text(b *downBlock, ev *translate.Event) {
	text := ev.Text
	if b.apart && text != "" {
		text = "\n\n" + text
		b.apart = false
	}
	e.texts.any, e.texts.between = e.texts.any || text != "", false
	w := e.begin(len(text) + 16)
	w.text("content", text)
	w.shut('}')
	e.end(&w, translate.OutOutput, ev.Logprobs)
	if e.whole != nil {
		e.whole.text.WriteString(text)
		e.whole.keepTokens(ev.Logprobs)
	}
}

func (e *answerEncoder) refuse(class translate.OutClass, text string) {
	if text == "" {
		return
	}
	e.refused = true
	w := e.begin(len(text) + 16)
	w.text("refusal", text)
	w.shut('}')
	e.end(&w, class, nil)
	if e.whole != nil {
		e.whole.refusal.WriteString(text)
	}
}

// thought shows reasoning: of one block the full text or its summary, whichever
// comes first, so that nothing is said twice.
func (e *answerEncoder) thought(b *downBlock, ev *translate.Event) {
	if !e.thoughts || ev.Text == "" || b.started && b.part != ev.Part {
		return
	}
	text := ev.Text
	if b.apart || b.started && ev.Paragraph != b.para {
		text = "\n\n" + text
	}
	b.started, b.part, b.para, b.apart = true, ev.Part, ev.Paragraph, false
	e.reasoned.any = true
	w := e.begin(len(text) + 32)
	w.text("reasoning_content", text)
	w.shut('}')
	e.end(&w, translate.OutOutput, nil)
	if e.whole != nil {
		e.whole.reasoning.WriteString(text)
	}
}

// arguments passes on a piece of a call's input as it is.
func (e *answerEncoder) arguments(b *downBlock, text string) {
	if text == "" {
		return
	}
	w := e.begin(len(text) + len(text)/8 + 64)
	w.array("tool_calls")
	w.open('{')
	w.int("index", int64(b.number))
	if b.custom {
		w.object("custom")
		w.text("input", text)
	} else {
		w.object("function")
		w.text("arguments", text)
	}
	w.b = append(w.b, `}}]}`...)
	e.end(&w, translate.OutOutput, nil)
	if e.whole != nil {
		e.whole.calls[b.number].input.WriteString(text)
	}
}

// sealed gives a client that keeps them what its maker sealed.
func (e *answerEncoder) sealed(ev *translate.Event) {
	s := ev.Seal
	own := jsonscan.KindOf([]byte(s.Data)) == jsonscan.KindObject
	if s.Kind == translate.Thought && own {
		e.signature = []byte(s.Data)
		return
	}
	if !e.seals {
		return
	}
	var item writer
	if s.Kind == translate.Detail && own {
		item.writeDetail(&translate.Block{Seal: s})
	} else {
		item.writeCarrier(s)
	}
	w := e.begin(len(item.b) + 32)
	w.array("reasoning_details")
	w.b = append(append(w.b, item.b...), `]}`...)
	e.end(&w, translate.OutOutput, nil)
	if e.whole != nil {
		e.whole.details = append(e.whole.details, item.b)
	}
}

// shut ends a block: what an unwrapped input still owes comes now.
func (e *answerEncoder) shut(b *downBlock) {
	if b.unwrap != nil {
		rest, _ := b.unwrap.End()
		e.arguments(b, rest)
		b.unwrap = nil
	}
	if b.kind == translate.Think && e.signature != nil && e.signedCall == "" {
		w := e.begin(len(e.signature) + 32)
		w.raw("extra_content", e.signature)
		w.shut('}')
		e.end(&w, translate.OutOutput, nil)
		if e.whole != nil {
			e.whole.signed = e.signature
		}
		e.signature = nil
	}
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

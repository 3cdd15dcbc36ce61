package messages

import (
	"strconv"

	"rubicon/internal/wire/translate"
)

// encoder writes one request.
type encoder struct {
	r      *translate.Request
	f      translate.Flags
	rep    *translate.Reporter
	w      writer
	turns  []translate.Turn
	offers *translate.Offers
	kept   map[*translate.CachePoint]bool
	ids    *translate.CallIDs
	think  thought
}

// encodeRequest writes an upstream's body. All of the request is gone through
// even where it is excluded, so that every exclusion is told.
func encodeRequest(r *translate.Request, model string, f translate.Flags) ([]byte, translate.Report) {
	e := encoder{r: r, f: f, rep: translate.NewReporter(translate.Messages, f), ids: translate.NewCallIDs(translate.Messages)}
	e.offers = translate.PlanTools(r, translate.Messages, f, e.rep)
	e.turns = e.arrange()
	e.think = e.planThought()
	e.keepCachePoints()

	e.w.open('{')
	e.w.key("model").text(model)
	e.w.key("max_tokens").int(e.maxTokens())
	if r.Stream {
		e.w.key("stream").word("true")
	}
	e.system()
	e.messages()
	e.tools()
	e.choice()
	e.writeThought()
	if words := translate.PlanStops(r, translate.Messages, f, e.rep); len(words) > 0 {
		e.w.key("stop_sequences").open('[')
		for _, word := range words {
			e.w.text(word)
		}
		e.w.close(']')
	}
	e.settings()
	e.w.close('}')

	report := e.rep.Report()
	if len(report.Excluded) > 0 {
		return nil, report
	}
	return e.w.b, report
}

// limit is the output limit that the body will have.
func (e *encoder) limit() int64 {
	if e.r.MaxOutput.Path != "" {
		return e.r.MaxOutput.Value
	}
	return e.f.MaxOutput
}

func (e *encoder) maxTokens() int64 {
	if s := e.r.Get(translate.FeaturePrewarm); s != nil && e.native() {
		return 0
	}
	n := e.limit()
	if e.r.MaxOutput.Path == "" {
		e.rep.NoteBecause(translate.Defaulted, translate.FeatureMaxOutput, "max_tokens", "", strconv.FormatInt(n, 10), "the format wants a limit, and the request has none")
	}
	return n
}

// native tells whether the request was written in this format.
func (e *encoder) native() bool { return e.r.From == translate.Messages }

func (e *encoder) system() {
	var blocks []translate.Block
	for _, b := range e.r.System {
		switch {
		case b.Kind != translate.Text && !(e.native() && b.Raw != nil):
			e.rep.ExcludeBecause(translate.FeatureUnknownContent, b.Path, "system text holds text alone there", "send it in a message of the user")
		case b.Kind == translate.Text && !e.says(&b):
		default:
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		return
	}
	e.w.key("system").open('[')
	for i := range blocks {
		e.block(&blocks[i], translate.System)
	}
	e.w.close(']')
}

func (e *encoder) messages() {
	if len(e.turns) == 0 {
		e.rep.Exclude(translate.FeatureNoTurns, "")
	}
	e.w.key("messages").open('[')
	for i := range e.turns {
		t := &e.turns[i]
		e.w.open('{')
		e.w.key("role").text(string(t.Role))
		e.w.key("content").open('[')
		for j := range t.Blocks {
			e.block(&t.Blocks[j], t.Role)
		}
		e.w.close(']')
		e.w.close('}')
	}
	e.w.close(']')
}

func (e *encoder) cache(c *translate.CachePoint) {
	if c == nil || !e.kept[c] {
		return
	}
	e.w.key("cache_control").open('{')
	e.w.key("type").text("ephemeral")
	if ttl := e.ttl(c); ttl != "" {
		e.w.key("ttl").text(ttl)
	}
	e.w.close('}')
}

// ttl is a lifetime that the format has: 5 minutes or an hour.
func (e *encoder) ttl(c *translate.CachePoint) string {
	switch c.TTL {
	case "", "5m", "1h":
		return c.TTL
	}
	e.rep.Note(translate.Changed, translate.FeatureCacheTTL, c.Path, c.TTL, "1h")
	return "1h"
}

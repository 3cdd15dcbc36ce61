package chat

import (
	"rubicon/internal/wire/jsonscan"
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

	heading []translate.Block // the system text in front
}

// encodeRequest writes an upstream's body. All of the request is gone through
// even where it is excluded, so that every exclusion is told.
func encodeRequest(r *translate.Request, model string, f translate.Flags) ([]byte, translate.Report) {
	e := encoder{r: r, f: f, rep: translate.NewReporter(translate.Chat, f)}
	e.offers = translate.PlanTools(r, translate.Chat, f, e.rep)
	e.turns = e.arrange()
	e.heading = e.filter(&translate.Turn{Role: translate.System, Blocks: r.System})
	translate.PlaceCachePoints(e.heading, e.turns, e.rep)

	e.w.open('{')
	e.w.text("model", model)
	e.messages()
	e.tools()
	e.choice()
	e.format()
	e.limit()
	e.effort()
	e.stops()
	e.settings()
	if r.Stream {
		e.w.bool("stream", true)
		e.w.raw("stream_options", []byte(`{"include_usage":true}`))
	}
	e.w.shut('}')

	report := e.rep.Report()
	if len(report.Excluded) > 0 {
		return nil, report
	}
	return e.w.b, report
}

// native tells whether the request was written in this format.
func (e *encoder) native() bool { return e.r.From == translate.Chat }

func (e *encoder) limit() {
	n := e.r.MaxOutput
	switch {
	case n.Path == "":
	case e.f.MaxTokensOnly:
		e.w.int("max_tokens", n.Value)
	default:
		e.w.int("max_completion_tokens", n.Value)
	}
}

// effort writes the effort. Where the model takes no tools while it reasons, the
// tools are worth more than the reasoning.
func (e *encoder) effort() {
	e.adaptive()
	if s := e.r.Reasoning.Summary; s != "" && s != "omitted" {
		e.rep.Take(translate.FeatureSummary, e.summaryPath(), s)
	}
	word := translate.EffortFor(e.r, e.rep, e.f)
	if word == "" {
		return
	}
	if !e.f.ToolsOnChat && len(e.offers.List) > 0 && word != "none" {
		_, path := e.r.Asked()
		if translate.NearestEffort("none", e.f.Efforts) != "none" {
			e.rep.ExcludeBecause(translate.FeatureEffort, path, "the model takes no tools while it reasons", "leave out the tools or the effort")
			return
		}
		e.rep.NoteBecause(translate.Changed, translate.FeatureEffort, path, word, "none", "the model takes no tools while it reasons")
		word = "none"
	}
	e.w.text("reasoning_effort", word)
}

// adaptive tells what becomes of thinking whose extent the model decides: a
// model that reasons does so without being asked.
func (e *encoder) adaptive() {
	t := &e.r.Reasoning
	switch {
	case !t.Adaptive || t.Effort != "":
	case e.f.Efforts != nil && len(e.f.Efforts) == 0:
		e.rep.NoteBecause(translate.Dropped, translate.FeatureEffort, t.Path, "adaptive", "", "the model does not think")
	default:
		e.rep.NoteQuietly(translate.Dropped, translate.FeatureEffort, t.Path, "adaptive", "", "the model decides by itself, and there is no field for it")
	}
}

func (e *encoder) summaryPath() string {
	if e.r.Reasoning.Path != "" {
		return e.r.Reasoning.Path
	}
	return e.r.Reasoning.EffortPath
}

func (e *encoder) stops() {
	words := translate.PlanStops(e.r, translate.Chat, e.f, e.rep)
	if len(words) == 0 {
		return
	}
	e.w.array("stop")
	for _, word := range words {
		e.w.element()
		e.w.b = jsonscan.AppendString(e.w.b, word)
	}
	e.w.shut(']')
}

// schemaName is the name of a schema that has none: the format wants one.
const schemaName = "answer"

func (e *encoder) format() {
	a := &e.r.Answer
	switch a.Shape {
	case translate.JSONObject:
		if e.rep.Take(translate.FeatureJSONObject, a.Path, "") {
			e.w.raw("response_format", []byte(`{"type":"json_object"}`))
		}
	case translate.JSONSchema:
		if e.rep.Take(translate.FeatureJSONSchema, a.Path, "") {
			e.schema(a)
		}
	}
}

func (e *encoder) schema(a *translate.AnswerFormat) {
	if jsonscan.KindOf(a.Schema) != jsonscan.KindObject {
		e.rep.ExcludeBecause(translate.FeatureJSONSchema, a.Path, "there is no schema in it", "send the schema")
		return
	}
	e.w.object("response_format")
	e.w.text("type", "json_schema")
	e.w.object("json_schema")
	if a.Name != "" {
		e.w.text("name", a.Name)
	} else {
		e.w.text("name", schemaName)
		e.rep.NoteQuietly(translate.Defaulted, translate.FeatureSchemaName, a.Path, "", schemaName, "the format wants a name")
	}
	if a.Description != "" {
		e.w.text("description", a.Description)
	}
	e.w.raw("schema", a.Schema)
	switch {
	case a.Strict != nil:
		e.w.bool("strict", *a.Strict)
	case e.r.From == translate.Messages: // every schema is kept to there
		e.w.bool("strict", true)
	}
	e.w.shut('}')
	e.w.shut('}')
}

package responses

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
	ids    *translate.CallIDs

	heading []translate.Block // the system text in front
	include []string
}

// encodeRequest writes an upstream's body. All of the request is gone through
// even where it is excluded, so that every exclusion is told.
func encodeRequest(r *translate.Request, model string, f translate.Flags) ([]byte, translate.Report) {
	e := encoder{r: r, f: f, rep: translate.NewReporter(translate.Responses, f), ids: translate.NewCallIDs(translate.Responses)}
	e.offers = translate.PlanTools(r, translate.Responses, f, e.rep)
	e.turns = e.arrange()
	e.heading = e.filter(&translate.Turn{Role: translate.System, Blocks: r.System})
	translate.PlaceCachePoints(e.heading, e.turns, e.rep)

	e.w.open('{')
	e.w.text("model", model)
	e.input()
	e.tools()
	e.choice()
	e.reasoning()
	e.prose()
	e.limit()
	translate.PlanStops(r, translate.Responses, f, e.rep) // the gateway looks for them all
	e.settings()
	e.included()
	e.store()
	if r.Stream {
		e.w.bool("stream", true)
	}
	e.w.shut('}')

	report := e.rep.Report()
	if len(report.Excluded) > 0 {
		return nil, report
	}
	return e.w.b, report
}

// native tells whether the request was written in this format.
func (e *encoder) native() bool { return e.r.From == translate.Responses }

// minOutput is the smallest limit that providers take.
const minOutput = 16

func (e *encoder) limit() {
	n := e.r.MaxOutput
	if n.Path == "" {
		return
	}
	if n.Value < minOutput && !e.native() {
		e.rep.NoteBecause(translate.Changed, translate.FeatureMaxOutput, n.Path, itoa(n.Value), itoa(minOutput), "it is the smallest limit there")
		n.Value = minOutput
	}
	e.w.int("max_output_tokens", n.Value)
}

// reasoning writes how much is thought. Seals are asked for where the client
// takes reasoning and sends it back.
func (e *encoder) reasoning() {
	t := &e.r.Reasoning
	effort := translate.EffortFor(e.r, e.rep, e.f)
	mute := e.f.Efforts != nil && len(e.f.Efforts) == 0 // the model does not think
	summary := e.summary(mute)
	if t.Adaptive && effort == "" {
		e.rep.NoteQuietly(translate.Dropped, translate.FeatureEffort, t.Path, "adaptive", "", "the model decides by itself in any case")
	}
	if thinks := effort != "" && effort != "none" || t.Adaptive; t.KeepSeals && !mute && (thinks || e.native()) {
		e.include = append(e.include, includeSeals)
	}
	if effort == "" && summary == "" {
		return
	}
	e.w.object("reasoning")
	if effort != "" {
		e.w.text("effort", effort)
	}
	if summary != "" {
		e.w.text("summary", summary)
	}
	e.w.shut('}')
}

// summary is the summary of the reasoning that is asked for, "" for none.
func (e *encoder) summary(mute bool) string {
	t, why := &e.r.Reasoning, "the upstream has no such summary"
	switch t.Summary {
	case "", "omitted", "none":
		return ""
	case "auto", "concise", "detailed":
		if !mute {
			return t.Summary
		}
		why = "the model does not think"
	}
	e.rep.NoteBecause(translate.Dropped, translate.FeatureSummary, t.Path, t.Summary, "", why)
	return ""
}

// schemaName is the name of a schema that has none: the format wants one.
const schemaName = "answer"

// prose writes what the answer's text is to be.
func (e *encoder) prose() {
	verbosity := e.r.Get(translate.FeatureVerbosity)
	if e.r.Answer.Shape == translate.FreeText && verbosity == nil {
		return
	}
	e.w.object("text")
	e.format()
	if verbosity != nil && e.rep.Take(verbosity.Feature, verbosity.Path, verbosity.Short()) {
		e.w.raw("verbosity", verbosity.Value)
	}
	e.w.shut('}')
}

func (e *encoder) format() {
	a := &e.r.Answer
	switch a.Shape {
	case translate.JSONObject:
		if e.rep.Take(translate.FeatureJSONObject, a.Path, "") {
			e.w.word("format", `{"type":"json_object"}`)
		}
	case translate.JSONSchema:
		if !e.rep.Take(translate.FeatureJSONSchema, a.Path, "") {
			return
		}
		if jsonscan.KindOf(a.Schema) != jsonscan.KindObject {
			e.rep.ExcludeBecause(translate.FeatureJSONSchema, a.Path, "there is no schema in it", "send the schema")
			return
		}
		e.schema(a)
	}
}

func (e *encoder) schema(a *translate.AnswerFormat) {
	e.w.object("format")
	e.w.text("type", "json_schema")
	name := a.Name
	if name == "" {
		name = schemaName
		e.rep.NoteQuietly(translate.Defaulted, translate.FeatureSchemaName, a.Path, "", name, "the format wants a name")
	}
	e.w.text("name", name)
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
}

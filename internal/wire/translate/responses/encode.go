package responses

import (
	"strings"

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
	summary := t.Summary
	switch summary {
	case "", "auto", "concise", "detailed":
	case "omitted", "none":
		summary = ""
	default:
		e.rep.NoteBecause(translate.Dropped, translate.FeatureSummary, t.Path, summary, "", "the upstream has no such summary")
		summary = ""
	}
	if t.Adaptive && effort == "" {
		e.rep.NoteQuietly(translate.Dropped, translate.FeatureEffort, t.Path, "adaptive", "", "the model decides by itself in any case")
	}
	if thinks := effort != "" && effort != "none" || t.Adaptive; t.KeepSeals && (thinks || e.native()) {
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

// members are the names of the settings that the format has.
var members = [...]struct {
	feature translate.Feature
	name    string
}{
	{translate.FeatureTemperature, "temperature"},
	{translate.FeatureTopP, "top_p"},
	{translate.FeatureMetadata, "metadata"},
	{translate.FeatureMaxCalls, "max_tool_calls"},
	{translate.FeatureTruncation, "truncation"},
	{translate.FeatureCacheKey, "prompt_cache_key"},
	{translate.FeatureRetention, "prompt_cache_retention"},
}

// settings writes the members that stand alone.
func (e *encoder) settings() {
	for i := range e.r.Settings {
		s := &e.r.Settings[i]
		switch {
		case s.Feature == translate.FeatureLogprobs:
			e.logprobs(s)
		case s.Feature == translate.FeatureVerbosity: // stands with the text
		case s.Feature == translate.FeatureStore:
			if !e.native() {
				e.rep.Take(s.Feature, s.Path, s.Short())
			}
		case e.native() && s.Feature == translate.FeatureInclude:
			word, _ := jsonscan.Text(s.Value)
			e.include = append(e.include, word)
		case e.native() && s.Feature == translate.FeatureCacheTTL:
			e.w.raw("prompt_cache_options", append(append([]byte(`{"ttl":`), s.Value...), '}'))
		case e.native() && !strings.ContainsAny(s.Path, ".["):
			e.w.raw(s.Path, s.Value)
		case s.Feature == translate.FeatureUser:
			e.endUser(s)
		case s.Feature == translate.FeatureTier:
			e.tier(s)
		case s.Feature == translate.FeatureMetadata:
			e.metadata(s)
		default:
			e.setting(s)
		}
	}
}

func (e *encoder) setting(s *translate.Setting) {
	if !e.rep.Take(s.Feature, s.Path, s.Short()) {
		return
	}
	for _, m := range members {
		if m.feature == s.Feature {
			e.w.raw(m.name, s.Value)
			return
		}
	}
	// The table carries it, but there is no member for it here.
	e.rep.NoteBecause(translate.Dropped, s.Feature, s.Path, s.Short(), "", "the upstream's format has no field for it")
}

func (e *encoder) logprobs(s *translate.Setting) {
	if !e.rep.Take(s.Feature, s.Path, s.Short()) {
		return
	}
	e.include = append(e.include, includeLogprobs)
	if string(s.Value) != "0" {
		e.w.raw("top_logprobs", s.Value)
	}
}

// endUser writes the end user's id, as a hash. It also says which conversations
// may share a cache, where the client does not.
func (e *encoder) endUser(s *translate.Setting) {
	e.rep.Take(s.Feature, s.Path, "")
	id, ok := jsonscan.Text(s.Value)
	if !ok || id == "" || s != e.r.Get(translate.FeatureUser) {
		return
	}
	e.w.text("safety_identifier", translate.HashUser(id))
	if e.r.Get(translate.FeatureCacheKey) == nil {
		e.w.text("prompt_cache_key", translate.HashUser(id))
		e.rep.NoteQuietly(translate.Defaulted, translate.FeatureCacheKey, "prompt_cache_key", "", "", "the end user's hash brings a conversation to its cache")
	}
}

// tier names the tier in this format's words.
func (e *encoder) tier(s *translate.Setting) {
	switch word, _ := jsonscan.Text(s.Value); word {
	case "auto", "default", "flex", "scale", "priority", "fast", "ultrafast":
		e.w.text("service_tier", word)
	case "standard_only":
		e.rep.NoteBecause(translate.Changed, s.Feature, s.Path, word, "default", "it has this name there")
		e.w.text("service_tier", "default")
	default:
		e.rep.NoteBecause(translate.Dropped, s.Feature, s.Path, s.Short(), "", "the upstream has no such tier")
	}
}

// metadata writes an object of texts, which is all that the format takes.
func (e *encoder) metadata(s *translate.Setting) {
	if jsonscan.KindOf(s.Value) == jsonscan.KindObject && s.Path == "metadata" {
		e.setting(s)
		return
	}
	e.rep.NoteBecause(translate.Dropped, s.Feature, s.Path, "", "", "metadata is an object of texts there")
}

func (e *encoder) included() {
	if len(e.include) == 0 {
		return
	}
	e.w.array("include")
	for _, word := range e.include {
		e.w.element()
		e.w.b = jsonscan.AppendString(e.w.b, word)
	}
	e.w.shut(']')
}

// store keeps the upstream from storing: a translated request is stateless, and
// providers store what does not say otherwise.
func (e *encoder) store() {
	if e.native() && (e.r.Get(translate.FeatureStore) != nil || e.keepsState("store")) {
		return // not said, or written among the settings
	}
	e.w.bool("store", false)
}

func (e *encoder) keepsState(path string) bool {
	for i := range e.r.Settings {
		if s := &e.r.Settings[i]; s.Feature == translate.FeatureState && s.Path == path {
			return true
		}
	}
	return false
}

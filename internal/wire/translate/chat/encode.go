package chat

import (
	"slices"
	"strings"

	"rubicon/internal/jsonscan"
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

func (e *encoder) tools() {
	if len(e.offers.List) == 0 {
		return
	}
	e.w.array("tools")
	for i := range e.offers.List {
		e.tool(&e.offers.List[i])
	}
	e.w.shut(']')
}

func (e *encoder) tool(t *translate.Offered) {
	if t.Cache != nil {
		e.rep.Take(translate.FeatureToolCache, t.Cache.Path, "")
	}
	e.w.element()
	switch t.Kind {
	case translate.Function:
		e.w.open('{')
		e.w.text("type", "function")
		e.function(t)
		e.w.shut('}')
	case translate.Custom:
		e.w.open('{')
		e.w.text("type", "custom")
		e.custom(t)
		e.w.shut('}')
	default: // a tool of this format's own
		e.w.b = append(e.w.b, t.Raw...)
	}
}

func (e *encoder) function(t *translate.Offered) {
	e.w.object("function")
	e.w.text("name", t.Wire)
	if t.Description != "" {
		e.w.text("description", t.Description)
	}
	if t.Schema != nil {
		e.w.raw("parameters", t.Schema)
	}
	if t.Strict != nil && (*t.Strict || e.f.StrictTools) {
		e.w.bool("strict", *t.Strict)
	}
	e.w.shut('}')
}

func (e *encoder) custom(t *translate.Offered) {
	e.w.object("custom")
	e.w.text("name", t.Wire)
	if t.Description != "" {
		e.w.text("description", t.Description)
	}
	if t.Grammar != "" {
		e.w.object("format")
		e.w.text("type", "grammar")
		e.w.object("grammar")
		e.w.text("syntax", t.Syntax)
		e.w.text("definition", t.Grammar)
		e.w.shut('}')
		e.w.shut('}')
	}
	e.w.shut('}')
}

func (e *encoder) choice() {
	c := &e.offers.Choice
	switch {
	case c.Allowed != nil:
		e.w.object("tool_choice")
		e.w.text("type", "allowed_tools")
		e.w.object("allowed_tools")
		e.w.text("mode", string(c.Mode))
		e.w.array("tools")
		for _, n := range e.allowed() {
			e.w.element()
			e.w.open('{')
			e.toolName(n)
			e.w.shut('}')
		}
		e.w.shut(']')
		e.w.shut('}')
		e.w.shut('}')
	case c.Mode == translate.Named && (c.Tool.Kind == translate.Function || c.Tool.Kind == translate.Custom):
		e.w.object("tool_choice")
		e.toolName(c.Tool)
		e.w.shut('}')
	case c.Mode == translate.Named:
		e.w.object("tool_choice")
		e.w.text("type", c.Tool.Type)
		e.w.shut('}')
	case c.Mode != translate.Unsaid:
		e.w.text("tool_choice", string(c.Mode))
	}
	if c.ParallelOff {
		e.w.bool("parallel_tool_calls", false)
	}
}

// allowed is what is left of the tools that the choice is among. What is not
// there was told as a tool.
func (e *encoder) allowed() []translate.ToolName {
	c := &e.offers.Choice
	left := slices.DeleteFunc(slices.Clone(c.Allowed), func(n translate.ToolName) bool {
		return n.Kind == translate.HostedTool || n.Kind == translate.UnknownTool
	})
	if len(left) == 0 && c.Mode == translate.Required {
		e.rep.Exclude(translate.FeatureForcedHosted, c.Path)
	}
	return left
}

func (e *encoder) toolName(n translate.ToolName) {
	typ := "function"
	if how, _ := e.rep.How(translate.FeatureCustomTool); n.Kind == translate.Custom && how == translate.Carried {
		typ = "custom"
	}
	e.w.text("type", typ)
	e.w.object(typ)
	e.w.text("name", e.offers.Names.Wire(n.Namespace, n.Name))
	e.w.shut('}')
}

// members are the names of the settings that the format has.
var members = [...]struct {
	feature translate.Feature
	name    string
}{
	{translate.FeatureTemperature, "temperature"},
	{translate.FeatureTopP, "top_p"},
	{translate.FeatureFrequency, "frequency_penalty"},
	{translate.FeaturePresence, "presence_penalty"},
	{translate.FeatureSeed, "seed"},
	{translate.FeatureLogitBias, "logit_bias"},
	{translate.FeatureChoices, "n"},
	{translate.FeatureVerbosity, "verbosity"},
	{translate.FeaturePrediction, "prediction"},
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
		case e.native() && !strings.ContainsAny(s.Path, ".["):
			e.w.raw(s.Path, s.Value)
		case s.Feature == translate.FeatureUser:
			e.endUser(s)
		case s.Feature == translate.FeatureTier:
			e.tier(s)
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
	e.w.bool("logprobs", true)
	if !same(s.Value, "0") {
		e.w.raw("top_logprobs", s.Value)
	}
}

// endUser writes the end user's id, as a hash.
func (e *encoder) endUser(s *translate.Setting) {
	e.rep.Take(s.Feature, s.Path, "")
	if id, ok := jsonscan.Text(s.Value); ok && id != "" && s == e.r.Get(translate.FeatureUser) {
		e.w.text("safety_identifier", translate.HashUser(id))
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

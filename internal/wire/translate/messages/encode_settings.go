package messages

import (
	"strconv"
	"strings"

	"rubicon/internal/jsonscan"
	"rubicon/internal/wire/translate"
)

// thought is what the body says of thinking.
type thought struct {
	mode    string // adaptive, enabled, disabled; "" is not said
	budget  int64
	display string
	effort  string
}

// on tells whether the model is asked to think.
func (t *thought) on() bool { return t.mode == "adaptive" || t.mode == "enabled" }

// planThought decides on thinking, by what the model takes.
func (e *encoder) planThought() thought {
	asked, path := e.r.Asked()
	if asked != "" && !translate.KnownEffort(asked) {
		e.rep.Exclude(translate.FeatureBadEffort, path)
		return thought{}
	}
	var t thought
	switch e.f.Thinking {
	case "budget":
		t = e.budgeted(asked, path)
	case "adaptive", "always":
		t = e.adaptive(asked, path)
	default:
		if asked != "" && asked != "none" || e.r.Reasoning.Adaptive {
			e.rep.NoteBecause(translate.Dropped, translate.FeatureEffort, e.thoughtPath(path), asked, "", "the model does not think")
		}
	}
	e.show(&t)
	if t.on() && e.offers.Forced() {
		e.rep.Take(translate.FeatureForcedThought, e.offers.Choice.Path, "")
	}
	return t
}

func (e *encoder) thoughtPath(path string) string {
	if path == "" {
		return e.r.Reasoning.Path
	}
	return path
}

// budgeted is thinking under a budget of tokens.
func (e *encoder) budgeted(asked, path string) thought {
	r := &e.r.Reasoning
	if asked == "none" || asked == "" && !r.Adaptive {
		if r.Off && e.native() {
			return thought{mode: "disabled"}
		}
		return thought{}
	}
	if asked == "" {
		asked = "high" // what adaptive thinking does unless told otherwise
	}
	budget, fits := translate.BudgetOf(asked, e.limit())
	if r.Budget > 0 {
		budget, fits = translate.FitBudget(r.Budget, e.limit())
	}
	switch path = e.thoughtPath(path); {
	case !fits:
		e.rep.NoteBecause(translate.Dropped, translate.FeatureEffort, path, asked, "", "the output limit leaves no room for thinking")
		return thought{}
	case r.Budget > 0 && budget != r.Budget:
		e.rep.NoteBecause(translate.Changed, translate.FeatureBudget, path, strconv.FormatInt(r.Budget, 10), strconv.FormatInt(budget, 10), "a budget lies between 1024 and the output limit")
	case r.Budget == 0 && translate.NearestEffort(asked, []string{"minimal", "low", "medium", "high"}) != asked:
		e.rep.Note(translate.Changed, translate.FeatureEffort, path, asked, "high")
	}
	return thought{mode: "enabled", budget: budget}
}

// adaptive is thinking under an effort.
func (e *encoder) adaptive(asked, path string) thought {
	r := &e.r.Reasoning
	always := e.f.Thinking == "always"
	switch {
	case asked == "none" && !always:
		return thought{mode: "disabled"}
	case asked == "" && !r.Adaptive && !e.wantsSummary():
		return thought{}
	}
	t := thought{mode: "adaptive", effort: translate.EffortFor(e.r, e.rep, e.f)}
	if always && !e.wantsSummary() || e.native() && r.Path == "" {
		t.mode = ""
	}
	return t
}

func (e *encoder) wantsSummary() bool {
	s := e.r.Reasoning.Summary
	return s != "" && s != "omitted"
}

// show decides on what is shown of the thinking.
func (e *encoder) show(t *thought) {
	r := &e.r.Reasoning
	switch {
	case r.Summary == "":
	case t.on() && r.Summary == "omitted":
		t.display = "omitted"
	case t.on():
		t.display = "summarized"
	case e.wantsSummary() && (t.mode == "" && e.f.Thinking != "always"):
		e.rep.NoteBecause(translate.Dropped, translate.FeatureSummary, e.thoughtPath(r.EffortPath), "", "", "the model is not asked to think")
	}
}

func (e *encoder) writeThought() {
	t := &e.think
	if t.mode != "" {
		e.w.key("thinking").open('{')
		e.w.key("type").text(t.mode)
		if t.mode == "enabled" {
			e.w.key("budget_tokens").int(t.budget)
		}
		if t.display != "" {
			e.w.key("display").text(t.display)
		}
		e.w.close('}')
	}
	schema := e.format()
	if t.effort == "" && schema == nil {
		return
	}
	e.w.key("output_config").open('{')
	if t.effort != "" {
		e.w.key("effort").text(t.effort)
	}
	if schema != nil {
		e.w.key("format").open('{')
		e.w.key("type").text("json_schema")
		e.w.key("schema").raw(schema)
		e.w.close('}')
	}
	e.w.close('}')
}

// format is the schema that the answer must keep to, nil for none.
func (e *encoder) format() []byte {
	a := &e.r.Answer
	switch a.Shape {
	case translate.JSONObject:
		e.rep.Take(translate.FeatureJSONObject, a.Path, "")
	case translate.JSONSchema:
		if !e.rep.Take(translate.FeatureJSONSchema, a.Path, "") {
			return nil
		}
		if a.Name != "" || a.Description != "" {
			e.rep.NoteQuietly(translate.Dropped, translate.FeatureSchemaName, a.Path, a.Name, "", "the format has no name for a schema")
		}
		if jsonscan.KindOf(a.Schema) != jsonscan.KindObject {
			e.rep.ExcludeBecause(translate.FeatureJSONSchema, a.Path, "there is no schema in it", "send the schema")
			return nil
		}
		schema, added := a.Schema, false
		if !e.native() {
			schema, added = closed(a.Schema)
		}
		if added {
			e.rep.NoteQuietly(translate.Changed, translate.FeatureJSONSchema, a.Path, "", "additionalProperties", "the format wants objects without further members")
		}
		return schema
	}
	return nil
}

// settings writes the members that stand alone.
func (e *encoder) settings() {
	metadata := writer{}
	for i := range e.r.Settings {
		s := &e.r.Settings[i]
		switch {
		case s.Feature == translate.FeaturePrewarm && e.native():
		case strings.HasPrefix(s.Path, "metadata.") && e.native():
			metadata.key(strings.TrimPrefix(s.Path, "metadata.")).raw(s.Value)
		case e.native() && s.Feature == translate.FeatureTier:
			e.tier(s)
		case e.native() && !strings.ContainsAny(s.Path, ".["):
			e.w.key(s.Path).raw(s.Value)
		default:
			e.setting(s, &metadata)
		}
	}
	if metadata.b != nil {
		e.w.key("metadata").raw(append(append([]byte{'{'}, metadata.b...), '}'))
	}
}

func (e *encoder) setting(s *translate.Setting, metadata *writer) {
	switch s.Feature {
	case translate.FeatureTemperature:
		e.temperature(s)
	case translate.FeatureTopP:
		e.sampling(s, "top_p", func(v float64) bool { return v >= 0.95 })
	case translate.FeatureTopK:
		e.sampling(s, "top_k", func(float64) bool { return false })
	case translate.FeatureUser:
		e.user(s, metadata)
	case translate.FeatureTier:
		e.tier(s)
	default:
		if e.rep.Take(s.Feature, s.Path, short(s)) {
			// The table carries it, but there is no member for it here.
			e.rep.NoteBecause(translate.Dropped, s.Feature, s.Path, short(s), "", "the upstream's format has no field for it")
		}
	}
}

// user writes the end user's id, as a hash; two members may name it.
func (e *encoder) user(s *translate.Setting, metadata *writer) {
	e.rep.Take(translate.FeatureUser, s.Path, "")
	if id, ok := jsonscan.Text(s.Value); ok && id != "" && metadata.b == nil {
		metadata.key("user_id").text(translate.HashUser(id))
	}
}

// temperature is at most 1.
func (e *encoder) temperature(s *translate.Setting) {
	if v, err := strconv.ParseFloat(string(s.Value), 64); err == nil && v > 1 && !e.f.FixedSampling && !e.think.on() {
		e.rep.NoteBecause(translate.Changed, s.Feature, s.Path, string(s.Value), "1", "it is at most 1 there")
		e.w.key("temperature").word("1")
		return
	}
	e.sampling(s, "temperature", func(v float64) bool { return v == 1 })
}

// sampling writes a setting of sampling. While the model thinks, most values are
// refused.
func (e *encoder) sampling(s *translate.Setting, key string, whileThinking func(float64) bool) {
	if !e.rep.Take(s.Feature, s.Path, short(s)) {
		return
	}
	v, err := strconv.ParseFloat(string(s.Value), 64)
	if err == nil && e.think.on() && !whileThinking(v) {
		e.rep.NoteBecause(translate.Dropped, s.Feature, s.Path, short(s), "", "it cannot be set while the model thinks")
		return
	}
	e.w.key(key).raw(s.Value)
}

// tier names the tier: automatic, which uses what priority there is, or not.
func (e *encoder) tier(s *translate.Setting) {
	word, _ := jsonscan.Text(s.Value)
	switch word {
	case "auto", "standard_only":
		e.w.key("service_tier").text(word)
	case "default":
		e.w.key("service_tier").text("standard_only")
	case "priority":
		e.rep.NoteBecause(translate.Changed, s.Feature, s.Path, word, "auto", "the tier is chosen by what was bought there")
		e.w.key("service_tier").text("auto")
	default:
		e.rep.NoteBecause(translate.Dropped, s.Feature, s.Path, short(s), "", "the upstream has no such tier")
	}
}

// private tells settings whose values are nobody else's business.
func private(f translate.Feature) bool {
	switch f {
	case translate.FeatureMetadata, translate.FeatureUser, translate.FeatureUnknown, translate.FeatureCacheKey, translate.FeatureState, translate.FeaturePrediction:
		return true
	}
	return false
}

// short is a setting's value for a note, where it is short and harmless.
func short(s *translate.Setting) string {
	if private(s.Feature) || len(s.Value) > 32 {
		return ""
	}
	switch jsonscan.KindOf(s.Value) {
	case jsonscan.KindNumber, jsonscan.KindBool:
		return string(s.Value)
	case jsonscan.KindString:
		word, _ := jsonscan.Text(s.Value)
		return word
	}
	return ""
}

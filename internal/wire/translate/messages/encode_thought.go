package messages

import (
	"strconv"

	"rubicon/internal/wire/jsonscan"
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
	case e.lacksThinking() && !e.native():
		e.rep.NoteBecause(translate.Dropped, translate.FeatureEffort, path, asked, "", "the calls before these results came without signed thinking, which the upstream insists on while thinking is on")
		return thought{}
	case r.Budget > 0 && budget != r.Budget:
		e.rep.NoteBecause(translate.Changed, translate.FeatureBudget, path, strconv.FormatInt(r.Budget, 10), strconv.FormatInt(budget, 10), "a budget lies between 1024 and the output limit")
	case r.Budget == 0 && translate.NearestEffort(asked, []string{"minimal", "low", "medium", "high"}) != asked:
		e.rep.Note(translate.Changed, translate.FeatureEffort, path, asked, "high")
	}
	return thought{mode: "enabled", budget: budget}
}

// lacksThinking tells whether the request goes on with a turn of calls that does
// not begin with thinking: under a budget that is refused.
func (e *encoder) lacksThinking() bool {
	n := len(e.turns)
	if n < 2 || e.turns[n-1].Blocks[0].Kind != translate.Result {
		return false
	}
	return e.turns[n-2].Blocks[0].Kind != translate.Think
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

package chat

import (
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

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

package responses

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
		case e.native() && s.Path == cacheTTLPath:
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

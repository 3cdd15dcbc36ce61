package messages

import (
	"strconv"
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

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
		if e.rep.Take(s.Feature, s.Path, s.Short()) {
			// The table carries it, but there is no member for it here.
			e.rep.NoteBecause(translate.Dropped, s.Feature, s.Path, s.Short(), "", "the upstream's format has no field for it")
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
	if !e.rep.Take(s.Feature, s.Path, s.Short()) {
		return
	}
	v, err := strconv.ParseFloat(string(s.Value), 64)
	if err == nil && e.think.on() && !whileThinking(v) {
		e.rep.NoteBecause(translate.Dropped, s.Feature, s.Path, s.Short(), "", "it cannot be set while the model thinks")
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
		e.rep.NoteBecause(translate.Dropped, s.Feature, s.Path, s.Short(), "", "the upstream has no such tier")
	}
}

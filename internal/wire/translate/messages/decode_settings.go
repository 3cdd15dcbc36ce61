package messages

import (
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// limit reads max_tokens. Zero asks for the cache to be warmed and for nothing
// else.
func (d *decoder) limit(v []byte) {
	n, ok := jsonscan.Int(v)
	if !ok || n < 0 {
		d.fail("max_tokens", "a whole number is expected")
		return
	}
	if n == 0 {
		d.setting(translate.FeaturePrewarm, "max_tokens", v)
		return
	}
	d.r.MaxOutput = translate.Number{Value: n, Path: "max_tokens"}
}

func (d *decoder) metadata(v []byte) {
	d.members(v, "metadata", func(key, path string, v []byte) bool {
		if key != "user_id" || jsonscan.KindOf(v) != jsonscan.KindString {
			return false
		}
		d.setting(translate.FeatureUser, path, v)
		return true
	})
}

// tier reads the service tier in the words that all formats share; the automatic
// one is what is usual.
func (d *decoder) tier(v []byte) {
	if jsonscan.Equal(v, "standard_only") {
		v = []byte(`"default"`)
	}
	d.unless("auto", translate.FeatureTier, "service_tier", v)
}

// unless makes a setting of a member that does not say what is usual.
func (d *decoder) unless(usual string, f translate.Feature, path string, v []byte) {
	if !jsonscan.Equal(v, usual) {
		d.setting(f, path, v)
	}
}

// contextEdits reads what is to be cleared of a long conversation. Clearing
// earlier reasoning alone changes nothing that another format would carry; what
// else is cleared or summed up changes what the model sees.
func (d *decoder) contextEdits(v []byte) {
	const at = "context_management"
	edits := jsonscan.Get(v, "edits")
	if edits == nil || jsonscan.Empty(edits) {
		return
	}
	f := translate.FeatureClearThinking
	el := jsonscan.Array(edits)
	for el.Next() {
		if typ, _ := jsonscan.Text(jsonscan.Get(el.Value(), "type")); !strings.HasPrefix(typ, "clear_thinking_") {
			f = translate.FeatureState
		}
	}
	d.setting(f, at, v)
}

func (d *decoder) thinking(v []byte) {
	t := &d.r.Reasoning
	t.Path = "thinking"
	d.members(v, "thinking", func(key, path string, v []byte) bool {
		switch key {
		case "type":
			switch word := d.text(v, path); word {
			case "adaptive":
				t.Adaptive = true
			case "disabled":
				t.Off = true
			default:
				return word == "enabled"
			}
		case "budget_tokens":
			t.Budget = d.count(v, path)
		case "display":
			if word := d.text(v, path); word == "summarized" {
				t.Summary = "auto"
			} else {
				t.Summary = word
			}
		default:
			return false
		}
		return true
	})
	if on, _ := jsonscan.Text(jsonscan.Get(v, "type")); on == "enabled" && t.Budget == 0 {
		t.Adaptive = true // thinking without a word on how much
	}
}

func (d *decoder) outputConfig(v []byte) {
	d.members(v, "output_config", func(key, path string, v []byte) bool {
		switch key {
		case "effort":
			d.r.Reasoning.Effort, d.r.Reasoning.EffortPath = d.text(v, path), path
		case "format":
			d.format(v, path)
		default:
			return false
		}
		return true
	})
}

func (d *decoder) format(v []byte, at string) {
	if typ := jsonscan.Get(v, "type"); !jsonscan.Equal(typ, "json_schema") && !jsonscan.Equal(typ, "text") {
		d.setting(translate.FeatureOddFormat, at, v)
		return
	}
	a := translate.AnswerFormat{Path: at}
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "type":
			if jsonscan.Equal(v, "json_schema") {
				a.Shape = translate.JSONSchema
			}
		case "schema":
			a.Schema = raw(v)
		default:
			return false
		}
		return true
	})
	d.r.Answer = a
}

package responses

import (
	"slices"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// settings are the members that stand alone, with their features. A value that
// says what is usual anyway is no setting.
var settings = [...]struct {
	name    string
	feature translate.Feature
	usual   string
}{
	{"temperature", translate.FeatureTemperature, ""},
	{"top_p", translate.FeatureTopP, ""},
	{"frequency_penalty", translate.FeatureFrequency, "0"},
	{"presence_penalty", translate.FeaturePresence, "0"},
	{"metadata", translate.FeatureMetadata, "{}"},
	{"service_tier", translate.FeatureTier, ""},
	{"max_tool_calls", translate.FeatureMaxCalls, ""},
	{"prompt_cache_key", translate.FeatureCacheKey, `""`},
	{"prompt_cache_retention", translate.FeatureRetention, ""},
	{"moderation", translate.FeatureModeration, ""},
	{"truncation", translate.FeatureTruncation, `"disabled"`},
	{"background", translate.FeatureBackground, "false"},
	{"previous_response_id", translate.FeatureState, ""},
	{"conversation", translate.FeatureState, ""},
	{"prompt", translate.FeatureState, ""},
	{"context_management", translate.FeatureState, "[]"},
}

// framing are the members that a WebSocket's frame has around a request. They
// ask for nothing.
var framing = [...]string{"type", "generate", "stream_id"}

// value reads a member that is a value, or belongs to a group of values.
func (d *requestDecoder) value(key string, v []byte) {
	switch key {
	case "max_output_tokens":
		d.limit(v, key)
	case "top_logprobs":
		d.topLogprobs = v
	case "user":
		d.user = v
	case "safety_identifier":
		d.safety = v
	case "prompt_cache_options":
		d.cacheOptions(v, key)
	case "store":
		d.storeSaid = true
		if on := d.bool(v, key); on {
			d.setting(translate.FeatureState, key, v)
		}
	default:
		d.standing(key, v)
	}
}

// standing reads a member that stands alone.
func (d *requestDecoder) standing(key string, v []byte) {
	for _, s := range settings {
		if s.name == key {
			if s.usual == "" || string(v) != s.usual {
				d.setting(s.feature, key, v)
			}
			return
		}
	}
	if !slices.Contains(framing[:], key) {
		d.unknown(key, v)
	}
}

func (d *requestDecoder) limit(v []byte, key string) {
	n, ok := jsonscan.Int(v)
	switch {
	case !ok || n < 0:
		d.fail(key, "a whole number is expected")
	case n == 0:
		d.setting(translate.FeaturePrewarm, key, v)
	default:
		d.r.MaxOutput = translate.Number{Value: n, Path: key}
	}
}

// include reads one word of what the client wants to be told in addition.
func (d *requestDecoder) include(path string, v []byte) {
	switch word := d.text(v, path); word {
	case includeSeals:
		d.r.Reasoning.KeepSeals = true
	case includeLogprobs:
		d.logprobs = path
	default:
		d.setting(translate.FeatureInclude, path, v)
	}
}

// The words of include that stand for something that other formats know.
const (
	includeSeals    = "reasoning.encrypted_content"
	includeLogprobs = "message.output_text.logprobs"
)

func (d *requestDecoder) reasoning(v []byte, at string) {
	t := &d.r.Reasoning
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "effort":
			t.Effort, t.EffortPath = string(v), path // some clients send a number
			if v[0] == '"' {
				t.Effort = d.text(v, path)
			}
		case "summary", "generate_summary":
			t.Summary, t.Path = d.text(v, path), path
		case "context", "mode":
			return jsonscan.Equal(v, "auto")
		default:
			return false
		}
		return true
	})
}

// prose reads what the answer's text is to be.
func (d *requestDecoder) prose(v []byte, at string) {
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "format":
			d.format(v, path)
		case "verbosity":
			if !jsonscan.Equal(v, "medium") { // what is usual
				d.setting(translate.FeatureVerbosity, path, v)
			}
		default:
			return false
		}
		return true
	})
}

func (d *requestDecoder) format(v []byte, at string) {
	a := translate.AnswerFormat{Path: at}
	switch typ := textOf(v, "type"); typ {
	case "text":
		return
	case "json_object":
		a.Shape = translate.JSONObject
	case "json_schema":
		a.Shape = translate.JSONSchema
	default:
		d.setting(translate.FeatureOddFormat, at, v)
		return
	}
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "type":
		case "name":
			a.Name = d.text(v, path)
		case "description":
			a.Description = d.text(v, path)
		case "schema":
			a.Schema = raw(v)
		case "strict":
			strict := d.bool(v, path)
			a.Strict = &strict
		default:
			return false
		}
		return true
	})
	d.r.Answer = a
}

// cacheTTLPath is where a request names the lifetime of all its cache points.
const cacheTTLPath = "prompt_cache_options.ttl"

func (d *requestDecoder) cacheOptions(v []byte, at string) {
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "ttl":
			d.cacheTTL = d.text(v, path)
		case "mode":
			return jsonscan.Equal(v, "implicit")
		case "prewarm":
			if on, _ := jsonscan.Bool(v); on {
				d.setting(translate.FeaturePrewarm, path, v)
			}
		default:
			return false
		}
		return true
	})
}

package chat

import (
	"fmt"
	"slices"
	"strconv"

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
	{"top_k", translate.FeatureTopK, ""},
	{"frequency_penalty", translate.FeatureFrequency, "0"},
	{"presence_penalty", translate.FeaturePresence, "0"},
	{"seed", translate.FeatureSeed, ""},
	{"logit_bias", translate.FeatureLogitBias, "{}"},
	{"n", translate.FeatureChoices, "1"},
	{"store", translate.FeatureStore, "false"},
	{"metadata", translate.FeatureMetadata, "{}"},
	{"service_tier", translate.FeatureTier, ""},
	{"verbosity", translate.FeatureVerbosity, ""},
	{"modalities", translate.FeatureAudioOut, `["text"]`},
	{"audio", translate.FeatureAudioOut, ""},
	{"prediction", translate.FeaturePrediction, ""},
	{"moderation", translate.FeatureModeration, ""},
	{"prompt_cache_key", translate.FeatureCacheKey, `""`},
	{"prompt_cache_retention", translate.FeatureRetention, ""},
}

// hostedMembers are members that stand for tools which run at the provider.
var hostedMembers = [...]string{"web_search_options", "mcp_servers", "plugins"}

// requestDecoder reads one request. The first thing that cannot be read is its
// error.
type requestDecoder struct {
	r   *translate.Request
	err error

	// What is only understood together.
	maxTokens, maxCompletion translate.Number
	logprobs                 bool
	topLogprobs              []byte
	user, safety             []byte
	cacheOptions             []byte
	points                   []*translate.CachePoint
}

// decodeRequest reads a client's body. A null member is an absent one.
func decodeRequest(body []byte) (*translate.Request, error) {
	d := requestDecoder{r: &translate.Request{From: translate.Chat}}
	m := jsonscan.Object(body)
	for m.Next() {
		if v := m.Value(); !null(v) {
			d.member(string(m.Key()), v)
		}
	}
	if err := m.Err(); err != nil {
		return nil, err
	}
	d.together()
	if d.err != nil {
		return nil, d.err
	}
	return d.r, nil
}

func (d *requestDecoder) member(key string, v []byte) {
	r := d.r
	switch key {
	case "model":
		r.Model = d.text(v, key)
	case "messages":
		d.messages(v)
	case "stream":
		r.Stream = d.bool(v, key)
	case "stream_options":
		d.members(v, key, func(key, _ string, v []byte) bool {
			if key == "include_usage" {
				r.WantUsage, _ = jsonscan.Bool(v)
			}
			return key == "include_usage" || key == "include_obfuscation"
		})
	case "usage": // OpenRouter's way to ask for it
		if on, _ := jsonscan.Bool(jsonscan.Get(v, "include")); on {
			r.WantUsage = true
		}
	case "stop":
		d.stop(v)
	case "tools":
		d.elements(v, key, func(path string, v []byte) { r.Tools = append(r.Tools, d.tool(v, path)) })
	case "functions":
		d.elements(v, key, func(path string, v []byte) { r.Tools = append(r.Tools, d.function(v, path, path)) })
	case "tool_choice", "function_call":
		d.choice(v, key)
	case "parallel_tool_calls":
		if on := d.bool(v, key); !on {
			r.Choice.ParallelOff, r.Choice.ParallelPath = true, key
		}
	case "response_format":
		d.format(v, key)
	default:
		d.value(key, v)
	}
}

// value reads a member that is a value, or belongs to a group of values.
func (d *requestDecoder) value(key string, v []byte) {
	switch key {
	case "max_tokens":
		d.maxTokens = d.limit(v, key)
	case "max_completion_tokens":
		d.maxCompletion = d.limit(v, key)
	case "logprobs":
		d.logprobs = d.bool(v, key)
	case "top_logprobs":
		d.topLogprobs = v
	case "user":
		d.user = v
	case "safety_identifier":
		d.safety = v
	case "prompt_cache_options":
		d.cacheOptions = v
	case "reasoning_effort":
		d.r.Reasoning.Effort, d.r.Reasoning.EffortPath = d.text(v, key), key
	case "reasoning", "thinking":
		d.reasoning(v, key)
	case "include_reasoning":
		d.r.Reasoning.KeepSeals = d.bool(v, key)
	default:
		d.standing(key, v)
	}
}

// standing reads a member that stands alone.
func (d *requestDecoder) standing(key string, v []byte) {
	for _, s := range settings {
		if s.name == key {
			if s.usual == "" || !same(v, s.usual) {
				d.setting(s.feature, key, v)
			}
			return
		}
	}
	if slices.Contains(hostedMembers[:], key) {
		if key == "web_search_options" || !jsonscan.Empty(v) {
			d.r.Tools = append(d.r.Tools, translate.Tool{Kind: translate.HostedTool, Path: key, Type: key, Raw: raw(v)})
		}
		return
	}
	d.unknown(key, v)
}

// members walks an object's members that are not null; those that take does not
// know are noted as unknown.
func (d *requestDecoder) members(v []byte, at string, take func(key, path string, v []byte) bool) {
	if jsonscan.KindOf(v) != jsonscan.KindObject {
		d.fail(at, "an object is expected")
		return
	}
	m := jsonscan.Object(v)
	for m.Next() {
		if null(m.Value()) {
			continue
		}
		key := string(m.Key())
		if path := at + "." + key; !take(key, path, m.Value()) {
			d.unknown(path, m.Value())
		}
	}
}

// elements walks an array.
func (d *requestDecoder) elements(v []byte, at string, take func(path string, v []byte)) {
	if jsonscan.KindOf(v) != jsonscan.KindArray {
		d.fail(at, "a list is expected")
		return
	}
	el := jsonscan.Array(v)
	for i := 0; el.Next(); i++ {
		take(at+"["+strconv.Itoa(i)+"]", el.Value())
	}
}

func (d *requestDecoder) setting(f translate.Feature, path string, v []byte) {
	d.r.Settings = append(d.r.Settings, translate.Setting{Feature: f, Path: path, Value: raw(v)})
}

// unknown keeps a member that nobody here knows, unless it says nothing.
func (d *requestDecoder) unknown(path string, v []byte) {
	if !jsonscan.Empty(v) {
		d.setting(translate.FeatureUnknown, path, v)
	}
}

func (d *requestDecoder) fail(path, why string) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %s", path, why)
	}
}

func (d *requestDecoder) text(v []byte, path string) string {
	s, ok := jsonscan.Text(v)
	if !ok {
		d.fail(path, "a string is expected")
	}
	return s
}

func (d *requestDecoder) bool(v []byte, path string) bool {
	b, ok := jsonscan.Bool(v)
	if !ok {
		d.fail(path, "true or false is expected")
	}
	return b
}

// null tells a null from other checked values.
func null(v []byte) bool { return len(v) > 0 && v[0] == 'n' }

// raw is a value with bytes of its own.
func raw(v []byte) translate.Raw { return append(translate.Raw(nil), v...) }

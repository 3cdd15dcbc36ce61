package responses

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

// requestDecoder reads one request. The first thing that cannot be read is its
// error.
type requestDecoder struct {
	r   *translate.Request
	err error

	// What is only understood together.
	instructions []translate.Block
	logprobs     string // the path that asks for them without a number
	topLogprobs  []byte
	user, safety []byte
	cacheTTL     string
	points       []*translate.CachePoint
	storeSaid    bool
}

// decodeRequest reads a client's body. A null member is an absent one.
func decodeRequest(body []byte) (*translate.Request, error) {
	d := requestDecoder{r: &translate.Request{From: translate.Responses}}
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
	case "stream":
		r.Stream = d.bool(v, key)
	case "stream_options":
		d.members(v, key, func(key, _ string, _ []byte) bool { return key == "include_obfuscation" })
	case "instructions":
		d.instructed(v)
	case "input":
		d.input(v)
	case "tools":
		d.tools(v, key)
	case "tool_choice":
		d.choice(v)
	case "parallel_tool_calls":
		if on := d.bool(v, key); !on {
			r.Choice.ParallelOff, r.Choice.ParallelPath = true, key
		}
	case "reasoning":
		d.reasoning(v, key)
	case "text":
		d.prose(v, key)
	case "include":
		d.elements(v, key, d.include)
	default:
		d.value(key, v)
	}
}

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

// together reads what several members say with one another.
func (d *requestDecoder) together() {
	r := d.r
	r.System = append(d.instructions, r.System...)
	switch {
	case d.topLogprobs != nil && (d.logprobs != "" || string(d.topLogprobs) != "0"):
		d.setting(translate.FeatureLogprobs, "top_logprobs", d.topLogprobs)
	case d.logprobs != "":
		d.setting(translate.FeatureLogprobs, d.logprobs, []byte("0"))
	}
	switch {
	case d.safety != nil:
		d.setting(translate.FeatureUser, "safety_identifier", d.safety)
		if d.user != nil { // an older name for the same: one of them travels
			d.unknown("user", d.user)
		}
	case d.user != nil:
		d.setting(translate.FeatureUser, "user", d.user)
	}
	for _, p := range d.points {
		if p.TTL == "" {
			p.TTL = d.cacheTTL
		}
	}
	if d.cacheTTL != "" && len(d.points) == 0 {
		d.setting(translate.FeatureCacheTTL, "prompt_cache_options.ttl", jsonscan.AppendString(nil, d.cacheTTL))
	}
	if !d.storeSaid { // providers store what does not say otherwise
		d.setting(translate.FeatureStore, "store", []byte("null"))
	}
	d.nameChoice()
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

// textOf is a member's text, "" if it has none.
func textOf(v []byte, key string) string {
	s, _ := jsonscan.Text(jsonscan.Get(v, key))
	return s
}

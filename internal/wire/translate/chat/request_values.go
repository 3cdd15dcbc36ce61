package chat

import (
	"strconv"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// same compares a value with a short one, ignoring white space.
func same(v []byte, word string) bool {
	i := 0
	for _, c := range v {
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case i == len(word) || word[i] != c:
			n, isInt := jsonscan.Int(v)
			return isInt && strconv.FormatInt(n, 10) == word
		default:
			i++
		}
	}
	return i == len(word)
}

// limit reads a limit of the output. Nobody's answer has no tokens.
func (d *requestDecoder) limit(v []byte, key string) translate.Number {
	n, ok := jsonscan.Int(v)
	if !ok || n < 0 {
		d.fail(key, "a whole number is expected")
		return translate.Number{}
	}
	if n == 0 {
		d.setting(translate.FeaturePrewarm, key, v)
		return translate.Number{}
	}
	return translate.Number{Value: n, Path: key}
}

// together reads what several members say with one another.
func (d *requestDecoder) together() {
	r := d.r
	r.MaxOutput = d.maxCompletion
	switch {
	case d.maxCompletion.Path == "":
		r.MaxOutput = d.maxTokens
	case d.maxTokens.Path != "" && d.maxTokens.Value != d.maxCompletion.Value:
		d.setting(translate.FeatureTwoLimits, d.maxTokens.Path, strconv.AppendInt(nil, d.maxTokens.Value, 10))
	}
	switch {
	case d.topLogprobs != nil:
		d.setting(translate.FeatureLogprobs, "top_logprobs", d.topLogprobs)
	case d.logprobs:
		d.setting(translate.FeatureLogprobs, "logprobs", []byte("0"))
	}
	switch {
	case d.safety != nil:
		d.setting(translate.FeatureUser, "safety_identifier", d.safety)
		if d.user != nil { // an older name for the same: one of them travels
			d.setting(translate.FeatureUnknown, "user", d.user)
		}
	case d.user != nil:
		d.setting(translate.FeatureUser, "user", d.user)
	}
	d.lifetimes()
}

// lifetimes gives the request's usual lifetime to the cache points that name
// none.
func (d *requestDecoder) lifetimes() {
	if d.cacheOptions == nil {
		return
	}
	ttl, _ := jsonscan.Text(jsonscan.Get(d.cacheOptions, "ttl"))
	for _, p := range d.points {
		if p.TTL == "" {
			p.TTL = ttl
		}
	}
	if len(d.points) == 0 && !jsonscan.Empty(d.cacheOptions) {
		d.setting(translate.FeatureUnknown, "prompt_cache_options", d.cacheOptions)
	}
}

func (d *requestDecoder) stop(v []byte) {
	s := translate.Stops{Path: "stop"}
	if v[0] == '"' {
		s.Words = []string{d.text(v, s.Path)}
	} else {
		d.elements(v, s.Path, func(path string, v []byte) { s.Words = append(s.Words, d.text(v, path)) })
	}
	if len(s.Words) > 0 {
		d.r.Stop = s
	}
}

// reasoning reads OpenRouter's and Z.ai's ways to say how much is to be thought.
func (d *requestDecoder) reasoning(v []byte, at string) {
	t := &d.r.Reasoning
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "effort":
			t.Effort, t.EffortPath = d.text(v, path), path
		case "max_tokens", "budget_tokens":
			n, _ := jsonscan.Int(v)
			t.Budget, t.Path = max(n, 0), path
		case "enabled":
			if on, isBool := jsonscan.Bool(v); isBool && !on {
				t.Off, t.Path = true, path
			}
			t.KeepSeals = true
		case "type":
			if jsonscan.Equal(v, "disabled") {
				t.Off, t.Path = true, path
			}
		case "exclude":
			if on, _ := jsonscan.Bool(v); on {
				t.Summary = "omitted"
			}
		case "summary":
			t.Summary = d.text(v, path)
		default:
			return false
		}
		return true
	})
	// The object is spoken by clients that know reasoning_details.
	t.KeepSeals = t.KeepSeals || at == "reasoning"
}

func (d *requestDecoder) format(v []byte, at string) {
	a := translate.AnswerFormat{Path: at}
	switch typ, _ := jsonscan.Text(jsonscan.Get(v, "type")); typ {
	case "text":
		return
	case "json_object":
		a.Shape = translate.JSONObject
	case "json_schema":
		a.Shape = translate.JSONSchema
		if inner := jsonscan.Get(v, "json_schema"); inner != nil {
			d.schema(&a, inner, at+".json_schema")
		}
	default:
		d.setting(translate.FeatureOddFormat, at, v)
		return
	}
	d.r.Answer = a
}

func (d *requestDecoder) schema(a *translate.AnswerFormat, v []byte, at string) {
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
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
}

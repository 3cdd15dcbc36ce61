package messages

import (
	"fmt"
	"strconv"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// settings are the members that stand alone, with their features.
var settings = map[string]translate.Feature{
	"temperature":           translate.FeatureTemperature,
	"top_p":                 translate.FeatureTopP,
	"top_k":                 translate.FeatureTopK,
	"container":             translate.FeatureState,
	"thread":                translate.FeatureState,
	"mcp_servers":           translate.FeatureHostedTool,
	"fallbacks":             translate.FeatureFallbacks,
	"fallback_credit_token": translate.FeatureFallbacks,
	"billing_policy":        translate.FeatureFallbacks,
	"cache_control":         translate.FeatureAutoCache,
}

// decoder reads one request. The first thing that cannot be read is its error.
type decoder struct {
	r   *translate.Request
	err error
}

// decodeRequest reads a client's body. A null member is an absent one.
func decodeRequest(body []byte) (*translate.Request, error) {
	d := decoder{r: &translate.Request{From: translate.Messages}}
	d.r.Reasoning.KeepSeals = true
	m := jsonscan.Object(body)
	for m.Next() {
		if v := m.Value(); !null(v) {
			d.member(string(m.Key()), v)
		}
	}
	if err := m.Err(); err != nil {
		return nil, err
	}
	d.nameChoice()
	if d.err != nil {
		return nil, d.err
	}
	return d.r, nil
}

func (d *decoder) member(key string, v []byte) {
	r := d.r
	switch key {
	case "model":
		r.Model = d.text(v, key)
	case "stream":
		r.Stream = d.bool(v, key)
	case "max_tokens":
		d.limit(v)
	case "stop_sequences":
		r.Stop = translate.Stops{Words: d.texts(v, key), Path: key}
	case "system":
		r.System = d.content(v, key)
	case "messages":
		r.Turns = d.turns(v)
	case "tools":
		r.Tools = d.tools(v)
	case "tool_choice":
		d.choice(v)
	case "thinking":
		d.thinking(v)
	case "output_config":
		d.outputConfig(v)
	case "output_format":
		d.format(v, key)
	case "metadata":
		d.metadata(v)
	case "service_tier":
		d.tier(v)
	case "speed":
		d.unless("standard", translate.FeatureSpeed, key, v)
	case "inference_geo":
		d.unless("global", translate.FeatureRegion, key, v)
	case "context_management":
		d.contextEdits(v)
	default:
		f, ok := settings[key]
		if !ok {
			f = translate.FeatureUnknown
		}
		d.setting(f, key, v)
	}
}

// members walks an object's members that are not null; those that take does not
// know are noted as unknown.
func (d *decoder) members(v []byte, at string, take func(key, path string, v []byte) bool) {
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
			d.setting(translate.FeatureUnknown, path, m.Value())
		}
	}
}

// elements walks an array.
func (d *decoder) elements(v []byte, at string, take func(path string, v []byte)) {
	if jsonscan.KindOf(v) != jsonscan.KindArray {
		d.fail(at, "a list is expected")
		return
	}
	el := jsonscan.Array(v)
	for i := 0; el.Next(); i++ {
		take(at+"["+strconv.Itoa(i)+"]", el.Value())
	}
}

func (d *decoder) setting(f translate.Feature, path string, v []byte) {
	d.r.Settings = append(d.r.Settings, translate.Setting{Feature: f, Path: path, Value: raw(v)})
}

func (d *decoder) fail(path, why string) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %s", path, why)
	}
}

func (d *decoder) text(v []byte, path string) string {
	s, ok := jsonscan.Text(v)
	if !ok {
		d.fail(path, "a string is expected")
	}
	return s
}

func (d *decoder) texts(v []byte, at string) (words []string) {
	d.elements(v, at, func(path string, v []byte) { words = append(words, d.text(v, path)) })
	return words
}

func (d *decoder) bool(v []byte, path string) bool {
	b, ok := jsonscan.Bool(v)
	if !ok {
		d.fail(path, "true or false is expected")
	}
	return b
}

func (d *decoder) count(v []byte, path string) int64 {
	n, ok := jsonscan.Int(v)
	if !ok || n < 0 {
		d.fail(path, "a whole number is expected")
	}
	return n
}

// null tells a null from other checked values.
func null(v []byte) bool { return len(v) > 0 && v[0] == 'n' }

// raw is a value with bytes of its own.
func raw(v []byte) translate.Raw { return append(translate.Raw(nil), v...) }

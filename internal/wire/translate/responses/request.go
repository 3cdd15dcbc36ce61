package responses

import (
	"fmt"
	"strconv"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

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
		d.setting(translate.FeatureUnknown, cacheTTLPath, jsonscan.AppendString(nil, d.cacheTTL))
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

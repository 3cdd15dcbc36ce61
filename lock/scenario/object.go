package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
)

// object is a mapping in the order in which it was written.
type object []member

type member struct {
	key   string
	value any // string, bool, number, nil, []any or object
}

// UnmarshalYAML keeps the order.
func (o *object) UnmarshalYAML(data []byte) error {
	var raw yaml.MapSlice
	d := yaml.NewDecoder(bytes.NewReader(data), yaml.UseOrderedMap(), yaml.Strict())
	if err := d.Decode(&raw); err != nil {
		return err
	}
	*o = ordered(raw).(object)
	return nil
}

// ordered turns the library's ordered maps into objects.
func ordered(v any) any {
	switch v := v.(type) {
	case yaml.MapSlice:
		o := make(object, len(v))
		for i, item := range v {
			o[i] = member{fmt.Sprint(item.Key), ordered(item.Value)}
		}
		return o
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = ordered(v[i])
		}
		return list
	}
	return v
}

func (o object) get(key string) (any, bool) {
	for _, m := range o {
		if m.key == key {
			return m.value, true
		}
	}
	return nil, false
}

// set replaces a member in its place or adds it.
func (o object) set(key string, value any) object {
	for i := range o {
		if o[i].key == key {
			o = slices.Clone(o)
			o[i].value = value
			return o
		}
	}
	return append(o[:len(o):len(o)], member{key, value})
}

func (o object) without(key string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.key == key })
}

// over lays top over base: objects are merged, null takes a member away,
// everything else replaces.
func (o object) over(top object) object {
	for _, m := range top {
		old, _ := o.get(m.key)
		below, isObject := old.(object)
		above, both := m.value.(object)
		switch {
		case m.value == nil:
			o = o.without(m.key)
		case isObject && both:
			o = o.set(m.key, below.over(above))
		default:
			o = o.set(m.key, m.value)
		}
	}
	return o
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		k, err := plainJSON(m.key)
		if err != nil {
			return nil, err
		}
		v, err := plainJSON(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, k...), ':'), v...)
	}
	return append(b, '}'), nil
}

// plainJSON is compact JSON that leaves <, > and & as they are.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

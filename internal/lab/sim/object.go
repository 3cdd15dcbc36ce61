package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// object is a JSON object that keeps its keys in order, because providers do and recordings should read well.
type object []member

type member struct {
	key   string
	value any // anything that encoding/json takes, object and json.RawMessage included
}

// obj makes an object of alternating keys and values.
func obj(keysAndValues ...any) object {
	o := make(object, 0, len(keysAndValues)/2)
	for i := 0; i < len(keysAndValues); i += 2 {
		o = append(o, member{keysAndValues[i].(string), keysAndValues[i+1]})
	}
	return o
}

func (o object) MarshalJSON() ([]byte, error) { return marshal(o) }

// with gives a copy in which key has the value, in its place or at the end.
func (o object) with(key string, value any) object {
	out := append(object(nil), o...)
	for i := range out {
		if out[i].key == key {
			out[i].value = value
			return out
		}
	}
	return append(out, member{key, value})
}

// merge lays the members of over onto o: objects merge deeply, everything else replaces.
func (o object) merge(over object) object {
	for _, m := range over {
		if sub, ok := m.value.(object); ok {
			if old, ok := o.get(m.key).(object); ok {
				o = o.with(m.key, old.merge(sub))
				continue
			}
		}
		o = o.with(m.key, m.value)
	}
	return o
}

func (o object) get(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// marshal is json.Marshal without the HTML escapes that no provider writes. It walks objects and lists itself, because
// encoding/json reads a Marshaler's output again at every level, which events of many MB make slow.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	err := write(&b, v)
	return b.Bytes(), err
}

func write(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case object:
		return writeObject(b, v)
	case []any:
		return writeList(b, v)
	case json.RawMessage:
		if v != nil {
			return json.Compact(b, v)
		}
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the encoder's line end
	return nil
}

func writeObject(b *bytes.Buffer, o object) error {
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := write(b, m.key); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := write(b, m.value); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func writeList(b *bytes.Buffer, list []any) error {
	b.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := write(b, v); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// jsonText marshals what cannot fail: values that this package built of plain types.
func jsonText(v any) json.RawMessage {
	b, err := marshal(v)
	if err != nil {
		panic("sim: " + err.Error())
	}
	return b
}

// parseOrdered reads JSON into object, []any, json.Number, string, bool and nil.
func parseOrdered(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return parseValue(d)
}

func parseValue(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if delim == '[' {
		return parseList(d)
	}
	return parseObject(d)
}

func parseList(d *json.Decoder) (any, error) {
	list := []any{}
	for d.More() {
		v, err := parseValue(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, err
}

func parseObject(d *json.Decoder) (any, error) {
	o, seen := object{}, map[string]bool{}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok {
			return nil, fmt.Errorf("key %v is no string", k)
		}
		if seen[key] {
			return nil, fmt.Errorf("mapping key %q already defined", key)
		}
		seen[key] = true
		v, err := parseValue(d)
		if err != nil {
			return nil, err
		}
		o = append(o, member{key, v})
	}
	_, err := d.Token()
	return o, err
}

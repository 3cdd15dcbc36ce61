package form

import "bytes"

// value is a piece of compact JSON in the order and the spelling in which it was
// written: an object has members, a list has items, a scalar neither.
type value struct {
	kind    byte   // '{', '[', or 0 for a scalar
	raw     string // the whole text
	members []member
	items   []*value
}

type member struct {
	key string // with its quotes
	*value
}

// read takes the value at the start of compact, valid JSON.
func read(text []byte) *value {
	if len(text) == 0 {
		return &value{}
	}
	r := reader{in: text}
	return r.value()
}

type reader struct {
	in []byte
	at int
}

func (r *reader) value() *value {
	start := r.at
	v := &value{}
	switch r.in[r.at] {
	case '{':
		v.kind = '{'
		r.inside('}', func() {
			key := r.scalar()
			r.at++ // the colon
			v.members = append(v.members, member{key, r.value()})
		})
	case '[':
		v.kind = '['
		r.inside(']', func() { v.items = append(v.items, r.value()) })
	default:
		r.scalar()
	}
	v.raw = string(r.in[start:r.at])
	return v
}

// inside reads what stands between two brackets, element by element.
func (r *reader) inside(end byte, element func()) {
	r.at++
	for r.in[r.at] != end {
		element()
		if r.in[r.at] == ',' {
			r.at++
		}
	}
	r.at++
}

func (r *reader) scalar() string {
	n := ScalarEnd(r.in[r.at:])
	r.at += n
	return string(r.in[r.at-n : r.at])
}

// get gives a member; nil if there is none, or no value at all.
func (v *value) get(key string) *value {
	if v == nil {
		return nil
	}
	for _, m := range v.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// item gives an element; nil if there is none, or no value at all.
func (v *value) item(i int) *value {
	if v == nil || i >= len(v.items) {
		return nil
	}
	return v.items[i]
}

// object writes members in their order.
func object(members []member) *value {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(m.key + ":" + m.raw)
	}
	b.WriteByte('}')
	return &value{kind: '{', raw: b.String(), members: members}
}

// list writes items in their order.
func list(items []*value) *value {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(item.raw)
	}
	b.WriteByte(']')
	return &value{kind: '[', raw: b.String(), items: items}
}

// text makes a string value of plain words, which need no escaping.
func text(words string) *value { return &value{raw: `"` + words + `"`} }

package admin

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"rubicon/internal/money"
)

// field is a member of a JSON object, as encoding/json sees a struct.
type field struct {
	name     string
	typ      reflect.Type
	required bool
}

// fieldsOf lists the members in order; embedded structs are flattened.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == "-" || !f.IsExported():
		case f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct:
			out = append(out, fieldsOf(f.Type)...)
		default:
			if tag == "" {
				tag = f.Name
			}
			optional := strings.Contains(options, "omit") || f.Type.Kind() == reflect.Pointer
			out = append(out, field{tag, f.Type, !optional})
		}
	}
	return out
}

func fieldNames(t reflect.Type) map[string]bool {
	names := map[string]bool{}
	for _, f := range fieldsOf(t) {
		names[f.name] = true
	}
	return names
}

// jsonType is the JSON type of a Go type; false where it may be any.
func jsonType(t reflect.Type) (string, bool) {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonType(t.Elem())
	case reflect.String:
		return "string", true
	case reflect.Bool:
		return "boolean", true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integer", true
	case reflect.Float32, reflect.Float64:
		return "number", true
	case reflect.Slice, reflect.Array:
		return "array", true
	case reflect.Map, reflect.Struct:
		return "object", true
	}
	return "", false
}

// schemas collects the components of the document while it describes types.
type schemas struct {
	components map[string]any
	types      map[string]reflect.Type // by component, to notice two of one name
}

func newSchemas() *schemas {
	return &schemas{components: map[string]any{}, types: map[string]reflect.Type{}}
}

// of is the JSON schema of a type; structs become components.
func (s *schemas) of(t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case reflect.TypeFor[money.Nano]():
		return map[string]any{"type": "string", "pattern": `^-?[0-9]+(\.[0-9]{1,9})?$`, "description": "USD. Answers have all 9 places."}
	case reflect.TypeFor[money.Factor]():
		return map[string]any{"type": "string", "description": "A factor such as 0.5."}
	case reflect.TypeFor[json.RawMessage]():
		return map[string]any{"type": "object"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{s.of(t.Elem()), map[string]any{"type": "null"}}}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.component(t)
	}
	if name, ok := jsonType(t); ok {
		return map[string]any{"type": name}
	}
	return map[string]any{}
}

func (s *schemas) component(t reflect.Type) map[string]any {
	name := t.Name()
	if other, taken := s.types[name]; taken && other != t {
		panic("admin: two types are called " + name + " in the OpenAPI document")
	}
	ref := map[string]any{"$ref": "#/components/schemas/" + name}
	if _, done := s.types[name]; done {
		return ref
	}
	s.types[name] = t
	properties, required := map[string]any{}, []string{}
	for _, f := range fieldsOf(t) {
		properties[f.name] = s.of(f.typ)
		if f.required {
			required = append(required, f.name)
		}
	}
	s.components[name] = map[string]any{"type": "object", "properties": properties, "required": required}
	return ref
}

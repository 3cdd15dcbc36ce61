package messages

import (
	"slices"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// anyObject is the schema of a tool that has none.
const anyObject = `{"type":"object"}`

func (e *encoder) tools() {
	if len(e.offers.List) == 0 {
		return
	}
	e.w.key("tools").open('[')
	for i := range e.offers.List {
		e.tool(&e.offers.List[i])
	}
	e.w.close(']')
}

func (e *encoder) tool(o *translate.Offered) {
	if o.Kind == translate.HostedTool || o.Kind == translate.UnknownTool {
		e.w.raw(o.Raw)
		return
	}
	e.w.open('{')
	e.w.key("name").text(o.Wire)
	if o.Description != "" {
		e.w.key("description").text(o.Description)
	}
	e.w.key("input_schema").raw(e.schema(o))
	if o.Strict != nil && (*o.Strict || e.native()) {
		e.w.key("strict").raw(boolean(*o.Strict))
	}
	if o.Deferred {
		e.w.key("defer_loading").word("true")
	}
	e.cache(o.Cache)
	e.w.close('}')
}

// schema is a tool's schema with the type that the format insists on.
func (e *encoder) schema(o *translate.Offered) []byte {
	if len(o.Schema) == 0 || null(o.Schema) {
		return []byte(anyObject)
	}
	typ := jsonscan.Get(o.Schema, "type")
	switch {
	case jsonscan.KindOf(o.Schema) == jsonscan.KindObject && typ == nil:
		if !jsonscan.Empty(o.Schema) {
			e.rep.NoteQuietly(translate.Changed, translate.FeatureToolSchema, o.Path, "", "", "the schema says type object, which the format wants")
		}
		schema, err := jsonscan.Set(o.Schema, jsonscan.Edit{Key: "type", Value: []byte(`"object"`)})
		if err == nil {
			return schema
		}
	case jsonscan.Equal(typ, "object"):
		return o.Schema
	}
	e.rep.Take(translate.FeatureToolSchema, o.Path, "")
	return []byte(anyObject)
}

func (e *encoder) choice() {
	c := &e.offers.Choice
	mode := c.Mode
	if mode == translate.Unsaid && c.ParallelOff {
		mode = translate.Auto
	}
	if mode == translate.Unsaid {
		return
	}
	e.w.key("tool_choice").open('{')
	switch mode {
	case translate.Required:
		e.w.key("type").text("any")
	case translate.Named:
		e.w.key("type").text("tool")
		e.w.key("name").text(e.offers.Names.Wire(c.Tool.Namespace, c.Tool.Name))
	default:
		e.w.key("type").text(string(mode))
	}
	if c.ParallelOff && mode != translate.None {
		e.w.key("disable_parallel_tool_use").word("true")
	}
	e.w.close('}')
}

// closed is an answer's schema with additionalProperties false on every object
// that does not say it, which the format wants; false where nothing was added.
func closed(schema []byte) ([]byte, bool) {
	w := writer{}
	added := appendClosed(&w, schema, true)
	return w.b, added
}

// nested are the members of a schema that hold one schema, a list of schemas, or
// schemas by name.
var (
	nestedOne  = []string{"items", "not", "if", "then", "else", "contains", "propertyNames"}
	nestedList = []string{"anyOf", "allOf", "oneOf", "prefixItems"}
	nestedMap  = []string{"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"}
)

func appendClosed(w *writer, schema []byte, isSchema bool) (added bool) {
	if jsonscan.KindOf(schema) != jsonscan.KindObject {
		w.raw(schema)
		return false
	}
	object, said := false, false
	w.open('{')
	m := jsonscan.Object(schema)
	for m.Next() {
		key, v := string(m.Key()), m.Value()
		w.next()
		w.b = append(jsonscan.AppendString(w.b, key), ':')
		switch {
		case !isSchema, slices.Contains(nestedOne, key):
			added = appendClosed(w, v, true) || added
			continue
		case slices.Contains(nestedMap, key):
			added = appendClosed(w, v, false) || added
			continue
		case slices.Contains(nestedList, key) && jsonscan.KindOf(v) == jsonscan.KindArray:
			added = appendClosedList(w, v) || added
			continue
		}
		object = object || key == "type" && jsonscan.Equal(v, "object")
		said = said || key == "additionalProperties"
		w.raw(v)
	}
	if isSchema && object && !said {
		w.key("additionalProperties").word("false")
		added = true
	}
	w.close('}')
	return added
}

func appendClosedList(w *writer, list []byte) (added bool) {
	w.open('[')
	el := jsonscan.Array(list)
	for el.Next() {
		added = appendClosed(w, el.Value(), true) || added
	}
	w.close(']')
	return added
}

func boolean(b bool) []byte {
	if b {
		return []byte("true")
	}
	return []byte("false")
}

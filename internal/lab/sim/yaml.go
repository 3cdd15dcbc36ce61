package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Load reads a script file, YAML or JSON, strictly: unknown words, fields and keys, duplicates and scripts
// without an ending are errors with their place. All problems are reported at once.
func Load(data []byte) (map[string]Script, error) {
	tree, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	top, ok := tree.(object)
	if !ok || !slices.ContainsFunc(top, func(m member) bool { return m.key == "models" }) {
		return nil, errors.New(`a script file has the one key "models"`)
	}
	scripts, errs := map[string]Script{}, []error(nil)
	for _, m := range top {
		if m.key != "models" {
			errs = append(errs, fmt.Errorf(`%s: unknown; a script file has the one key "models"`, m.key))
		}
	}
	models, ok := top.get("models").(object)
	if !ok {
		errs = append(errs, errors.New("models: not a map from model names to lists of calls"))
	}
	for _, m := range models {
		s, err := decodeScript(m.value)
		if err != nil {
			errs = append(errs, fmt.Errorf("models.%s: %w", m.key, err))
		}
		scripts[m.key] = s
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return scripts, nil
}

// LoadScript reads one script: what stands behind a model's name in a script file, a list of calls.
func LoadScript(data []byte) (Script, error) {
	tree, err := parseYAML(data)
	if err != nil {
		return Script{}, err
	}
	return decodeScript(tree)
}

// UnmarshalYAML lets a Script stand inside another YAML file, e.g. a scenario.
func (s *Script) UnmarshalYAML(data []byte) error {
	got, err := LoadScript(data)
	if err == nil {
		*s = got
	}
	return err
}

// UnmarshalJSON reads the same language in JSON.
func (s *Script) UnmarshalJSON(data []byte) error { return s.UnmarshalYAML(data) }

// MarshalJSON writes the list of calls.
func (s Script) MarshalJSON() ([]byte, error) { return json.Marshal(s.Calls) }

// parseYAML reads exactly one document into object, []any and scalars; duplicate keys are errors. JSON is read as
// what it is, because the YAML library takes seconds for megabytes.
func parseYAML(data []byte) (any, error) {
	if json.Valid(data) {
		return parseOrdered(data)
	}
	d := yaml.NewDecoder(bytes.NewReader(data), yaml.UseOrderedMap(), yaml.Strict())
	var v, more any
	if err := d.Decode(&v); err != nil && !errors.Is(err, io.EOF) { // an empty file is judged by its reader
		return nil, inOneLine(err)
	}
	if err := d.Decode(&more); err == nil {
		return nil, errors.New("more than one document")
	}
	return ordered(v)
}

// inOneLine leaves out the excerpt of the source that the library adds.
func inOneLine(err error) error {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(first)
}

// ordered turns the library's ordered maps into objects.
func ordered(v any) (any, error) {
	switch v := v.(type) {
	case yaml.MapSlice:
		o := make(object, 0, len(v))
		for _, item := range v {
			sub, err := ordered(item.Value)
			if err != nil {
				return nil, err
			}
			o = append(o, member{fmt.Sprint(item.Key), sub})
		}
		return o, nil
	case []any:
		list := make([]any, len(v))
		for i := range v {
			sub, err := ordered(v[i])
			if err != nil {
				return nil, err
			}
			list[i] = sub
		}
		return list, nil
	case nil, bool, string, int, int64, uint64, float64:
		return v, nil
	}
	return nil, fmt.Errorf("a value of type %T is no part of the language", v)
}

func decodeScript(v any) (Script, error) {
	calls, ok := v.([]any)
	if !ok {
		return Script{}, errors.New("not a list of calls, each a list of steps")
	}
	var s Script
	var errs []error
	for i, c := range calls {
		steps, ok := c.([]any)
		if !ok {
			errs = append(errs, fmt.Errorf("call %d: not a list of steps", i+1))
			continue
		}
		var call []Step
		for k, v := range steps {
			step, err := decodeStep(v)
			if err != nil {
				errs = append(errs, fmt.Errorf("call %d: step %d: %w", i+1, k+1, err))
			}
			call = append(call, step)
		}
		s.Calls = append(s.Calls, call)
	}
	if err := errors.Join(errs...); err != nil {
		return Script{}, err
	}
	return s, s.Check()
}

// takesMapping are the words whose bare value may itself be a map.
var takesMapping = map[string]bool{"usage": true, "args": true}

// decodeStep reads a bare word, {word: value, field: value …} or the long form {do: word, field: value …}.
func decodeStep(v any) (Step, error) {
	if name, ok := v.(string); ok {
		return fromFields(name, nil)
	}
	o, ok := v.(object)
	if !ok || len(o) == 0 {
		return Step{}, fmt.Errorf("neither a word nor a map: %v", v)
	}
	name, value, rest := o[0].key, o[0].value, o[1:]
	if name == "do" {
		name, ok = value.(string)
		if !ok {
			return Step{}, errors.New("do: not a word")
		}
		return fromFields(name, rest)
	}
	if to, ok := aliases[name]; ok {
		return fromFields(to, o)
	}
	w, ok := words[name]
	if !ok {
		return Step{}, fmt.Errorf("unknown word %q", name)
	}
	fields, isMap := value.(object)
	switch {
	case isMap && !(takesMapping[name] && fields.get(name) == nil):
		return fromFields(name, slices.Concat(fields, rest))
	case value == nil:
		return fromFields(name, rest)
	case w.main == "":
		return Step{}, fmt.Errorf("%s: takes no value", name)
	}
	return fromFields(name, slices.Concat(object{{w.main, value}}, rest))
}

// fromFields makes the step: the sugar of each field is taken away, the rest is strict JSON decoding.
func fromFields(name string, fields object) (Step, error) {
	if _, ok := words[name]; !ok {
		return Step{}, fmt.Errorf("unknown word %q", name)
	}
	plain := object{{"do", name}}
	for _, m := range fields {
		if plain.get(m.key) != nil {
			return Step{}, fmt.Errorf("%s: %q twice", name, m.key)
		}
		plain = append(plain, member{m.key, expandShortForms(m.key, m.value)})
	}
	d := json.NewDecoder(bytes.NewReader(jsonText(plain)))
	d.DisallowUnknownFields()
	var s Step
	if err := d.Decode(&s); err != nil {
		return Step{}, fmt.Errorf("%s: %w", name, shorter(err))
	}
	return s, nil
}

package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// expandShortForms turns the convenient spellings of a field's value into the plain one: tool arguments and event data as
// a map, header values and delays as numbers.
func expandShortForms(field string, v any) any {
	switch field {
	case "args", "data", "result":
		if _, text := v.(string); !text {
			return string(jsonText(v))
		}
	case "retry_after":
		if _, text := v.(string); !text {
			return fmt.Sprint(v)
		}
	case "headers":
		if o, ok := v.(object); ok {
			for i := range o {
				o[i].value = fmt.Sprint(o[i].value)
			}
		}
	case "tools":
		list, _ := v.([]any)
		for _, t := range list {
			if o, ok := t.(object); ok {
				for i := range o {
					o[i].value = expandShortForms(o[i].key, o[i].value)
				}
			}
		}
	}
	return v
}

// plainStep is Step without its methods.
type plainStep Step

// MarshalJSON writes durations the way they are written in scripts.
func (s Step) MarshalJSON() ([]byte, error) {
	out := struct {
		plainStep
		For string `json:"for,omitempty"`
	}{plainStep: plainStep(s)}
	if s.For != 0 {
		out.For = s.For.String()
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads the long form: {"do": word, field: value …}.
func (s *Step) UnmarshalJSON(data []byte) error {
	in := struct {
		*plainStep
		For string `json:"for"`
	}{plainStep: (*plainStep)(s)}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return err
	}
	if in.For == "" {
		return nil
	}
	var err error
	if s.For, err = time.ParseDuration(in.For); err != nil {
		return fmt.Errorf("for: %q is no duration such as 200ms or 2s", in.For)
	}
	return nil
}

// UnmarshalJSON reads [input, cached, output] or the map.
func (u *Usage) UnmarshalJSON(data []byte) error {
	var list []int64
	if json.Unmarshal(data, &list) == nil {
		if len(list) != 3 {
			return errors.New("usage: [input, cached, output] or a map")
		}
		*u = *Tokens(list[0], list[1], list[2])
		return nil
	}
	type plain Usage
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(u))
}

// shorter takes the Go names out of what encoding/json says.
func shorter(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("%s: cannot be a %s", strings.TrimPrefix(kind.Field, "plainStep."), kind.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

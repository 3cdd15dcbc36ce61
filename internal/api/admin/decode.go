package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"rubicon/internal/money"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
)

// decode reads one JSON object strictly: known names only, in exact case, each
// once, nothing behind it. null counts as absent, unless the type says what it
// means. Each member is decoded for
// itself, so that a refusal can name it.
func decode[B any](body []byte, into *B) error {
	if !jsonscan.Valid(body) {
		return fault.New(fault.InvalidJSON, "")
	}
	names := fieldNames(reflect.TypeFor[B]())
	seen := map[string]bool{}
	members := jsonscan.Object(body)
	for members.Next() {
		name := string(members.Key())
		switch {
		case !names[name]:
			return fault.Newf(fault.InvalidRequest, "Unknown field %q.", name).WithParam(name)
		case seen[name]:
			return fault.Newf(fault.InvalidRequest, "Field %q is given twice.", name).WithParam(name)
		}
		seen[name] = true
		if jsonscan.KindOf(members.Value()) == jsonscan.KindNull {
			if n, ok := any(into).(nullable); ok {
				n.Null(name)
			}
			continue
		}
		if err := decodeMember(name, members.Value(), into); err != nil {
			return fault.Newf(fault.InvalidRequest, "%s %s.", name, wrongWith(err)).WithParam(name)
		}
	}
	if members.Err() != nil {
		return fault.New(fault.InvalidRequest, "The body must be one JSON object.")
	}
	return nil
}

// nullable is a body in which null has a meaning.
type nullable interface{ Null(name string) }

func decodeMember(name string, value []byte, into any) error {
	one := append(jsonscan.AppendString([]byte{'{'}, name), ':')
	one = append(append(one, value...), '}')
	d := json.NewDecoder(bytes.NewReader(one))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// wrongWith says what is wrong with a member's value, in JSON's words.
func wrongWith(err error) string {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		if mismatch.Type == reflect.TypeFor[money.Nano]() {
			return "must be a decimal in a string"
		}
		if kind, ok := jsonType(mismatch.Type); ok {
			return "must be of type " + kind
		}
		return "is of the wrong type"
	}
	if errors.Is(err, money.ErrOverflow) {
		return "is out of range"
	}
	return "is not valid: " + strings.TrimPrefix(err.Error(), "json: ")
}

// required refuses a text that is missing.
func required(name, value string) error {
	if strings.TrimSpace(value) == "" {
		return fault.Newf(fault.InvalidRequest, "%s is required.", name).WithParam(name)
	}
	return nil
}

// reasonFor checks a reason that is written into the ledger.
func reasonFor(value string) error {
	const most = 1000
	if len(value) > most {
		return fault.Newf(fault.InvalidRequest, "reason is longer than %d bytes.", most).WithParam("reason")
	}
	return required("reason", value)
}

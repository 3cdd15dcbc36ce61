package responses

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"rubicon/internal/fault"
	"rubicon/internal/jsonscan"
)

// param is a top-level key that the gateway reads or writes. It may occur once,
// in exact case and with its type (contract, section 10): another spelling is
// one that a lax reader upstream could take for the key itself.
type param struct {
	name  string
	kinds []jsonscan.Kind // null, which counts as absent, aside; none: any
}

// The indexes of params.
const (
	pModel = iota
	pStream
	pStore
	pBackground
	pPreviousResponse
	pConversation
	pPrompt
	pInput
	pInstructions
	pTools
	pMaxOutputTokens
	pServiceTier
	pPromptCacheKey
	pStreamOptions
	pType
	pGenerate
	pStreamID
)

var params = [...]param{
	pModel:            {"model", []jsonscan.Kind{jsonscan.KindString}},
	pStream:           {"stream", []jsonscan.Kind{jsonscan.KindBool}},
	pStore:            {"store", []jsonscan.Kind{jsonscan.KindBool}},
	pBackground:       {"background", []jsonscan.Kind{jsonscan.KindBool}},
	pPreviousResponse: {"previous_response_id", []jsonscan.Kind{jsonscan.KindString}},
	pConversation:     {"conversation", []jsonscan.Kind{jsonscan.KindString, jsonscan.KindObject}},
	pPrompt:           {"prompt", []jsonscan.Kind{jsonscan.KindObject}},
	pInput:            {"input", []jsonscan.Kind{jsonscan.KindString, jsonscan.KindArray}},
	pInstructions:     {"instructions", []jsonscan.Kind{jsonscan.KindString, jsonscan.KindArray}},
	pTools:            {"tools", []jsonscan.Kind{jsonscan.KindArray}},
	pMaxOutputTokens:  {"max_output_tokens", []jsonscan.Kind{jsonscan.KindNumber}},
	pServiceTier:      {"service_tier", []jsonscan.Kind{jsonscan.KindString}},
	pPromptCacheKey:   {"prompt_cache_key", []jsonscan.Kind{jsonscan.KindString}},
	pStreamOptions:    {"stream_options", []jsonscan.Kind{jsonscan.KindObject}},
	pType:             {"type", []jsonscan.Kind{jsonscan.KindString}},
	pGenerate:         {"generate", []jsonscan.Kind{jsonscan.KindBool}},
	pStreamID:         {"stream_id", nil},
}

var kindWords = map[jsonscan.Kind]string{
	jsonscan.KindBool:   "a boolean",
	jsonscan.KindNumber: "a number",
	jsonscan.KindString: "a string",
	jsonscan.KindArray:  "an array",
	jsonscan.KindObject: "an object",
}

// values are the raw values of params, nil where absent or null.
type values [len(params)][]byte

// readParams takes the params out of a body and checks the body as a whole.
// That it is no JSON is said before anything that is wrong with a param.
func readParams(body []byte) (v values, bad *fault.Error) {
	var met [len(params)]bool
	m := jsonscan.Object(body)
	for m.Next() {
		i, exact := find(m.Key())
		if i < 0 {
			continue
		}
		if bad == nil {
			bad = check(i, exact, met[i], m.Value())
		}
		met[i] = true
		v[i] = present(m.Value())
	}
	if err := m.Err(); err != nil {
		what := "The request body is not valid JSON."
		if errors.Is(err, jsonscan.ErrNotObject) {
			what = "The request body must be one JSON object."
		}
		return v, fault.New(fault.InvalidJSON, what).WithCause(err)
	}
	return v, bad
}

// find gives the param that a key is, or is another spelling of; -1 for none.
func find(key []byte) (i int, exact bool) {
	for i := range params {
		if params[i].name == string(key) {
			return i, true
		}
	}
	for i := range params {
		if bytes.EqualFold(key, []byte(params[i].name)) {
			return i, false
		}
	}
	return -1, false
}

func check(i int, exact, again bool, value []byte) *fault.Error {
	p := params[i]
	switch {
	case !exact:
		return invalid(p.name, "The parameter '%s' must be written in exactly this case.", p.name)
	case again:
		return invalid(p.name, "The parameter '%s' is given more than once.", p.name)
	case present(value) == nil || p.accepts(jsonscan.KindOf(value)):
		return nil
	}
	return invalid(p.name, "The parameter '%s' must be %s.", p.name, p.wants())
}

func (p param) accepts(k jsonscan.Kind) bool {
	for _, want := range p.kinds {
		if want == k {
			return true
		}
	}
	return len(p.kinds) == 0
}

func (p param) wants() string {
	words := make([]string, len(p.kinds))
	for i, k := range p.kinds {
		words[i] = kindWords[k]
	}
	return strings.Join(words, " or ")
}

func invalid(param, format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidRequest, fmt.Sprintf(format, args...)).WithParam(param)
}

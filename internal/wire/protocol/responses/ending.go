package responses

import (
	"strconv"
	"strings"

	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// member is one member of the response object in an ending of ours.
type member struct {
	name  string
	value string // raw JSON where upstream's own is not known
	keep  bool   // upstream's own value is taken, from the first lifecycle event
}

// members is a complete response object: clients decode it strictly. What is
// empty is null, or of the type that strict decoders insist on.
var members = [...]member{
	{"id", "", false},
	{"object", `"response"`, false},
	{"created_at", "0", true},
	{"completed_at", "null", false},
	{"status", `"failed"`, false},
	{"background", "false", true},
	{"error", "", false},
	{"incomplete_details", "null", false},
	{"instructions", "null", true},
	{"max_output_tokens", "null", true},
	{"max_tool_calls", "null", true},
	{"model", "", false},
	{"output", "[]", false},
	{"parallel_tool_calls", "true", true},
	{"previous_response_id", "null", true},
	{"presence_penalty", "null", true},
	{"frequency_penalty", "null", true},
	{"prompt_cache_key", "null", true},
	{"reasoning", "null", true},
	{"safety_identifier", "null", true},
	{"service_tier", "null", true},
	{"store", "null", true},
	{"temperature", "null", true},
	{"text", `{"format":{"type":"text"}}`, true},
	{"tool_choice", `"auto"`, true},
	{"tools", "[]", true},
	{"top_logprobs", "null", true},
	{"top_p", "null", true},
	{"truncation", `"disabled"`, true},
	{"usage", "", false},
	{"user", "null", true},
	{"metadata", "{}", true},
}

// keepLimit bounds what is kept of one member. Instructions and tools can be
// megabytes, which the client knows anyhow.
const keepLimit = 1 << 10

// responseMembers is what is kept of upstream's response object, by index of members.
type responseMembers struct{ values [][]byte }

func (s *responseMembers) known() bool { return s.values != nil }

func (s *responseMembers) keep(raw []byte) {
	s.values = make([][]byte, len(members))
	buf := make([]byte, 0, keepLimit)
	m := jsonscan.Object(raw)
	for m.Next() {
		v := m.Value()
		i := keptMember(m.Key())
		if i < 0 || len(v) > keepLimit || present(v) == nil {
			continue
		}
		buf = append(buf, v...)
		s.values[i] = buf[len(buf)-len(v) : len(buf) : len(buf)]
	}
}

// keptMember is the index of a member that is kept, -1 for others.
func keptMember(key []byte) int {
	for i := range members {
		if members[i].keep && members[i].name == string(key) {
			return i
		}
	}
	return -1
}

// Ending appends the ending of an opened stream that broke: an error event,
// unless one was sent, and response.failed. One alone is not enough: some
// clients do not know the one, some raise only on the other.
func Ending(dst []byte, pr protocol.Reader, f *fault.Error, errorSent bool) []byte {
	r, ok := pr.(*reader)
	if !ok {
		r = &reader{answer: newAnswer()}
	}
	sequence := r.seen.Sequence + 1
	if !errorSent {
		dst = sse.AppendEvent(dst, typeError, appendError(nil, f, sequence))
		sequence++
	}
	data := append([]byte(`{"type":"response.failed","sequence_number":`), strconv.FormatInt(sequence, 10)...)
	data = append(data, `,"response":`...)
	data = append(r.appendFailed(data, f), '}')
	return sse.AppendEvent(dst, typeFailed, data)
}

// appendError writes the error's fields flat and nested at once.
func appendError(dst []byte, f *fault.Error, sequence int64) []byte {
	dst = append(dst, `{"type":"error","sequence_number":`...)
	dst = strconv.AppendInt(dst, sequence, 10)
	dst = append(dst, `,"code":`...)
	dst = appendNullable(dst, f.Code)
	dst = append(dst, `,"message":`...)
	dst = jsonscan.AppendString(dst, f.Message)
	dst = append(dst, `,"param":`...)
	dst = appendNullable(dst, f.Param)
	dst = append(dst, `,"error":`...)
	return append(f.AppendObject(dst, ""), '}')
}

func (r *reader) appendFailed(dst []byte, f *fault.Error) []byte {
	mark := byte('{')
	for i := range members {
		dst = append(dst, mark)
		mark = ','
		dst = jsonscan.AppendString(dst, members[i].name)
		dst = append(dst, ':')
		dst = append(dst, r.shown(r.member(i, f))...)
	}
	return append(dst, '}')
}

// shown is a value as clients may see it: some are upstream's own.
func (r *reader) shown(raw []byte) []byte {
	if r.clean == nil {
		return raw
	}
	return r.clean(raw)
}

func (r *reader) member(i int, f *fault.Error) []byte {
	if r.shape.known() && r.shape.values[i] != nil {
		return r.shape.values[i]
	}
	switch members[i].name {
	case "id":
		return jsonscan.AppendString(nil, r.responseID(f))
	case "model":
		model := r.seen.Model
		if model == "" {
			model = r.model
		}
		return jsonscan.AppendString(nil, model)
	case "error":
		return f.AppendObject(nil, "")
	case "usage":
		if r.usage == nil {
			return []byte("null")
		}
		return r.usage
	}
	return []byte(members[i].value)
}

// responseID is upstream's id; without one it is made of the request's.
func (r *reader) responseID(f *fault.Error) string {
	if r.seen.ResponseID != "" {
		return r.seen.ResponseID
	}
	return madeID(f.RequestID)
}

func madeID(requestID string) string {
	_, tail, _ := strings.Cut(requestID, "_")
	return "resp_" + tail
}

func appendNullable(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return jsonscan.AppendString(dst, s)
}

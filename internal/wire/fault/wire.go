package fault

import (
	"slices"
	"strconv"

	"rubicon/internal/wire/jsonscan"
)

// AppendObject appends the error object itself, the same on every surface:
//
//	{"message","type","code","param","request_id","retryable","retry_after","after_output", …extra}
//
// typ overrides Type when not empty.
func (e *Error) AppendObject(dst []byte, typ string) []byte {
	if typ == "" {
		typ = e.Type
	}
	dst = append(dst, `{"message":`...)
	dst = jsonscan.AppendString(dst, e.Message)
	dst = append(dst, `,"type":`...)
	dst = jsonscan.AppendString(dst, typ)
	dst = append(dst, `,"code":`...)
	dst = appendNullable(dst, e.Code)
	dst = append(dst, `,"param":`...)
	dst = appendNullable(dst, e.Param)
	dst = append(dst, `,"request_id":`...)
	dst = appendNullable(dst, e.RequestID)
	dst = append(dst, `,"retryable":`...)
	dst = strconv.AppendBool(dst, e.Retryable)
	dst = append(dst, `,"retry_after":`...)
	if s := e.RetryAfterSeconds(); s > 0 {
		dst = strconv.AppendInt(dst, s, 10)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"after_output":`...)
	dst = strconv.AppendBool(dst, e.AfterOutput)
	for _, x := range e.Extra {
		dst = append(dst, ',')
		dst = jsonscan.AppendString(dst, x.Name)
		dst = append(dst, ':')
		dst = append(dst, x.Value...)
	}
	return append(dst, '}')
}

// OpenAIBody is the JSON body of a failure on Responses and Chat Completions.
func OpenAIBody(e *Error) []byte {
	b := e.AppendObject([]byte(`{"error":`), "")
	return append(b, '}')
}

// MessagesBody is the JSON body of a failure on Messages, and the data of its
// error event: request_id stands beside the error too.
func MessagesBody(e *Error) []byte {
	b := e.AppendObject([]byte(`{"type":"error","error":`), e.MessagesType())
	b = append(b, `,"request_id":`...)
	b = appendNullable(b, e.RequestID)
	return append(b, '}')
}

// MessagesType is the error's type in Anthropic's words.
func (e *Error) MessagesType() string {
	if e.Upstream && e.Type != "" {
		return e.Type
	}
	return MessagesTypeFor(e.Status)
}

// Frame is the error frame of the WebSocket: an integer status, without which
// clients ignore it, and the delay where they read it.
func Frame(e *Error) []byte {
	b := append([]byte(`{"type":"error","status":`), strconv.Itoa(e.Status)...)
	b = append(b, `,"error":`...)
	b = e.AppendObject(b, "")
	if headers := FrameHeaders(e); headers != nil {
		b = append(append(b, `,"headers":`...), headers...)
	}
	return append(b, '}')
}

// FrameHeaders are the headers in an error frame, nil if it has none: the delay,
// and nothing of upstream's, as in an answer over HTTP.
func FrameHeaders(e *Error) []byte {
	s := e.RetryAfterSeconds()
	if s <= 0 {
		return nil
	}
	return append(strconv.AppendInt([]byte(`{"retry-after":"`), s, 10), `"}`...)
}

// Dress gives an error object of upstream's the members that every envelope has:
// its own code, type, message and param stay, ours are added. What is no object
// is replaced.
func (e *Error) Dress(object []byte) []byte {
	ours := e.AppendObject(nil, "")
	var edits []jsonscan.Edit
	m := jsonscan.Object(ours)
	for m.Next() {
		name := string(m.Key())
		if said := jsonscan.Get(object, name); jsonscan.KindOf(said) != jsonscan.KindNull && len(said) > 0 && slices.Contains(told[:], name) {
			continue
		}
		edits = append(edits, jsonscan.Edit{Key: name, Value: m.Value()})
	}
	out, err := jsonscan.Set(object, edits...)
	if err != nil {
		return ours // it is no object
	}
	return out
}

// told are the members of an error that are the provider's, where it has them.
var told = [...]string{"message", "type", "code", "param"}

func appendNullable(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return jsonscan.AppendString(dst, s)
}

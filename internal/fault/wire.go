package fault

import (
	"strconv"

	"rubicon/internal/jsonscan"
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
	if s := e.RetryAfterSeconds(); s > 0 {
		b = append(b, `,"headers":{"retry-after":"`...)
		b = strconv.AppendInt(b, s, 10)
		b = append(b, `"}`...)
	}
	return append(b, '}')
}

func appendNullable(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return jsonscan.AppendString(dst, s)
}

package wsapi

import (
	"errors"

	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol/body"
)

const (
	eventCreate = "response.create"
	eventCancel = "response.cancel"
	// eventProcessed is what some clients say once they have read an answer.
	// There is nothing to do about it, and it is read over.
	eventProcessed = "response.processed"
)

// readFrame tells whether a text frame is a response.create, or is refused, or
// read over: neither. What a response.create says is read when its turn comes.
func readFrame(b []byte) (create bool, refused *fault.Error) {
	var typ []byte
	m := jsonscan.Object(b)
	for m.Next() {
		if string(m.Key()) == "type" {
			typ = m.Value()
		}
	}
	if err := m.Err(); err != nil {
		if errors.Is(err, jsonscan.ErrNotObject) {
			return false, fault.New(fault.InvalidJSON, "A frame must be one JSON object.").WithCause(err)
		}
		return false, body.Unreadable("frame", err)
	}
	switch {
	case jsonscan.Equal(typ, eventCreate):
		return true, nil
	case jsonscan.Equal(typ, eventProcessed):
		return false, nil
	}
	return false, unsupported(typ)
}

func unsupported(typ []byte) *fault.Error {
	name, isText := jsonscan.Text(typ)
	var f *fault.Error
	switch {
	case !isText:
		f = fault.New(fault.UnsupportedEvent, "The frame has no type; send response.create.")
	case name == eventCancel:
		f = fault.New(fault.UnsupportedEvent, "response.cancel is not supported; close the connection to cancel a response.")
	default:
		f = fault.Newf(fault.UnsupportedEvent, "The event %q is not supported; send response.create.", fault.Clip(name))
	}
	return f.WithParam("type")
}

// checkStream refuses a stream_id, since one response runs at a time, and
// "stream": false, since everything is streamed here.
func checkStream(b []byte) *fault.Error {
	if hasMember(b, "stream_id") {
		return fault.New(fault.InvalidStreamID, "").WithParam("stream_id")
	}
	if v, ok := jsonscan.Bool(jsonscan.Get(b, "stream")); ok && !v {
		return fault.New(fault.UnsupportedParameter, "Responses are always streamed on the socket; leave stream out.").WithParam("stream")
	}
	return nil
}

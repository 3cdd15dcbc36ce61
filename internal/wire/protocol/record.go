package protocol

import (
	"bytes"

	"rubicon/internal/wire/sse"
)

// jsonSpace is what JSON takes for white space, and nothing else: trimming more
// would let through what no client can parse.
const jsonSpace = " \t\r\n"

// Record begins to read a record. data is what a protocol has to read; nil: the
// record is no event of any protocol, and ev is all there is to it. Of such
// records comments alone are for the client: an "id" or a "retry" without data,
// and data with nothing in it, are events with nothing in them to older SDKs,
// which fail on them.
func Record(f sse.Frame) (ev Event, data []byte) {
	ev = Event{Class: Heartbeat, Raw: f.Raw, ID: f.ID}
	if !f.HasData {
		ev.Hidden = !f.Comment
		return ev, nil
	}
	data = bytes.Trim(f.Data, jsonSpace)
	if len(data) == 0 || wrapped(data) {
		ev.Hidden = true
		return ev, nil
	}
	ev.Data = f.Data
	return ev, data
}

// wrapped reports whether data is a comment: some relays put every line that they
// read behind "data: ", comments too. All of its lines have to be one, since
// what stands beside a comment may be an event.
func wrapped(data []byte) bool {
	if data[0] != ':' {
		return false
	}
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		if line = bytes.Trim(line, jsonSpace); len(line) > 0 && line[0] != ':' {
			return false
		}
	}
	return true
}

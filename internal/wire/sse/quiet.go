package sse

import "bytes"

// Quiet is a record, or part of one, without the blank lines that end no event:
// those in front of it, and the one behind it if it is comments alone.
//
// By the standard such lines do nothing. Decoders of older SDKs keep the last
// "id" in what they look at to tell whether a blank line ends an event, so that
// behind one every such line is an event with nothing in it, on which they fail.
func Quiet(raw []byte, comment bool) []byte {
	raw = bytes.TrimLeft(raw, "\n")
	if comment && bytes.HasSuffix(raw, []byte("\n\n")) {
		raw = raw[:len(raw)-1]
	}
	return raw
}

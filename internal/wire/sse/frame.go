package sse

import (
	"bytes"
	"errors"
)

// ErrTooLarge is returned when one record exceeds the decoder's bound. The decoder stays at this error.
var ErrTooLarge = errors.New("sse: record too large")

// Frame is one record of a stream. Its slices are valid until the next call of Next, Reset or Release.
type Frame struct {
	Raw     []byte // the record with LF line ends and its blank line, otherwise as it came; surplus blank lines before it too
	Name    []byte // the event field, empty if absent
	Data    []byte // the data lines joined with LF
	HasData bool   // there was a data field, be it empty; without one the record is no event
	Comment bool   // there are comments and nothing else
	ID      bool   // there was an id field
	Tail    bool   // the reading ended before the blank line, which Raw has nevertheless
}

// record is what is known of the record being read. Offsets count from its first byte, because the buffer may move.
type record struct {
	started   bool // a line was seen that is not blank
	nameStart int
	nameEnd   int
	dataStart int // of the first data line's value
	dataEnd   int
	dataLines int
	comment   bool
	field     bool // a line that is no comment
	id, retry bool
}

// note takes in a line, not a blank one, that stands at offset at.
func (c *record) note(line []byte, at int) {
	c.started = true
	if line[0] == ':' {
		c.comment = true
		return
	}
	c.field = true
	name, value := splitField(line)
	switch string(name) {
	case "data":
		if c.dataLines++; c.dataLines == 1 {
			c.dataStart, c.dataEnd = at+value, at+len(line)
		}
	case "event":
		c.nameStart, c.nameEnd = at+value, at+len(line)
	case "id":
		c.id = true
	case "retry":
		c.retry = true
	}
}

// kept reports whether the record is worth a frame: an event, a comment, or a bare id or retry field that a client would
// act on. An event name without data does nothing, nor do unknown fields alone, and neither counts as an event.
func (c *record) kept() bool {
	return c.dataLines > 0 || c.comment || (c.id || c.retry) && c.nameEnd == c.nameStart
}

// splitField returns a line's field name and where its value starts. One space after the colon belongs to neither.
func splitField(line []byte) (name []byte, value int) {
	colon := bytes.IndexByte(line, ':')
	if colon < 0 {
		return line, len(line)
	}
	value = colon + 1
	if value < len(line) && line[value] == ' ' {
		value++
	}
	return line[:colon], value
}

// appendData joins the values of the data lines of a finished record with LF.
func appendData(dst, raw []byte) []byte {
	start := len(dst)
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		if name, value := splitField(raw[:end]); string(name) == "data" {
			dst = append(dst, raw[value:end]...)
			dst = append(dst, '\n')
		}
		raw = raw[end+1:]
	}
	return dst[:max(start, len(dst)-1)]
}

package sse

import (
	"errors"
	"io"
)

// ErrTooLarge is returned when one record exceeds the decoder's bound. The decoder stays at this error.
var ErrTooLarge = errors.New("sse: record too large")

// Frame is one record of a stream. Its slices are valid until the next call of Next, Reset or Release.
type Frame struct {
	Raw     []byte // the record with LF line ends and its blank line, otherwise as it came
	Name    []byte // the event field, empty if absent
	Data    []byte // the data lines joined with LF
	HasData bool   // there was a data field, be it empty; without one the record is no event
	Tail    bool   // the stream ended before the blank line, which Raw has nevertheless
}

// Decoder cuts a byte stream into frames. It is for one goroutine.
type Decoder struct{}

// NewDecoder reads frames of at most maxRecord bytes (of Raw) from r.
func NewDecoder(r io.Reader, maxRecord int) *Decoder { panic("todo") }

// Reset starts over with another stream, keeping the buffer and the bound.
func (d *Decoder) Reset(r io.Reader) { panic("todo") }

// Next returns the next frame. Comment-only records are frames without data; records that would do nothing are skipped.
// After a clean end of the stream an unfinished record is returned with Tail set, then io.EOF. Any other read error
// (io.ErrUnexpectedEOF too) is returned after the complete frames, and an unfinished record is dropped. Errors are sticky.
func (d *Decoder) Next() (Frame, error) { panic("todo") }

// Ready reports whether a whole frame is buffered, so that Next will not read. The current frame stays valid.
func (d *Decoder) Ready() bool { panic("todo") }

// Release gives the buffer back to the pool. The decoder can be used again after Reset.
func (d *Decoder) Release() { panic("todo") }

// AppendEvent appends an event. name may be empty; each line of data becomes a data line.
func AppendEvent(dst []byte, name string, data []byte) []byte { panic("todo") }

// AppendComment appends a comment record, one comment line for each line of text.
func AppendComment(dst []byte, text string) []byte { panic("todo") }

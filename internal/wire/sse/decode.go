package sse

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"strings"
)

// maxEmptyReads is how often a reader may return neither bytes nor an error before it counts as stuck.
const maxEmptyReads = 100

var errReleased = errors.New("sse: decoder used after Release")

// Decoder cuts a byte stream into frames. It is for one goroutine.
//
// Memory: the buffer never exceeds maxRecord + 4 KiB; data of several lines is joined in a second one of at most its size.
type Decoder struct {
	r         io.Reader
	maxRecord int
	window
	rec    record
	found  bool   // rec is complete and not handed out yet
	skipLF bool   // the last line ended with CR: an LF that follows belongs to it
	begun  bool   // the place of a byte order mark is behind us
	joined []byte // scratch for data of several lines
	err    error  // what ended the reading; sticky
}

// NewDecoder reads frames of at most maxRecord bytes (of Raw) from r.
func NewDecoder(r io.Reader, maxRecord int) *Decoder {
	return &Decoder{r: r, maxRecord: maxRecord}
}

// Reset starts over with another stream, keeping the buffer and the bound.
func (d *Decoder) Reset(r io.Reader) {
	w := window{buf: d.buf, block: d.block}
	*d = Decoder{r: r, maxRecord: d.maxRecord, window: w, joined: d.joined}
}

// Release gives the buffer back to the pool. The decoder can be used again after Reset.
func (d *Decoder) Release() {
	d.window.release()
	*d = Decoder{maxRecord: d.maxRecord, err: errReleased}
}

// Next returns the next frame. Comment-only records, and bare id or retry fields, are frames without data; records that
// would do nothing are skipped. When reading ends, be it with io.EOF or any other error, an unfinished record is returned
// with Tail set, and then the error: whether such a record counts is for the caller, who can tell whether its data is whole.
// It reads only while no whole frame is buffered. Errors are sticky.
func (d *Decoder) Next() (Frame, error) {
	for !d.parse() {
		if d.err != nil {
			return d.end()
		}
		d.read()
	}
	return d.emit(), nil
}

// Ready reports whether a whole frame is buffered, so that Next will not read. The current frame stays valid.
func (d *Decoder) Ready() bool { return d.parse() }

// parse goes on with what is buffered until a record is complete or the bytes are used up. It touches nothing before
// d.start, where the frame handed out last lies.
func (d *Decoder) parse() bool {
	for !d.found && d.err != ErrTooLarge && d.begin() {
		if d.skipLF && d.line < d.fill {
			d.skipLF = false
			if d.buf[d.line] == '\n' {
				d.skipTo(d.line + 1)
			}
		}
		if d.scan = lineEnd(d.buf[:d.fill], d.scan); d.scan == d.fill {
			if d.keptBytes() > d.maxRecord {
				d.err = ErrTooLarge
			}
			break
		}
		d.finishLine(d.scan)
	}
	return d.found
}

// begin drops a byte order mark at the start of the stream. It returns false while that cannot be told yet.
func (d *Decoder) begin() bool {
	if d.begun {
		return true
	}
	const mark = "\xef\xbb\xbf"
	head := d.buf[d.line:min(d.fill, d.line+len(mark))]
	if len(head) < len(mark) && strings.HasPrefix(mark, string(head)) {
		return false
	}
	d.begun = true
	if string(head) == mark {
		d.skipTo(d.line + len(mark))
	}
	return true
}

// finishLine takes the line whose end, a CR or LF, is at end. Blank lines before a record make no frame but stay in front of
// the record's first line, so that a relayed stream is the one that came, byte for byte.
func (d *Decoder) finishLine(end int) {
	text := d.buf[d.line:end]
	d.skipLF = d.buf[end] == '\r'
	if len(text) > 0 {
		d.rec.note(text, d.size())
	}
	d.keepLine(end)
	switch {
	case d.size() > d.maxRecord:
		d.err = ErrTooLarge
	case len(text) > 0 || !d.rec.started:
	case d.rec.kept():
		d.found = true
	default:
		d.forget()
	}
}

// emit hands out the complete record.
func (d *Decoder) emit() Frame {
	raw := d.buf[d.start:d.normalized:d.normalized]
	c := &d.rec
	f := Frame{Raw: raw, Name: raw[c.nameStart:c.nameEnd:c.nameEnd], HasData: c.dataLines > 0, Comment: c.comment && !c.field, ID: c.id}
	if c.dataLines > 1 {
		d.joined = appendData(d.joined[:0], raw)
		f.Data = d.joined
	} else {
		f.Data = raw[c.dataStart:c.dataEnd:c.dataEnd]
	}
	d.forget()
	return f
}

// forget drops the current record; the next starts where the unfinished line does.
func (d *Decoder) forget() {
	d.rec, d.found = record{}, false
	d.start, d.normalized = d.line, d.line
}

// end is what Next returns once reading is over and all complete frames are out.
func (d *Decoder) end() (Frame, error) {
	if d.err == ErrTooLarge || d.start == d.fill {
		return Frame{}, d.err
	}
	// The end completes what is there, as if the missing line ends had come.
	d.begun, d.skipLF = true, false
	if !d.rec.started && d.line == d.fill {
		d.forget() // blank lines only
		return Frame{}, d.err
	}
	d.makeRoom(d.maxRecord)
	if d.line < d.fill {
		d.push('\n')
	}
	d.push('\n')
	if !d.parse() {
		return Frame{}, d.err
	}
	f := d.emit()
	f.Tail = true
	return f, nil
}

// read waits for more bytes. Frames handed out before become invalid.
func (d *Decoder) read() {
	d.makeRoom(d.maxRecord)
	if cap(d.joined) > keepSize {
		d.joined = nil
	}
	for range maxEmptyReads {
		n, err := d.r.Read(d.buf[d.fill:])
		d.noteRead(n)
		if d.err = err; n > 0 || err != nil {
			return
		}
	}
	d.err = io.ErrNoProgress
}

// lineEnd returns the offset of the first CR or LF in b[i:], len(b) if there is none. It looks at eight bytes at once; of the
// marks only the lowest is exact (borrows may mark bytes above it), which is the one that counts.
func lineEnd(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		lf, cr := x^ones*'\n', x^ones*'\r'
		if m := ((lf-ones)&^lf | (cr-ones)&^cr) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(b) && b[i] != '\n' && b[i] != '\r' {
		i++
	}
	return i
}

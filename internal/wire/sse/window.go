package sse

import (
	"math/bits"
	"sync"
)

const (
	idleSize    = 1 << 10  // what a buffer starts with: most streams wait most of the time
	smallSize   = 4 << 10  // for a stream that fills that in one read; also the least room at the bound
	keepSize    = 64 << 10 // larger buffers are dropped as soon as their record is done, and not pooled
	shrinkAfter = 32       // so many reads that a small buffer would have served give a larger one back
)

// pools holds unused blocks of 1, 2, 4, 8, 16, 32 and 64 KiB. Sharing them between streams is their purpose; they carry no state.
var pools [7]sync.Pool

// block is what the pools hold: a pointer to it can be stored without allocating.
type block struct{ bytes []byte }

// class is the pool for blocks of a size, -1 if there is none.
func class(size int) int {
	if size < idleSize || size > keepSize || size&(size-1) != 0 {
		return -1
	}
	return bits.Len(uint(size/idleSize)) - 1
}

func getBlock(size int) *block {
	if k := class(size); k >= 0 {
		if b, ok := pools[k].Get().(*block); ok {
			return b
		}
	}
	return &block{make([]byte, size)}
}

func putBlock(b *block) {
	if b == nil {
		return
	}
	if k := class(len(b.bytes)); k >= 0 {
		pools[k].Put(b)
	}
}

// window is the buffer with the offsets that divide it:
//
//	0 … start     done with; the frame handed out last may lie here
//	start … norm  the finished lines of the record being read, line ends made LF in place (that can only shrink them)
//	norm … line   a gap where CRLF line ends were shortened
//	line … scan   the unfinished line, known to hold no line end
//	scan … fill   not looked at yet
//
// Every byte is moved at most once to the front with its record, once to close a gap before its line, once when its line is
// finished, and when the buffer doubles: the work is linear however small the reads are.
type window struct {
	block                               *block
	buf                                 []byte // block.bytes
	start, normalized, line, scan, fill int
	smallReads                          int  // reads in a row that a small buffer would have served
	few                                 int  // reads in a row that an idle stream's buffer would have served
	full                                bool // the last read filled the buffer: more may be waiting
}

// size is the length of the finished lines.
func (w *window) size() int { return w.normalized - w.start }

// keptBytes is how many bytes must be kept.
func (w *window) keptBytes() int { return w.size() + w.fill - w.line }

// skipTo drops the bytes up to offset i, which no line holds.
func (w *window) skipTo(i int) {
	if w.size() == 0 {
		w.start, w.normalized = i, i
	}
	w.line, w.scan = i, i
}

// keepLine adds the line that ends at end to the finished ones.
func (w *window) keepLine(end int) {
	if w.normalized != w.line {
		copy(w.buf[w.normalized:], w.buf[w.line:end])
	}
	w.normalized += end - w.line
	w.buf[w.normalized] = '\n'
	w.normalized++
	w.line, w.scan = end+1, end+1
}

// push adds one byte; makeRoom has made sure of the room.
func (w *window) push(c byte) {
	w.buf[w.fill] = c
	w.fill++
}

// makeRoom moves what is live to the front of a buffer of the right size.
func (w *window) makeRoom(maxRecord int) {
	size := w.wantedSize(maxRecord)
	if size == len(w.buf) {
		w.moveTo(w.buf)
		return
	}
	old := w.block
	w.block, w.smallReads, w.few = getBlock(size), 0, 0
	w.moveTo(w.block.bytes)
	w.buf = w.block.bytes
	putBlock(old)
}

// moveTo moves what is live to the front of buf, which may be the buffer itself. What is in its place stays there.
func (w *window) moveTo(buf []byte) {
	n, other := w.size(), len(buf) != len(w.buf)
	if other || w.start > 0 {
		copy(buf, w.buf[w.start:w.normalized])
	}
	if other || w.line > n {
		copy(buf[n:], w.buf[w.line:w.fill])
	}
	w.fill -= w.line - n
	w.scan -= w.line - n
	w.start, w.normalized, w.line = 0, n, n
}

// wantedSize decides how large the buffer should be for the next read.
func (w *window) wantedSize(maxRecord int) int {
	size, live := len(w.buf), w.keptBytes()
	if live > smallSize/2 {
		w.smallReads = 0
	} else {
		w.smallReads++
	}
	switch {
	case size == 0:
		return idleSize
	case size-live < size/4:
		// At the bound smallSize bytes are always free, because live bytes above maxRecord are an error. The max is for
		// bounds so large that the sum overflows.
		return max(size, min(2*size, max(maxRecord, maxRecord+smallSize)))
	case size > smallSize && w.smallReads > 0 && (w.smallReads > shrinkAfter || size > keepSize):
		return smallSize
	case size < smallSize && w.full:
		return smallSize
	case size > idleSize && size <= smallSize && w.few > shrinkAfter && live <= idleSize/2:
		return idleSize
	}
	return size
}

// noteRead notes that a read gave n bytes.
func (w *window) noteRead(n int) {
	w.fill += n
	w.full = w.fill == len(w.buf)
	if n > idleSize/2 {
		w.few = 0
	} else {
		w.few++
	}
}

func (w *window) release() {
	putBlock(w.block)
	*w = window{}
}

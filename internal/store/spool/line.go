package spool

import (
	"fmt"
	"hash/crc32"
	"strconv"
)

// A line is the checksum of the entry, the entry, and a line feed. No entry is
// empty: the checksum of nothing is zeros, which damage can look like.

const sumLength = 9

func frame(entry []byte) []byte {
	line := make([]byte, 0, len(entry)+sumLength+1)
	line = fmt.Appendf(line, "%08x ", crc32.ChecksumIEEE(entry))
	line = append(line, entry...)
	return append(line, '\n')
}

func unframe(line []byte) (entry []byte, ok bool) {
	if len(line) <= sumLength || line[len(line)-1] != '\n' {
		return nil, false
	}
	sum, ok := sumOf(line)
	entry = line[sumLength : len(line)-1]
	return entry, ok && len(entry) > 0 && sum == crc32.ChecksumIEEE(entry)
}

// sumOf reads the checksum at the beginning of a line.
func sumOf(line []byte) (uint32, bool) {
	if len(line) < sumLength || line[sumLength-1] != ' ' {
		return 0, false
	}
	sum, err := strconv.ParseUint(string(line[:sumLength-1]), 16, 32)
	return uint32(sum), err == nil
}

// split reads what stands up to a line feed. That is one entry, unless it was
// damaged: a line feed that became something else joins entries that are whole,
// and they are found by their checksums. The rest is broken.
func split(line []byte) (entries, broken [][]byte) {
	if entry, ok := unframe(line); ok {
		return [][]byte{entry}, nil
	}
	from := 0 // of what is not understood
	for at := 0; at < len(line); {
		length := wholeAt(line[at:])
		if length == 0 {
			at++
			continue
		}
		if at > from {
			broken = append(broken, line[from:at])
		}
		entries = append(entries, line[at+sumLength:at+length-1])
		at += length
		from = at
	}
	if from < len(line) {
		broken = append(broken, line[from:])
	}
	return entries, broken
}

// wholeAt is the length of the line at the beginning of what was joined,
// whatever byte stands where its line feed was; 0 if there is none. It ends
// where another line begins, or with everything.
func wholeAt(joined []byte) int {
	sum, ok := sumOf(joined)
	if !ok {
		return 0
	}
	var crc uint32
	for done, end := sumLength, sumLength+1; end < len(joined); end++ {
		if _, begins := sumOf(joined[end+1:]); !begins && end+1 < len(joined) {
			continue
		}
		crc = crc32.Update(crc, crc32.IEEETable, joined[done:end])
		if done = end; crc == sum {
			return end + 1
		}
	}
	return 0
}

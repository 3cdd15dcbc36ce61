package sse

import "bytes"

// AppendEvent appends an event. name may be empty; each line of data becomes a data line, whatever its line ends are. A line
// end inside name would start another field, so it becomes a space.
func AppendEvent(dst []byte, name string, data []byte) []byte {
	if name != "" {
		dst = append(dst, "event: "...)
		start := len(dst)
		dst = append(dst, name...)
		for i, c := range dst[start:] {
			if c == '\n' || c == '\r' {
				dst[start+i] = ' '
			}
		}
		dst = append(dst, '\n')
	}
	return append(appendLines(dst, data), '\n')
}

// appendLines appends each line of text as a data line.
func appendLines(dst, text []byte) []byte {
	for {
		end := lineEnd(text, 0)
		dst = append(append(append(dst, "data: "...), text[:end]...), '\n')
		if end == len(text) {
			return dst
		}
		text = bytes.TrimPrefix(text[end:], []byte("\r"))
		if len(text) > 0 && text[0] == '\n' {
			text = text[1:]
		}
	}
}

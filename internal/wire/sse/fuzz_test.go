package sse

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var anyLineEnd = regexp.MustCompile("\r\n|\r|\n")

// reference decodes a whole stream in the plainest way, as the second opinion on the decoder.
func reference(stream string, maxRecord int) ([]got, error) {
	lines := anyLineEnd.Split(strings.TrimPrefix(stream, "\ufeff"), -1)
	last := len(lines) - 1
	if lines[last] == "" {
		lines = lines[:last] // the stream ends with a line end
	}
	var frames []got
	var record []string
	blank := 0 // lines before the record
	emit := func(tail bool) error {
		f, kept := describe(record)
		f.Raw = strings.Repeat("\n", blank) + f.Raw
		record, blank = nil, 0
		if len(f.Raw) > maxRecord {
			return ErrTooLarge
		}
		if f.Tail = tail; kept {
			frames = append(frames, f)
		}
		return nil
	}
	for _, line := range lines {
		if line != "" {
			record = append(record, line)
			continue
		}
		if len(record) == 0 {
			if blank++; blank > maxRecord {
				return frames, ErrTooLarge
			}
			continue
		}
		if err := emit(false); err != nil {
			return frames, err
		}
	}
	if len(record) > 0 {
		if err := emit(true); err != nil {
			return frames, err
		}
	}
	return frames, io.EOF
}

func describe(record []string) (f got, kept bool) {
	var data []string
	comment, state := false, false
	for _, line := range record {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line[0] == ':':
			comment = true
		case name == "data":
			data = append(data, value)
		case name == "event":
			f.Name = value
		case name == "id" || name == "retry":
			state = true
		}
	}
	f.Raw = strings.Join(record, "\n") + "\n\n"
	f.Data, f.HasData = strings.Join(data, "\n"), len(data) > 0
	return f, f.HasData || comment || state && f.Name == ""
}

// pieces cuts a stream into reads whose lengths the fuzzer chooses.
type pieces struct {
	stream  []byte
	lengths []byte
	n       int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.stream) == 0 {
		return 0, io.EOF
	}
	size := 1
	if len(p.lengths) > 0 {
		size = 1 + int(p.lengths[p.n%len(p.lengths)])
		p.n++
	}
	n := copy(b[:min(size, len(b))], p.stream)
	p.stream = p.stream[n:]
	return n, nil
}

// However a stream is cut into reads, its frames are those of the reference.
func FuzzDecoder(f *testing.F) {
	for _, tc := range streams {
		f.Add([]byte(tc.stream), []byte{3, 0, 7}, uint16(1000))
		f.Add([]byte(lineEnds["mixed"](tc.stream)), []byte{}, uint16(30))
	}
	f.Fuzz(func(t *testing.T, stream, lengths []byte, maxRecord uint16) {
		want, wantErr := reference(string(stream), int(maxRecord))
		for _, r := range []io.Reader{bytes.NewReader(stream), &pieces{stream: stream, lengths: lengths}, &pieces{stream: stream}} {
			frames, err := readAll(t, r, int(maxRecord))
			if diff := cmp.Diff(want, frames); diff != "" || err != wantErr {
				t.Fatalf("%q: err %v, want %v; -want +got\n%s", stream, err, wantErr, diff)
			}
		}
	})
}

func TestAppendEvent(t *testing.T) {
	for _, tc := range []struct{ name, data, want string }{
		{"", "x", "data: x\n\n"},
		{"e", `{"a":1}`, "event: e\ndata: {\"a\":1}\n\n"},
		{"e", "", "event: e\ndata: \n\n"},
		{"", "a\nb\r\nc\rd\n", "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"},
		{"e\ndata: forged\r", "x", "event: e data: forged \ndata: x\n\n"},
		{"", " x", "data:  x\n\n"},
	} {
		if got := string(AppendEvent([]byte("|"), tc.name, []byte(tc.data))); got != "|"+tc.want {
			t.Errorf("%q, %q: %q, want %q", tc.name, tc.data, got, tc.want)
		}
	}
}

// What is written reads back as one event with the same name and, line ends aside, the same data.
func FuzzAppendEvent(f *testing.F) {
	f.Add("name", []byte("a\r\nb\rc\n"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		frames, err := readAll(t, bytes.NewReader(AppendEvent(nil, name, data)), 1<<20)
		want := anyLineEnd.ReplaceAllString(string(data), "\n")
		if len(frames) != 1 || err != io.EOF || frames[0].Data != want || frames[0].Tail {
			t.Fatalf("%q, %q: %+v, %v", name, data, frames, err)
		}
		wantName := strings.NewReplacer("\r", " ", "\n", " ").Replace(name)
		if frames[0].Name != wantName {
			t.Fatalf("name %q comes back as %q", name, frames[0].Name)
		}
	})
}

package sse

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// got is a Frame that outlives the decoder's buffer.
type got struct {
	Raw, Name, Data string
	HasData, Tail   bool
}

func keep(f Frame) got {
	return got{string(f.Raw), string(f.Name), string(f.Data), f.HasData, f.Tail}
}

// readAll decodes r to its end and returns the error that ended it, which must be sticky.
func readAll(t *testing.T, r io.Reader, maxRecord int) ([]got, error) {
	t.Helper()
	d := NewDecoder(r, maxRecord)
	defer d.Release()
	var frames []got
	for {
		f, err := d.Next()
		if err != nil {
			if _, again := d.Next(); again != err {
				t.Errorf("error %v, then %v", err, again)
			}
			return frames, err
		}
		frames = append(frames, keep(f))
	}
}

// cuts reads a stream in two pieces.
func cuts(stream string, at int) io.Reader {
	return io.MultiReader(strings.NewReader(stream[:at]), strings.NewReader(stream[at:]))
}

// streams are the self-made streams of these tests with the frames they must give.
var streams = []struct {
	name, stream string
	want         []got
}{
	{"empty", "", nil},
	{"blank lines only", "\n\n\n", nil},
	{"one event", "event: a\ndata: {\"x\":1}\n\n", []got{{"event: a\ndata: {\"x\":1}\n\n", "a", `{"x":1}`, true, false}}},
	{"no name", "data: [DONE]\n\n", []got{{"data: [DONE]\n\n", "", "[DONE]", true, false}}},
	{"spaces", "data:x\n\ndata:  y \nevent:n\n\n", []got{{"data:x\n\n", "", "x", true, false}, {"data:  y \nevent:n\n\n", "n", " y ", true, false}}},
	{"colons", "data: a: b\nevent: c:d\n\n", []got{{"data: a: b\nevent: c:d\n\n", "c:d", "a: b", true, false}}},
	{"multi-line data", "data: a\nevent: e\ndata:\ndata\ndata: b\n\n", []got{{"data: a\nevent: e\ndata:\ndata\ndata: b\n\n", "e", "a\n\n\nb", true, false}}},
	{"empty data", "data\n\ndata:\n\ndata: \n\n", []got{{"data\n\n", "", "", true, false}, {"data:\n\n", "", "", true, false}, {"data: \n\n", "", "", true, false}}},
	{"empty data twice", "data\ndata\n\n", []got{{"data\ndata\n\n", "", "\n", true, false}}},
	{"comment", ": ping\n\n:\n\n", []got{{": ping\n\n", "", "", false, false}, {":\n\n", "", "", false, false}}},
	{"comment lines", ":a\n: b\n\n", []got{{":a\n: b\n\n", "", "", false, false}}},
	{"comment and data", ": hi\nid: 7\nretry: 10\ndata: x\nfoo: bar\n\n", []got{{": hi\nid: 7\nretry: 10\ndata: x\nfoo: bar\n\n", "", "x", true, false}}},
	{"name only", "event: a\n\ndata: x\n\n", []got{{"data: x\n\n", "", "x", true, false}}},
	{"name and id, no data", "event: a\nid: 1\n\n", nil},
	{"name and comment, no data", "event: a\n: c\n\n", []got{{"event: a\n: c\n\n", "a", "", false, false}}},
	{"retry only", "retry: 3000\n\nid: 1\n\n", []got{{"retry: 3000\n\n", "", "", false, false}, {"id: 1\n\n", "", "", false, false}}},
	{"unknown fields only", "foo: bar\n{\"error\":1}\n<html>\n\n", nil},
	{"near names", "dat: x\ndata2: y\nDATA: z\n data: w\n\n", nil},
	{"last name wins", "event: a\nevent: b\ndata: x\n\n", []got{{"event: a\nevent: b\ndata: x\n\n", "b", "x", true, false}}},
	{"name taken back", "event: a\nevent\ndata: x\n\n", []got{{"event: a\nevent\ndata: x\n\n", "", "x", true, false}}},
	{"extra blank lines", "\n\ndata: x\n\n\n\ndata: y\n\n\n", []got{{"\n\ndata: x\n\n", "", "x", true, false}, {"\n\ndata: y\n\n", "", "y", true, false}}},
	{"extra blank line before multi-line data", "data: x\n\n\nevent: e\ndata: y\ndata: z\n\n", []got{
		{"data: x\n\n", "", "x", true, false}, {"\nevent: e\ndata: y\ndata: z\n\n", "e", "y\nz", true, false}}},
	{"extra blank line before nothing", "\nevent: e\n\ndata: x\n\n", []got{{"data: x\n\n", "", "x", true, false}}},
	{"byte order mark", "\ufeffdata: x\n\n\ufeffdata: y\n\n", []got{{"data: x\n\n", "", "x", true, false}}},
	{"half a mark", "\xef\xbbdata: x\ndata: y\n\n", []got{{"\xef\xbbdata: x\ndata: y\n\n", "", "y", true, false}}},
	{"mark alone", "\ufeff", nil},
	{"half a mark alone", "\xef\xbb", nil},
	{"tail", "data: x\n\nevent: e\ndata: y\n", []got{{"data: x\n\n", "", "x", true, false}, {"event: e\ndata: y\n\n", "e", "y", true, true}}},
	{"tail in a line", "data: x\n\ndata: y\ndata: z", []got{{"data: x\n\n", "", "x", true, false}, {"data: y\ndata: z\n\n", "", "y\nz", true, true}}},
	{"tail in a field name", "data: y\nda", []got{{"data: y\nda\n\n", "", "y", true, true}}},
	{"comment as tail", ": x", []got{{": x\n\n", "", "", false, true}}},
	{"name as tail", "event: x", nil},
	{"UTF-8 and NUL", "data: h\u00e9\u2028\x00\x85\n\n", []got{{"data: h\u00e9\u2028\x00\x85\n\n", "", "h\u00e9\u2028\x00\x85", true, false}}},
	{"long", "data: " + strings.Repeat("0123456789", 2000) + "\n\ndata: x\n\n", []got{
		{"data: " + strings.Repeat("0123456789", 2000) + "\n\n", "", strings.Repeat("0123456789", 2000), true, false}, {"data: x\n\n", "", "x", true, false}}},
}

// lineEnds are the ways to write a line end. The mixture has each one next to each other.
var lineEnds = map[string]func(string) string{
	"LF":   func(s string) string { return s },
	"CRLF": func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"CR":   func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
	"mixed": func(s string) string {
		var out strings.Builder
		n := 0
		for i, c := range []byte(s) {
			if c != '\n' {
				out.WriteByte(c)
				continue
			}
			end := [...]string{"\r\n", "\r", "\n", "\r\n", "\n"}[n%5]
			if n++; end == "\n" && i > 0 && s[i-1] == '\n' && strings.HasSuffix(out.String(), "\r") {
				end = "\r" // CR and LF in a row would be one line end
			}
			out.WriteString(end)
		}
		return out.String()
	},
}

func TestStreamsCutEverywhere(t *testing.T) {
	for _, tc := range streams {
		for end, convert := range lineEnds {
			stream := convert(tc.stream)
			check := func(how string, r io.Reader) {
				t.Helper()
				frames, err := readAll(t, r, 1<<20)
				if diff := cmp.Diff(tc.want, frames); diff != "" || err != io.EOF {
					t.Fatalf("%s, %s, %s: err %v, -want +got\n%s", tc.name, end, how, err, diff)
				}
			}
			check("whole", strings.NewReader(stream))
			check("byte by byte", iotest.OneByteReader(strings.NewReader(stream)))
			check("end with data", iotest.DataErrReader(strings.NewReader(stream)))
			step := 1 + len(stream)/500
			for at := 0; at <= len(stream); at += step {
				check(fmt.Sprint("cut at ", at), cuts(stream, at))
			}
		}
	}
}

// Cut at any byte, a stream gives the same frames up to the cut and then at most one tail, however it ends.
func TestStreamsEndAnywhere(t *testing.T) {
	for _, tc := range streams[:len(streams)-1] {
		for end, convert := range lineEnds {
			stream := convert(tc.stream)
			for at := range len(stream) {
				var whole []got
				for _, broken := range []error{io.EOF, io.ErrUnexpectedEOF, errors.New("broken")} {
					frames, err := readAll(t, io.MultiReader(strings.NewReader(stream[:at]), iotest.ErrReader(broken)), 1<<20)
					if err != broken {
						t.Fatalf("%s, %s at %d: err %v", tc.name, end, at, err)
					}
					n := len(frames)
					if n > 0 && frames[n-1].Tail {
						n--
					}
					if diff := cmp.Diff(tc.want[:min(n, len(tc.want))], frames[:n]); n > 0 && diff != "" {
						t.Fatalf("%s, %s at %d: -want +got\n%s", tc.name, end, at, diff)
					}
					if broken == io.EOF {
						whole = frames
					} else if diff := cmp.Diff(whole, frames); diff != "" {
						t.Fatalf("%s, %s at %d: clean end and %v differ\n%s", tc.name, end, at, broken, diff)
					}
				}
			}
		}
	}
}

// What a record without data is made of decides whether it is for anybody.
func TestRecordsWithoutData(t *testing.T) {
	for stream, want := range map[string]struct{ comment, id bool }{
		": x\n\n":              {true, false},
		"\n\n:\n: two\n\n":     {true, false},
		": x\nid: 7\n\n":       {false, true},
		"id: 7\n: x\n\n":       {false, true},
		"id\n\n":               {false, true},
		"\n\nretry: 10\n\n":    {false, false},
		": x\nretry: 10\n\n":   {false, false},
		": x\nevent: ping\n\n": {false, false},
		": x\nfoo: bar\n\n":    {false, false},
		"id: 1\ndata: x\n\n":   {false, true},
		": x\ndata: x\n\n":     {false, false},
	} {
		f, err := NewDecoder(strings.NewReader(stream), 100).Next()
		if err != nil || f.Comment != want.comment || f.ID != want.id {
			t.Errorf("%q: comment %v, id %v, %v", stream, f.Comment, f.ID, err)
		}
	}
}

// reads hands out one piece per Read and fails the test when it is asked for more than allowed.
type reads struct {
	t       *testing.T
	pieces  []string
	allowed int
}

func (r *reads) Read(p []byte) (int, error) {
	if r.allowed--; r.allowed < 0 {
		r.t.Fatal("read although a frame was complete")
	}
	n := copy(p, r.pieces[0])
	r.pieces = r.pieces[1:]
	return n, nil
}

func TestFramesAreNotKeptWaiting(t *testing.T) {
	for _, stream := range []string{"data: x\n\n", "data: x\r\n\r", "data: x\r\r", "data: x\n\r", "data: x\r\n\n", "\xef\xbb\xbfdata: x\r\r"} {
		d := NewDecoder(&reads{t: t, pieces: []string{stream}, allowed: 1}, 100)
		if f, err := d.Next(); err != nil || string(f.Data) != "x" || !strings.HasSuffix(string(f.Raw), "data: x\n\n") {
			t.Errorf("%q: %+v, %v", stream, keep(f), err)
		}
		if d.Ready() {
			t.Errorf("%q: ready for what is not there", stream)
		}
	}
}

func TestReady(t *testing.T) {
	src := &reads{t: t, pieces: []string{"data: 1\ndata: 1\n\nevent: skipped\n\ndata: 2\r\n\r", "\ndata: 3\ndata: 3\n\n: c\n", "\n"}, allowed: 1}
	d := NewDecoder(src, 100)
	if d.Ready() {
		t.Error("ready before anything was read")
	}
	for _, step := range []struct {
		data    string
		ready   bool
		allowed int // further reads after this frame
	}{{"1\n1", true, 0}, {"2", false, 1}, {"3\n3", false, 1}, {"", false, 0}} {
		f, err := d.Next()
		ready := d.Ready()
		if err != nil || ready != step.ready || string(f.Data) != step.data || len(f.Raw) == 0 || f.Raw[len(f.Raw)-1] != '\n' {
			t.Fatalf("want %+v, got %+v, ready %v, err %v", step, keep(f), ready, err)
		}
		src.allowed = step.allowed
	}
}

func TestStuckReader(t *testing.T) {
	src := &reads{t: t, pieces: make([]string, 1000), allowed: 1000}
	if _, err := NewDecoder(src, 100).Next(); err != io.ErrNoProgress {
		t.Errorf("err %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	const bound = 20
	for _, tc := range []struct {
		stream string
		frames int
		want   error
	}{
		{"data: 0123456789ab\n\n", 1, io.EOF}, // 20 bytes
		{"data: 0123456789abc\n\n", 0, ErrTooLarge},
		{"data: x\n\ndata: 0123456789abc\n\ndata: x\n\n", 1, ErrTooLarge},
		{"data: 0123456789ab\r\n\r\n", 1, io.EOF}, // counts as relayed, with LF
		{"data: 0\ndata: 1\n: x\n\n", 0, ErrTooLarge},
		{"event: skipped but large\n\n", 0, ErrTooLarge},
		{"data: 0123456789abcdefghi", 0, ErrTooLarge},
		{"data: 0123456789ab", 1, io.EOF},
		{"data: 0123456789abc", 0, ErrTooLarge}, // the blank line makes it 21
		{strings.Repeat("\n", 11) + "data: x\n\n", 1, io.EOF},
		{strings.Repeat("\n", 12) + "data: x\n\n", 0, ErrTooLarge},
		{strings.Repeat("\n", 20), 0, io.EOF},
		{strings.Repeat("\n", 21), 0, ErrTooLarge},
	} {
		for how, r := range map[string]io.Reader{"whole": strings.NewReader(tc.stream), "byte by byte": iotest.OneByteReader(strings.NewReader(tc.stream))} {
			frames, err := readAll(t, r, bound)
			if len(frames) != tc.frames || err != tc.want {
				t.Errorf("%q, %s: %d frames, err %v, want %d, %v", tc.stream, how, len(frames), err, tc.frames, tc.want)
			}
		}
	}
}

func TestResetAndRelease(t *testing.T) {
	d := NewDecoder(strings.NewReader("data: x\r\n\r\ndata: half"), 100)
	if f, err := d.Next(); err != nil || string(f.Data) != "x" {
		t.Fatal(f, err)
	}
	d.Reset(strings.NewReader("\ufeffdata: y\n\n"))
	if f, err := d.Next(); err != nil || string(f.Raw) != "data: y\n\n" {
		t.Fatal(keep(f), err)
	}
	d.Release()
	d.Release()
	if _, err := d.Next(); err == nil || d.Ready() {
		t.Error("a released decoder must not go on")
	}
	d.Reset(strings.NewReader("data: z\n\n"))
	if f, err := d.Next(); err != nil || string(f.Data) != "z" {
		t.Fatal(keep(f), err)
	}
}

package sse

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// repeat is an endless stream of one event, in reads as large as asked for.
type repeat struct {
	event string
	at    int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k := copy(p[n:], r.event[r.at:])
		r.at = (r.at + k) % len(r.event)
		n += k
	}
	return n, nil
}

const delta = "event: response.output_text.delta\ndata: " +
	`{"type":"response.output_text.delta","sequence_number":1042,"item_id":"msg_0123456789abcdef","output_index":0,"content_index":0,"delta":" gateway"}` + "\n\n"

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for name, event := range map[string]string{
		"LF":         delta,
		"CRLF":       strings.ReplaceAll(delta, "\n", "\r\n"),
		"multi-line": "data: a\ndata: b\n\n",
		"10 KiB":     "data: " + strings.Repeat("x", 10<<10) + "\n\n",
	} {
		d := NewDecoder(&repeat{event: event}, 1<<20)
		next := func() {
			if f, err := d.Next(); err != nil || !f.HasData {
				t.Fatal(err)
			}
			d.Ready()
		}
		for range 100 {
			next()
		}
		if n := testing.AllocsPerRun(1000, next); n != 0 {
			t.Errorf("%s: %v allocations per event", name, n)
		}
	}
}

func TestLFFramesAliasTheBuffer(t *testing.T) {
	d := NewDecoder(strings.NewReader(delta+delta), 1<<10)
	for range 2 {
		f, err := d.Next()
		if err != nil {
			t.Fatal(err)
		}
		if at := strings.Index(string(f.Raw), string(f.Data)); &f.Raw[at] != &f.Data[0] {
			t.Error("data was copied")
		}
		if cap(f.Raw) != len(f.Raw) || cap(f.Data) != len(f.Data) {
			t.Error("an append to a frame would overwrite the next one")
		}
	}
}

// Memory follows the record: up to its bound while it is there, back to the start when it is done.
func TestBufferGrowsToTheBoundAndShrinks(t *testing.T) {
	const bound = 300 << 10
	giant := "data: " + strings.Repeat("x", bound-len("data: \n\n")) + "\n\n"
	d := NewDecoder(io.MultiReader(strings.NewReader(giant), &repeat{event: delta}), bound)
	largest := 0
	for i := range 3 {
		f, err := d.Next()
		if err != nil || i == 0 && len(f.Raw) != bound {
			t.Fatal(i, len(f.Raw), err)
		}
		largest = max(largest, len(d.buf))
	}
	if largest > bound+smallSize {
		t.Errorf("buffer of %d bytes for records of at most %d", largest, bound)
	}
	for range 1000 {
		if _, err := d.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.buf) != smallSize {
		t.Errorf("buffer is still %d bytes", len(d.buf))
	}
}

func TestMediumBufferShrinksWhenCalm(t *testing.T) {
	d := NewDecoder(io.MultiReader(strings.NewReader("data: "+strings.Repeat("x", 30<<10)+"\n\n"), &repeat{event: delta}), 1<<20)
	if _, err := d.Next(); err != nil || len(d.buf) != 64<<10 && len(d.buf) != 32<<10 {
		t.Fatal(len(d.buf), err)
	}
	for range 100_000 {
		if _, err := d.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.buf) != smallSize {
		t.Errorf("buffer is still %d bytes", len(d.buf))
	}
}

// A stream that waits most of the time holds little; one that runs gets a
// buffer that is worth a read, and gives it back when it waits again.
func TestIdleStreamsHoldLittle(t *testing.T) {
	burst := strings.Repeat(delta, 200)
	var parts []io.Reader
	trickle := func() {
		for range 2 * shrinkAfter {
			parts = append(parts, strings.NewReader(delta))
		}
	}
	trickle()
	parts = append(parts, strings.NewReader(burst))
	trickle()
	d := NewDecoder(io.MultiReader(parts...), 1<<20)
	largest := 0
	for i := range 4*shrinkAfter + 200 {
		if _, err := d.Next(); err != nil {
			t.Fatal(i, err)
		}
		if i < 2*shrinkAfter && len(d.buf) != idleSize {
			t.Fatalf("event %d: a buffer of %d bytes", i, len(d.buf))
		}
		largest = max(largest, len(d.buf))
	}
	if largest != smallSize || len(d.buf) != idleSize {
		t.Errorf("in the burst %d bytes, afterwards %d", largest, len(d.buf))
	}
}

// Quadratic work would take minutes to hours here, linear work takes well under a second.
func TestGiantRecordsAreLinear(t *testing.T) {
	whole := func(s string) io.Reader { return strings.NewReader(s) }
	bytewise := func(s string) io.Reader { return iotest.OneByteReader(strings.NewReader(s)) }
	line := "data: 0123456789"
	for _, tc := range []struct {
		name, line, end string
		size            int
		reader          func(string) io.Reader
	}{
		{"one line, byte by byte", "data: " + strings.Repeat("x", 8<<20), "\n", 1, bytewise},
		{"LF lines", line, "\n", 8 << 20, whole},
		{"CRLF lines", line, "\r\n", 8 << 20, whole},
		{"CR lines", line, "\r", 8 << 20, whole},
		{"LF lines, byte by byte", line, "\n", 2 << 20, bytewise},
		{"CRLF lines, byte by byte", line, "\r\n", 2 << 20, bytewise},
		{"CR lines, byte by byte", line, "\r", 2 << 20, bytewise},
	} {
		stream := strings.Repeat(tc.line+tc.end, 1+tc.size/len(tc.line)) + tc.end
		start := time.Now()
		frames, err := readAll(t, tc.reader(stream), len(stream))
		if len(frames) != 1 || err != io.EOF || len(frames[0].Raw) > len(stream) {
			t.Errorf("%s: %d frames, %v", tc.name, len(frames), err)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: %v", tc.name, took)
		}
	}
}

func BenchmarkDecoder(b *testing.B) {
	for name, event := range map[string]string{"LF": delta, "CRLF": strings.ReplaceAll(delta, "\n", "\r\n")} {
		b.Run(name, func(b *testing.B) {
			d := NewDecoder(&repeat{event: event}, 1<<20)
			b.SetBytes(int64(len(event)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Next(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

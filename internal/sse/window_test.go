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

// 8 MiB one byte at a time: with quadratic work this takes hours, linear a fraction of a second.
func TestGiantRecordsAreLinear(t *testing.T) {
	const size = 8 << 20
	for name, stream := range map[string]string{
		"one line":   "data: " + strings.Repeat("x", size) + "\n\n",
		"LF lines":   strings.Repeat("data: 0123456789\n", size/17) + "\n",
		"CRLF lines": strings.Repeat("data: 0123456789\r\n", size/18) + "\r\n",
		"CR lines":   strings.Repeat("data: \r", size/7) + "\r",
	} {
		for how, r := range map[string]io.Reader{"whole": strings.NewReader(stream), "byte by byte": iotest.OneByteReader(strings.NewReader(stream))} {
			start := time.Now()
			frames, err := readAll(t, r, size+100)
			if len(frames) != 1 || err != io.EOF {
				t.Errorf("%s, %s: %d frames, %v", name, how, len(frames), err)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%s, %s: %v", name, how, took)
			}
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

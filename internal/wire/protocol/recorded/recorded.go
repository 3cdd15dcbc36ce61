// Package recorded gives tests the recorded provider traffic that lies beside
// the repository, and plays bodies through a protocol's reader.
//
// It is for tests only, and no place for traffic of its own: the recordings are
// read where they lie.
//
// Invariant: a test that wanted recordings which are not there says so and is
// skipped, or fails where they are required; it never passes.
package recorded

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// required is the environment variable that, set to anything, makes recordings
// that are not there a failure. CI=true does the same.
const required = "RUBICON_REQUIRE_TRANSCRIPTS"

// maxRecord is far above any recorded event.
const maxRecord = 16 << 20

// Exchange is one recorded request and its answer.
type Exchange struct {
	Name     string          `json:"-"`
	Protocol string          `json:"protocol"`
	Stream   bool            `json:"stream"`
	Status   int             `json:"status"`
	Request  json.RawMessage `json:"request"`
	Body     string          `json:"body"`
}

// Normal is the body with LF line ends, as a relay gives it.
func (e Exchange) Normal() string { return strings.ReplaceAll(e.Body, "\r\n", "\n") }

// Load reads all exchanges of a protocol. Without the recordings the test is
// skipped, or fails where they are required.
func Load(tb testing.TB, protocolName string) []Exchange {
	tb.Helper()
	dir := filepath.Join(filepath.Dir(root(tb)), "shared", "transcripts", protocolName)
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) == 0 {
		missing(tb, protocolName)
	}
	var all []Exchange
	for _, file := range files {
		all = append(all, read(tb, file))
	}
	return all
}

// Streams are the exchanges that were streamed.
func Streams(tb testing.TB, protocolName string) []Exchange {
	tb.Helper()
	return slices.DeleteFunc(Load(tb, protocolName), func(e Exchange) bool { return !e.Stream })
}

func read(tb testing.TB, file string) Exchange {
	tb.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	e := Exchange{Name: filepath.Base(file)}
	if err := json.Unmarshal(raw, &e); err != nil {
		tb.Fatalf("%s: %v", e.Name, err)
	}
	return e
}

// missing ends a test whose recordings are not there. Go's cache of test
// results does not look at files outside the module, but it does look at the
// environment that is read here: the Makefile sets the variable when the
// recordings are there, so that no skipped run is taken for a later one.
func missing(tb testing.TB, protocolName string) {
	tb.Helper()
	ci, _ := strconv.ParseBool(os.Getenv("CI"))
	if require := os.Getenv(required); require != "" || ci {
		tb.Fatalf("NO TRANSCRIPTS: there is no recorded %s traffic in ../shared/transcripts beside the repository, and CI or %s requires it", protocolName, required)
	}
	tb.Skipf("NO TRANSCRIPTS: there is no recorded %s traffic in ../shared/transcripts beside the repository; %s=1 makes that a failure", protocolName, required)
}

// root is the module's folder.
func root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Fatal("no go.mod above the test")
		}
		dir = up
	}
}

// Play is what came of a stream.
type Play struct {
	Events []protocol.Event // with bytes of their own
	Stages []protocol.Stage // after each event
	Tail   []byte
	Err    error // of the decoder or the reader; nil at the end of the stream
}

// Run plays a stream through a reader, as the engine does: until it is closed
// or at its end.
func Run(stream io.Reader, r protocol.Reader) (p Play) {
	d := sse.NewDecoder(stream, maxRecord)
	defer d.Release()
	for r.Stage() != protocol.Closed {
		f, err := d.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			p.Err = err
			return p
		}
		ev, err := r.Read(f)
		if err != nil {
			p.Err = err
			return p
		}
		ev.Raw, ev.Data = bytes.Clone(ev.Raw), bytes.Clone(ev.Data)
		p.Events = append(p.Events, ev)
		p.Stages = append(p.Stages, r.Stage())
	}
	p.Tail = r.Tail()
	return p
}

// Shown is what an SSE client gets of a play: the events that are not hidden,
// and the tail.
func (p Play) Shown() string {
	var b bytes.Buffer
	for _, ev := range p.Events {
		if !ev.Hidden {
			b.Write(ev.Raw)
		}
	}
	b.Write(p.Tail)
	return b.String()
}

// Classes are the classes of a play's events, in order.
func (p Play) Classes() []protocol.Class {
	var c []protocol.Class
	for _, ev := range p.Events {
		c = append(c, ev.Class)
	}
	return c
}

// Chunks reads s in pieces of n bytes.
func Chunks(s string, n int) io.Reader { return &chunks{rest: s, n: n} }

type chunks struct {
	rest string
	n    int
}

func (c *chunks) Read(p []byte) (int, error) {
	if c.rest == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.n)], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

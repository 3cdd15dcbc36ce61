package responses

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/money/price"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// run is what came of reading a stream until it was closed or ended.
type run struct {
	Raw    string // of the events that are for the client
	Events []string
	Seen   protocol.Observed
	Stage  protocol.Stage
	Err    error
}

// read reads on where a gateway would stop, so that all of a stream is seen.
func read(r io.Reader) run {
	d := sse.NewDecoder(r, 32<<20)
	defer d.Release()
	rd := NewReader(protocol.ReaderOptions{Model: "public/model"})
	var out run
	for {
		f, err := d.Next()
		if err != nil {
			if err != io.EOF {
				out.Err = err
			}
			break
		}
		ev, err := rd.Read(f)
		if err != nil {
			out.Err = err
			break
		}
		out.Events = append(out.Events, strings.Trim(ev.Class.String()+" "+ev.Type+map[bool]string{true: " hidden"}[ev.Hidden], " "))
		if !ev.Hidden {
			out.Raw += string(ev.Raw)
		}
	}
	out.Seen, out.Stage = *rd.Seen(), rd.Stage()
	return out
}

func stream(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ids(pairs ...string) (out []protocol.StateID) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, protocol.StateID{Kind: pairs[i], ID: pairs[i+1]})
	}
	return out
}

// streams says what each stream in testdata tells.
var streams = map[string]struct {
	seen  protocol.Observed
	stage protocol.Stage
}{
	"text": {protocol.Observed{
		Events: 12, Tier: "default", Usage: price.Usage{Input: 12, Output: 7}, Reported: true, ShowsExecution: true,
		OutputEvents: 7, Content: true, TextBytes: 7 + 2 + 6 + 4, Sequence: 11, State: ids("response", "resp_t1", "item", "msg_1"),
	}, protocol.Closed},
	"reasoning": {protocol.Observed{
		Events: 16, Tier: "priority", Usage: price.Usage{Input: 40, CachedInput: 40, CacheWrite: 20, Output: 64}, Reported: true, ShowsExecution: true,
		OutputEvents: 10, Content: true, TextBytes: 14 + 4, Sequence: 15,
		State: ids("response", "resp_t1", "item", "rs_1", "sealed", protocol.Seal("opening-seal"), "sealed", protocol.Seal("closing-seal"), "item", "msg_1"),
	}, protocol.Closed},
	"function_call": {protocol.Observed{
		Events: 8, Tier: "auto", Usage: price.Usage{Input: 30, Output: 9}, Reported: true, ShowsExecution: true,
		OutputEvents: 5, Content: true, TextBytes: 7, Sequence: 7, State: ids("response", "resp_t1", "item", "fc_1"),
	}, protocol.Closed},
	"web_search": {protocol.Observed{
		Events: 14, Tier: "auto", Usage: price.Usage{Input: 300, Output: 20}, Reported: true, ShowsExecution: true,
		OutputEvents: 9, Content: true, TextBytes: 9, Sequence: 13, Hosted: map[string]int64{"web_search": 1}, Ran: true,
		State: ids("response", "resp_t1", "item", "ws_1", "item", "msg_1"),
	}, protocol.Closed},
	"code_interpreter": {protocol.Observed{
		Events: 11, Tier: "auto", Usage: price.Usage{Input: 50, Output: 11}, Reported: true, ShowsExecution: true,
		OutputEvents: 8, Content: true, TextBytes: 8, Sequence: 10, Hosted: map[string]int64{"code_interpreter": 1}, Ran: true,
		State: ids("response", "resp_t1", "item", "ci_1", "container", "cntr_1"),
	}, protocol.Closed},
	"failed": {protocol.Observed{
		Events: 3, Tier: "auto", Sequence: 2, State: ids("response", "resp_t1"),
		Failure: &protocol.FailureInfo{Code: "server_error", Message: "The server had an error."},
	}, protocol.Closed},
	"failed_with_result": {protocol.Observed{
		Events: 3, Tier: "auto", Sequence: 2, State: ids("response", "resp_t1", "item", "msg_1"),
		Usage: price.Usage{Input: 9, Output: 2}, Reported: true, ShowsExecution: true, Result: true, Content: true, TextBytes: 4,
		Failure: &protocol.FailureInfo{Code: "server_error", Message: "The server had an error."},
	}, protocol.Closed},
	"incomplete": {protocol.Observed{
		Events: 9, Tier: "auto", Usage: price.Usage{Input: 5, Output: 16}, Reported: true, ShowsExecution: true, Incomplete: true,
		OutputEvents: 4, Content: true, TextBytes: 9, Sequence: 8, State: ids("response", "resp_t1", "item", "msg_1"),
	}, protocol.Closed},
	"error_flat": {protocol.Observed{
		Events: 4, Tier: "auto", Sequence: 3, State: ids("response", "resp_t1"),
		Failure: &protocol.FailureInfo{Code: "rate_limit_exceeded", Message: "Rate limit reached."},
	}, protocol.Closed},
	"error_nested": {protocol.Observed{
		Events: 3, Tier: "auto", Sequence: 2, State: ids("response", "resp_t1"),
		Failure: &protocol.FailureInfo{Type: "rate_limit_error", Message: "Slow down.", Status: 429, RetryAfter: 7e9},
	}, protocol.Finishing},
	"heartbeats": {protocol.Observed{
		Events: 5, Tier: "auto", Usage: price.Usage{Input: 3, Output: 1}, Reported: true, ShowsExecution: true,
		OutputEvents: 2, Content: true, TextBytes: 2, Sequence: 5, State: ids("response", "resp_t1"),
	}, protocol.Closed},
	"done_only": {protocol.Observed{
		Events: 5, Tier: "auto", OutputEvents: 2, Content: true, TextBytes: 6 + 2, Sequence: 4,
		State: ids("response", "resp_t1", "item", "msg_1", "item", "fc_9"),
	}, protocol.Closed},
	"unnamed": {protocol.Observed{
		Events: 10, Tier: "auto", Usage: price.Usage{Input: 4, Output: 1}, Reported: true, ShowsExecution: true,
		OutputEvents: 4, Content: true, TextBytes: 2, Sequence: 9, State: ids("response", "resp_t1", "item", "msg_1"),
	}, protocol.Closed},
	"terminal_only": {protocol.Observed{
		Events: 2, Tier: "auto", Usage: price.Usage{Input: 4, Output: 3}, Reported: true, ShowsExecution: true,
		Content: true, TextBytes: 11, Sequence: 1, State: ids("response", "resp_t1", "item", "msg_1"),
	}, protocol.Closed},
}

func TestStreams(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil || len(files) != len(streams) {
		t.Fatalf("%d streams in testdata, %d in the table (%v)", len(files), len(streams), err)
	}
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		t.Run(name, func(t *testing.T) {
			want := streams[name].seen
			want.ResponseID, want.Model = "resp_t1", "model-1-2026-01-01"
			body := stream(t, name)
			got := read(bytes.NewReader(body))
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			if diff := cmp.Diff(want, got.Seen); diff != "" {
				t.Errorf("seen (-want +got):\n%s", diff)
			}
			if got.Stage != streams[name].stage {
				t.Errorf("stage %d, want %d", got.Stage, streams[name].stage)
			}
			sent := strings.TrimSuffix(string(body), "data: [DONE]\n\n")
			if got.Raw != sent {
				t.Errorf("bytes changed:\n%s", cmp.Diff(sent, got.Raw))
			}
			cutIndependent(t, body, got)
			cutShort(t, body)
		})
	}
}

// cutIndependent checks that neither chunking nor line ends change what is read.
func cutIndependent(t *testing.T, body []byte, want run) {
	t.Helper()
	crlf := bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))
	for name, r := range map[string]io.Reader{
		"one byte at a time": iotest.OneByteReader(bytes.NewReader(body)),
		"halves":             iotest.HalfReader(bytes.NewReader(body)),
		"7 bytes":            &chunks{body, 7},
		"1000 bytes":         &chunks{body, 1000},
		"CRLF":               bytes.NewReader(crlf),
		"CRLF byte by byte":  iotest.OneByteReader(bytes.NewReader(crlf)),
		"data with EOF":      iotest.DataErrReader(bytes.NewReader(body)),
	} {
		if diff := cmp.Diff(want, read(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

type chunks struct {
	rest []byte
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest[:min(c.size, len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}

// cutShort checks that a stream which ends early never looks finished: at every
// event, and of short streams at every byte.
func cutShort(t *testing.T, body []byte) {
	t.Helper()
	end := endingAt(body)
	unfinished := func(at int, stage protocol.Stage, seen *protocol.Observed) {
		if stage != protocol.Open || seen.Reported || seen.Failure != nil {
			t.Fatalf("cut at %d of %d looks finished: stage %d, %+v", at, len(body), stage, seen)
		}
	}
	r, at := NewReader(protocol.ReaderOptions{}), 0
	for d := sse.NewDecoder(bytes.NewReader(body[:end]), 1<<20); ; {
		f, err := d.Next()
		if err != nil || f.Tail {
			break
		}
		if _, err := r.Read(f); err != nil {
			t.Fatal(err)
		}
		at += len(f.Raw)
		unfinished(at, r.Stage(), r.Seen())
	}
	for at := 0; at < end && len(body) < 6000; at++ {
		got := read(bytes.NewReader(body[:at]))
		if got.Err != nil && !errors.Is(got.Err, protocol.ErrNotProtocol) {
			t.Fatalf("cut at %d: %v", at, got.Err)
		}
		unfinished(at, got.Stage, &got.Seen)
	}
}

// endingAt is where the JSON of the first ending of a stream is complete.
func endingAt(body []byte) int {
	for _, typ := range []string{"response.completed", "response.incomplete", "response.failed", "error"} {
		if i := bytes.Index(body, []byte(`{"type":"`+typ+`"`)); i >= 0 {
			if at := i + bytes.IndexByte(body[i:], '\n'); typ != "response.failed" || !bytes.Contains(body[:i], []byte(`{"type":"error"`)) {
				return at
			}
		}
	}
	return len(body)
}

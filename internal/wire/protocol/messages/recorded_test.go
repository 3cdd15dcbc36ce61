package messages_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/money/price"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/messages"
	"rubicon/internal/wire/protocol/recorded"
)

// parsedEvent is an event or an answer as encoding/json reads it.
type parsedEvent struct {
	Type    string
	Message struct{ Usage *toldUsage }
	Usage   *toldUsage
	Delta   struct {
		Text, Thinking string
		PartialJSON    string `json:"partial_json"`
	}
	Content []struct {
		Type, Text, Thinking string
		Input                json.RawMessage
	}
}

type toldUsage struct {
	Input      *int64 `json:"input_tokens"`
	Read       *int64 `json:"cache_read_input_tokens"`
	Written    *int64 `json:"cache_creation_input_tokens"`
	Output     *int64 `json:"output_tokens"`
	ServerTool struct {
		WebSearch int64 `json:"web_search_requests"`
	} `json:"server_tool_use"`
}

func (u *toldUsage) onto(to *price.Usage) {
	for _, f := range []struct {
		from *int64
		to   *int64
	}{{u.Input, &to.Input}, {u.Read, &to.CachedInput}, {u.Written, &to.CacheWrite}, {u.Output, &to.Output}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
}

// recording is what encoding/json makes of a recorded stream, record by record.
type recording struct {
	records  []string // with their blank lines
	usage    price.Usage
	searches int64
	text     int64
	closing  int // index of the first message_delta
}

func decode(t *testing.T, body string) (r recording) {
	t.Helper()
	r.closing = -1
	for _, record := range strings.SplitAfter(body, "\n\n") {
		if strings.TrimSpace(record) == "" {
			continue
		}
		r.records = append(r.records, record)
		_, data, _ := strings.Cut(strings.TrimSpace(record), "\ndata: ")
		var e parsedEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v: %s", err, record)
		}
		if u := e.Message.Usage; u != nil {
			u.onto(&r.usage)
		}
		if u := e.Usage; u != nil {
			u.onto(&r.usage)
			r.searches = u.ServerTool.WebSearch
		}
		if e.Type == "message_delta" && r.closing < 0 {
			r.closing = len(r.records) - 1
		}
		r.text += int64(len(e.Delta.Text) + len(e.Delta.Thinking) + len(e.Delta.PartialJSON))
	}
	return r
}

func TestRecordedStreams(t *testing.T) {
	for _, e := range recorded.Streams(t, messages.Name) {
		t.Run(e.Name, func(t *testing.T) {
			want := decode(t, e.Normal())
			for _, wire := range []string{e.Body, strings.ReplaceAll(e.Body, "\n", "\r\n")} {
				for _, size := range []int{1, 3, 61, len(wire)} {
					r := messages.NewReader(protocol.ReaderOptions{})
					p := recorded.Run(recorded.Chunks(wire, size), r)
					checkWhole(t, p, r, want)
				}
			}
		})
	}
}

func checkWhole(t *testing.T, p recorded.Play, r protocol.Reader, want recording) {
	t.Helper()
	seen := r.Seen()
	if p.Err != nil || p.Tail != nil || r.Stage() != protocol.Closed || seen.Failure != nil {
		t.Fatalf("err %v, tail %q, stage %d, failed %v", p.Err, p.Tail, r.Stage(), seen.Failure)
	}
	if d := cmp.Diff(strings.Join(want.records, ""), p.Shown()); d != "" {
		t.Fatalf("other bytes: %s", d)
	}
	if n := len(p.Events); slices.Index(p.Classes(), protocol.Terminal) != n-1 {
		t.Fatalf("the ending is not the last event, once: %v", p.Classes())
	}
	if d := cmp.Diff(want.usage, seen.Usage); d != "" || !seen.Reported || !seen.OpeningUsage || seen.Hosted["web_search"] != want.searches {
		t.Fatalf("usage: %+v\n%s", seen, d)
	}
	if seen.TextBytes != want.text || seen.ResponseID == "" || seen.Model == "" || seen.Tier != "standard" {
		t.Fatalf("text %d, want %d; %+v", seen.TextBytes, want.text, seen)
	}
}

// A stream that is cut anywhere never looks finished; before its closing numbers
// it is billed by its opening and by what was read.
func TestRecordedStreamsCut(t *testing.T) {
	for _, e := range recorded.Streams(t, messages.Name) {
		t.Run(e.Name, func(t *testing.T) {
			want := decode(t, e.Normal())
			for cut := range want.records {
				before, part := strings.Join(want.records[:cut], ""), want.records[cut]
				for _, inside := range []int{0, 1, len(part) / 2, len(part) - 3} {
					r := messages.NewReader(protocol.ReaderOptions{})
					p := recorded.Run(strings.NewReader(before+part[:inside]), r)
					seen := r.Seen()
					if r.Stage() != protocol.Open || strings.Contains(p.Shown(), "message_stop") {
						t.Fatalf("cut in record %d, looks finished", cut)
					}
					if seen.TextBytes > want.text || cut <= want.closing && (seen.Reported || seen.ShowsExecution || seen.Usage.Output != 0) {
						t.Fatalf("cut in record %d: %+v", cut, seen)
					}
				}
			}
		})
	}
}

func TestRecordedAnswers(t *testing.T) {
	for _, e := range recorded.Load(t, messages.Name) {
		if e.Stream {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			seen, err := messages.Answer([]byte(e.Body))
			if err != nil {
				t.Fatal(err)
			}
			var want parsedEvent
			if err := json.Unmarshal([]byte(e.Body), &want); err != nil {
				t.Fatal(err)
			}
			var usage price.Usage
			want.Usage.onto(&usage)
			var text int64
			for _, c := range want.Content {
				text += int64(len(c.Text) + len(c.Thinking) + len(c.Input))
			}
			if d := cmp.Diff(usage, seen.Usage); d != "" || !seen.Reported || seen.OpeningUsage || seen.TextBytes != text {
				t.Errorf("%+v, text %d\n%s", seen, text, d)
			}
		})
	}
}

// The recorded requests are accepted, travel up untouched, and name as sealed
// what a recorded answer sealed.
func TestRecordedRequests(t *testing.T) {
	all := recorded.Load(t, messages.Name)
	known := map[string]bool{}
	for _, e := range all {
		seen, _ := messages.Answer([]byte(e.Body))
		if e.Stream {
			r := messages.NewReader(protocol.ReaderOptions{})
			recorded.Run(strings.NewReader(e.Body), r)
			seen = r.Seen()
		}
		for _, s := range seen.State {
			known[s.ID] = true
		}
	}
	found := 0
	for _, e := range all {
		r, bad := messages.ParseRequest(e.Request)
		hosted := strings.Contains(e.Name, "websearch")
		if bad != nil || r.Stream != e.Stream || r.Model == "" || r.MaxOutput == 0 || (len(r.Hosted) > 0) != hosted {
			t.Errorf("%s: %+v, %v", e.Name, r, bad)
		}
		if up, err := messages.Upstream(e.Request, protocol.Rewrite{Model: r.Model}); err != nil || string(up) != string(e.Request) {
			t.Errorf("%s: changed, %v", e.Name, err)
		}
		for _, ref := range r.Refs {
			found++
			if ref.Kind != protocol.KindSealed || !known[ref.ID] {
				t.Errorf("%s: %+v is sealed by no recorded answer", e.Name, ref)
			}
		}
	}
	if found == 0 {
		t.Error("no recorded request names a sealed item")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(typed(start) + typed(textBlock) + typed(ping) + typed(text) + typed(blockStop) + typed(closing) + typed(stop)))
	f.Add([]byte(typed(block(`{"type":"redacted_thinking","data":"x"}`)) + typed(delta(`{"signature":"x"}`)) + typed(overload)))
	f.Add([]byte(event("message_delta", `{"usage":{"server_tool_use":{"x_requests":1e99}},"delta":{"container":{"id":"c"}}}`) + event("error", `{"error":{"usage":{}}}`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := messages.NewReader(protocol.ReaderOptions{})
		whole := recorded.Run(strings.NewReader(string(body)), r)
		pieces := messages.NewReader(protocol.ReaderOptions{})
		p := recorded.Run(recorded.Chunks(string(body), 3), pieces)
		if d := cmp.Diff(whole.Events, p.Events); d != "" || whole.Err != p.Err {
			t.Fatalf("chunking changes the events: %s", d)
		}
		if d := cmp.Diff(r.Seen(), pieces.Seen()); d != "" {
			t.Fatalf("chunking changes what is seen: %s", d)
		}
		for i, ev := range whole.Events {
			if ev.Data != nil && !ev.Hidden && !json.Valid(ev.Data) {
				t.Fatalf("no JSON was let through: %q", ev.Data)
			}
			if (ev.Class == protocol.Terminal || ev.Class == protocol.Failure) != (whole.Stages[i] == protocol.Closed) {
				t.Fatalf("%s event at stage %d", ev.Class, whole.Stages[i])
			}
		}
		if n := r.Seen().TextBytes; n > int64(3*len(body)) || n < 0 {
			t.Fatalf("%d text bytes in %d", n, len(body))
		}
	})
}

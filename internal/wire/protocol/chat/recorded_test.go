package chat_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/money/price"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/chat"
	"rubicon/internal/wire/protocol/recorded"
)

// parsedChunk is a chunk or an answer as encoding/json reads it.
type parsedChunk struct {
	Choices []struct {
		Delta, Message toldText
		FinishReason   *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Total      int64 `json:"total_tokens"`
		Written    int64 `json:"cache_creation_input_tokens"`
		Input      struct {
			Cached  int64 `json:"cached_tokens"`
			Written int64 `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
		Output struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
}

type toldText struct {
	Content, Refusal, Reasoning string
	ReasoningContent            string `json:"reasoning_content"`
	ReasoningDetails            []struct{ Text, Summary string }
	ToolCalls                   []struct{ Function struct{ Arguments string } } `json:"tool_calls"`
}

func (t toldText) bytes() int64 {
	details := 0
	for _, d := range t.ReasoningDetails {
		details += len(d.Text) + len(d.Summary)
	}
	n := len(t.Content) + len(t.Refusal) + max(len(t.Reasoning), len(t.ReasoningContent), details)
	for _, c := range t.ToolCalls {
		n += len(c.Function.Arguments)
	}
	return int64(n)
}

func (t parsedChunk) usage() price.Usage {
	u := t.Usage
	out := u.Completion
	if u.Output.Reasoning > 0 && u.Prompt+u.Completion+u.Output.Reasoning == u.Total {
		out += u.Output.Reasoning // xAI
	}
	written := max(u.Written, u.Input.Written)
	return price.Usage{Input: u.Prompt - u.Input.Cached - written, CachedInput: u.Input.Cached, CacheWrite: written, Output: out}
}

// recording is what encoding/json makes of a recorded stream, record by record.
type recording struct {
	records  []string // with their blank lines
	usage    price.Usage
	text     int64
	stripped string // without the usage chunks
	finished int    // index of the record that completes the answer
}

func decode(t *testing.T, body string) (r recording) {
	t.Helper()
	r.finished = -1
	for _, record := range strings.SplitAfter(body, "\n\n") {
		if strings.TrimSpace(record) == "" {
			continue
		}
		r.records = append(r.records, record)
		data, isData := strings.CutPrefix(strings.TrimSpace(record), "data: ")
		var c parsedChunk
		if isData && data != "[DONE]" {
			if err := json.Unmarshal([]byte(data), &c); err != nil {
				t.Fatalf("%v: %s", err, data)
			}
		}
		if c.Usage != nil {
			r.usage = c.usage()
		}
		for _, choice := range c.Choices {
			r.text += choice.Delta.bytes()
			if choice.FinishReason != nil && r.finished < 0 {
				r.finished = len(r.records) - 1
			}
		}
		if c.Usage == nil || len(c.Choices) > 0 {
			r.stripped += record
		}
	}
	return r
}

func TestRecordedStreams(t *testing.T) {
	for _, e := range recorded.Streams(t, chat.Name) {
		t.Run(e.Name, func(t *testing.T) {
			want := decode(t, e.Normal())
			for _, wire := range []string{e.Body, strings.ReplaceAll(e.Body, "\n", "\r\n")} {
				for _, size := range []int{1, 3, 61, len(wire)} {
					for _, strip := range []bool{false, true} {
						r := chat.NewReader(protocol.ReaderOptions{StripUsage: strip, Choices: 1})
						p := recorded.Run(recorded.Chunks(wire, size), r)
						checkWhole(t, p, r, want, strip)
					}
				}
			}
		})
	}
}

func checkWhole(t *testing.T, p recorded.Play, r protocol.Reader, want recording, strip bool) {
	t.Helper()
	seen, body := r.Seen(), strings.Join(want.records, "")
	if strip {
		body = want.stripped
	}
	if p.Err != nil || p.Tail != nil || r.Stage() != protocol.Closed || seen.Failure != nil {
		t.Fatalf("err %v, tail %q, stage %d, failed %v", p.Err, p.Tail, r.Stage(), seen.Failure)
	}
	if d := cmp.Diff(body, p.Shown()); d != "" {
		t.Fatalf("other bytes: %s", d)
	}
	if n := len(p.Events); slices.Index(p.Classes(), protocol.Terminal) != n-1 {
		t.Fatalf("the ending is not the last event, once: %v", p.Classes())
	}
	if d := cmp.Diff(want.usage, seen.Usage); d != "" || !seen.Reported || seen.OpeningUsage {
		t.Fatalf("usage: %+v\n%s", seen, d)
	}
	if seen.TextBytes != want.text || seen.ResponseID == "" || seen.Model == "" {
		t.Fatalf("text %d, want %d; id %q, model %q", seen.TextBytes, want.text, seen.ResponseID, seen.Model)
	}
}

// A stream that is cut is not complete before its finish_reason; it is billed by
// what was read up to there.
func TestRecordedStreamsCut(t *testing.T) {
	for _, e := range recorded.Streams(t, chat.Name) {
		t.Run(e.Name, func(t *testing.T) {
			want := decode(t, e.Normal())
			for cut := range want.records {
				before := strings.Join(want.records[:cut], "")
				part := want.records[cut]
				for _, inside := range []int{0, 1, len(part) / 2, len(part) - 3} {
					checkCut(t, before+part[:max(inside, 0)], cut, want)
				}
			}
		})
	}
}

// checkCut plays a stream that ends before its record number cut is whole.
func checkCut(t *testing.T, wire string, cut int, want recording) {
	t.Helper()
	r := chat.NewReader(protocol.ReaderOptions{StripUsage: true, Choices: 1})
	p := recorded.Run(strings.NewReader(wire), r)
	seen := r.Seen()
	if complete := r.Stage() != protocol.Open; complete && cut <= want.finished {
		t.Fatalf("cut in record %d, looks finished: %q", cut, wire[max(0, len(wire)-200):])
	}
	if strings.Contains(p.Shown(), "[DONE]") && cut <= want.finished {
		t.Fatalf("cut in record %d, and [DONE] is shown", cut)
	}
	if seen.TextBytes > want.text || seen.Reported && cut <= want.finished {
		t.Fatalf("cut in record %d: text %d of %d, reported %v", cut, seen.TextBytes, want.text, seen.Reported)
	}
	if cut > want.finished && p.Err == nil && r.Stage() == protocol.Finishing && string(p.Tail) != "data: [DONE]\n\n" {
		t.Fatalf("cut in record %d, after the finish: tail %q", cut, p.Tail)
	}
}

func TestRecordedAnswers(t *testing.T) {
	for _, e := range recorded.Load(t, chat.Name) {
		if e.Stream {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			seen, err := chat.Answer([]byte(e.Body))
			if err != nil {
				t.Fatal(err)
			}
			var want parsedChunk
			if err := json.Unmarshal([]byte(e.Body), &want); err != nil {
				t.Fatal(err)
			}
			var text int64
			for _, c := range want.Choices {
				text += c.Message.bytes()
			}
			if d := cmp.Diff(want.usage(), seen.Usage); d != "" || !seen.Reported || seen.Failure != nil || seen.TextBytes != text {
				t.Errorf("%+v, text %d\n%s", seen, text, d)
			}
		})
	}
}

func TestRecordedRequests(t *testing.T) {
	for _, e := range recorded.Load(t, chat.Name) {
		r, bad := chat.ParseRequest(e.Request)
		if bad != nil || r.Stream != e.Stream || r.Model == "" || r.Store != protocol.StoreFalse || len(r.Hosted) > 0 {
			t.Errorf("%s: %+v, %v", e.Name, r, bad)
		}
		up, err := chat.Upstream(e.Request, protocol.Rewrite{Model: r.Model, AskUsage: true})
		if err != nil || string(up) != string(e.Request) {
			t.Errorf("%s: a request that names its model and asks for usage was changed: %v", e.Name, err)
		}
	}
}

// What an answer sealed, the next request of the conversation names.
func TestRecordedSealsAreFoundAgain(t *testing.T) {
	found := 0
	known := map[string]bool{}
	all := recorded.Load(t, chat.Name)
	for _, e := range all {
		seen := &protocol.Observed{}
		if e.Stream {
			r := chat.NewReader(protocol.ReaderOptions{})
			recorded.Run(strings.NewReader(e.Body), r)
			seen = r.Seen()
		} else {
			seen, _ = chat.Answer([]byte(e.Body))
		}
		for _, s := range seen.State {
			known[s.ID] = true
		}
	}
	for _, e := range all {
		r, _ := chat.ParseRequest(e.Request)
		for _, ref := range r.Refs {
			if ref.Kind == protocol.KindSealed {
				found++
				if !known[ref.ID] {
					t.Errorf("%s: %s is sealed by no recorded answer", e.Name, ref.Param)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no recorded request names a sealed item")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(stream(role, hello, stop, usage, finish)), true)
	f.Add([]byte(stream(": x", delta(`{"reasoning_details":[{"data":"x"}],"audio":{"id":"a"}}`), `{"error":[{"code":1}]}`)), false)
	f.Add([]byte(stream(`{"choices":[{"index":1,"delta":"x","usage":{"prompt_tokens":1e99}}],"x_groq":{"usage":null}}`, `{"choices":{}}`)), false)
	f.Fuzz(func(t *testing.T, body []byte, strip bool) {
		r := chat.NewReader(protocol.ReaderOptions{StripUsage: strip, Choices: 1})
		whole := recorded.Run(strings.NewReader(string(body)), r)
		pieces := chat.NewReader(protocol.ReaderOptions{StripUsage: strip, Choices: 1})
		p := recorded.Run(recorded.Chunks(string(body), 3), pieces)
		if d := cmp.Diff(whole.Events, p.Events); d != "" || whole.Err != p.Err {
			t.Fatalf("chunking changes the events: %s", d)
		}
		if d := cmp.Diff(r.Seen(), pieces.Seen()); d != "" {
			t.Fatalf("chunking changes what is seen: %s", d)
		}
		for i, ev := range whole.Events {
			if ev.Data != nil && !ev.Hidden && !json.Valid(ev.Data) && ev.Class != protocol.Terminal {
				t.Fatalf("no JSON was let through: %q", ev.Data)
			}
			if (ev.Class == protocol.Terminal || ev.Class == protocol.Failure) != (whole.Stages[i] == protocol.Closed) {
				t.Fatalf("%s event at stage %d", ev.Class, whole.Stages[i])
			}
		}
		if r.Seen().TextBytes > int64(3*len(body)) || r.Seen().TextBytes < 0 {
			t.Fatalf("%d text bytes in %d", r.Seen().TextBytes, len(body))
		}
	})
}

package responses

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"rubicon/internal/money/price"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/recorded"
)

// reported is a response as the independent reading sees it.
type reported struct {
	ID, Model, Status string
	Output            []struct {
		ID               string
		EncryptedContent string `json:"encrypted_content"`
	}
	Usage struct {
		InputTokens  int64 `json:"input_tokens"`
		OutputTokens int64 `json:"output_tokens"`
		Details      struct {
			CachedTokens int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
	}
}

func (r *reported) usage() price.Usage {
	cached := r.Usage.Details.CachedTokens
	return price.Usage{Input: r.Usage.InputTokens - cached, CachedInput: cached, Output: r.Usage.OutputTokens}
}

func TestTranscripts(t *testing.T) {
	streams, answers := 0, 0
	for _, tr := range recorded.Load(t, "responses") {
		t.Run(tr.Name, func(t *testing.T) {
			if _, bad := ParseRequest(tr.Request); bad != nil {
				t.Errorf("request refused: %v", bad)
			}
			if !tr.Stream {
				answers++
				var want reported
				if err := json.Unmarshal([]byte(tr.Body), &want); err != nil {
					t.Fatal(err)
				}
				seen, err := Answer([]byte(tr.Body))
				if err != nil {
					t.Fatal(err)
				}
				agree(t, seen, &want)
				return
			}
			streams++
			recordedStream(t, []byte(tr.Normal()))
		})
	}
	if streams == 0 || answers == 0 {
		t.Errorf("%d streams and %d answers", streams, answers)
	}
}

func recordedStream(t *testing.T, body []byte) {
	got := read(bytes.NewReader(body))
	if got.Err != nil || got.Stage != protocol.Closed {
		t.Fatalf("stage %d, %v", got.Stage, got.Err)
	}
	if got.Raw != string(body) {
		t.Error("the bytes for the client are not those that came")
	}
	last, endings, text := independently(t, body)
	if endings != 1 || strings.Count(strings.Join(got.Events, "\n"), "terminal") != 1 || !strings.HasPrefix(got.Events[len(got.Events)-1], "terminal") {
		t.Errorf("%d endings, events %q", endings, got.Events)
	}
	agree(t, &got.Seen, last)
	if got.Seen.TextBytes != text {
		t.Errorf("%d bytes of text, want %d", got.Seen.TextBytes, text)
	}
	cutIndependent(t, body, got)
	cutShort(t, body)
}

// independently reads a stream with encoding/json and string functions alone.
func independently(t *testing.T, body []byte) (last *reported, endings int, text int64) {
	for line := range strings.Lines(string(body)) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var ev struct {
			Type     string
			Delta    string
			Response reported
		}
		if err := json.Unmarshal([]byte(data), &ev); err != nil {
			t.Fatal(err)
		}
		text += int64(len(ev.Delta))
		switch ev.Type {
		case "response.completed", "response.incomplete", "response.failed", "error":
			endings++
			last = &ev.Response
		}
	}
	if last == nil {
		t.Fatal("no ending")
	}
	return last, endings, text
}

func agree(t *testing.T, seen *protocol.Observed, want *reported) {
	t.Helper()
	u := want.usage()
	if !seen.Reported || seen.Usage.Input != u.Input || seen.Usage.CachedInput != u.CachedInput || seen.Usage.CacheWrite != 0 || seen.Usage.Output != u.Output {
		t.Errorf("usage %+v, want %+v", seen.Usage, u)
	}
	if seen.ResponseID != want.ID || seen.Model != want.Model || seen.Incomplete != (want.Status == "incomplete") || seen.Failure != nil {
		t.Errorf("%+v, want %+v", seen, want)
	}
	have := make(map[protocol.StateID]bool)
	for _, id := range seen.State {
		have[id] = true
	}
	for _, item := range want.Output {
		if !have[protocol.StateID{Kind: protocol.KindItem, ID: item.ID}] {
			t.Errorf("item %s is not remembered", item.ID)
		}
		if e := item.EncryptedContent; e != "" && !have[protocol.StateID{Kind: protocol.KindSealed, ID: protocol.Seal(e)}] {
			t.Errorf("the seal of item %s is not remembered", item.ID)
		}
	}
}

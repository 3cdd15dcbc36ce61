package scenario

import (
	"encoding/json"
	"strings"
)

// What a client makes of an answer, on whichever surface: its text, its error.
// It is read as official clients read it, leniently; the recording has the bytes.

// parsedEvent is one event or whole answer, as far as clients look into it.
type parsedEvent struct {
	Type    string
	Status  any // a number in error frames, a word in responses
	Delta   any // a string on Responses, an object on Messages
	Error   json.RawMessage
	Code    any
	Message any
	Output  []struct {
		Content []struct{ Text string }
	}
	Content  json.RawMessage // Messages
	Response *struct {
		Status string
		Error  json.RawMessage
	}
	Choices []struct {
		Delta, Message struct{ Content string }
	}
}

func parseEvent(data []byte) (t parsedEvent) {
	_ = json.Unmarshal(data, &t)
	return t
}

// text is the answer's text as it arrived.
func (x *exchange) text() string {
	var b strings.Builder
	for i := range x.events {
		t := parseEvent([]byte(x.events[i].data))
		switch {
		case t.Type == "response.output_text.delta":
			s, _ := t.Delta.(string)
			b.WriteString(s)
		case t.Type == "content_block_delta":
			d, _ := t.Delta.(map[string]any)
			s, _ := d["text"].(string)
			b.WriteString(s)
		}
		for _, c := range t.Choices {
			b.WriteString(c.Delta.Content)
		}
	}
	t := parseEvent(x.whole)
	for _, item := range t.Output {
		for _, part := range item.Content {
			b.WriteString(part.Text)
		}
	}
	var blocks []struct{ Text string }
	_ = json.Unmarshal(t.Content, &blocks)
	for _, block := range blocks {
		b.WriteString(block.Text)
	}
	for _, c := range t.Choices {
		b.WriteString(c.Message.Content)
	}
	return b.String()
}

// errorShown is the error object that the client reads: of an error body or
// event, else of the failed response, which has fewer members.
func (x *exchange) errorShown() json.RawMessage {
	bodies := [][]byte{x.whole}
	for i := range x.events {
		bodies = append(bodies, []byte(x.events[i].data))
	}
	var found, failed json.RawMessage
	for _, body := range bodies {
		t := parseEvent(body)
		switch {
		case isObject(t.Error):
			found = t.Error
		case t.Type == "error":
			found = body // flat
		case t.Response != nil && isObject(t.Response.Error):
			failed = t.Response.Error
		}
	}
	if found == nil {
		return failed
	}
	return found
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// shownStatus is the status that the client learns: of the status line, over
// WebSocket the error frame's.
func (x *exchange) shownStatus() int {
	if x.req.Surface != surfaceSocket || x.status != 0 && x.status != 101 {
		return x.status
	}
	for i := range x.events {
		if n, ok := parseEvent([]byte(x.events[i].data)).Status.(float64); ok {
			return int(n)
		}
	}
	return 200
}

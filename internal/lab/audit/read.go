package audit

import (
	"encoding/json"
	"strconv"
	"strings"
)

// eventReader understands a surface's events as a lenient client does: what it
// does not know it passes over.
type eventReader func(s *clientView, name string, data []byte)

var eventReaders = map[Surface]eventReader{Chat: readChat, Responses: readResponses, Socket: readResponses, Messages: readMessages}

// failureBody is an error in any of the three protocols, nested or flat.
type failureBody struct {
	Type    string
	Status  int
	Code    any
	Message string
	After   *bool `json:"after_output"`
	Error   json.RawMessage
}

// failure reads an error object: what stands in "error", or the object itself.
func failure(data []byte) failureSeen {
	var outer, inner failureBody
	if json.Unmarshal(data, &outer) != nil {
		return failureSeen{}
	}
	f := failureSeen{status: outer.Status}
	if string(outer.Error) == "null" {
		outer.Error = nil
	}
	if len(outer.Error) == 0 || json.Unmarshal(outer.Error, &inner) != nil {
		inner = outer
		inner.Type = strings.TrimPrefix(inner.Type, "error")
	}
	f.code, f.kind, f.message, f.jsonBody = text(inner.Code), inner.Type, inner.Message, true
	f.afterOutput = inner.After
	if len(outer.Error) > 0 && inner.Message == "" {
		_ = json.Unmarshal(outer.Error, &f.message) // an error that is a string
	}
	return f
}

// text is a code, which some write as a number.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

type chatChunk struct {
	ID      string
	Error   json.RawMessage
	Choices []struct {
		Delta, Message struct {
			Content   *string
			Refusal   *string
			ToolCalls []struct {
				Index    *int
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		FinishReason string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	}
}

func readChat(s *clientView, _ string, data []byte) {
	if string(data) == "[DONE]" {
		s.done++
		return
	}
	var c chatChunk
	if json.Unmarshal(data, &c) != nil {
		s.unread++
		return
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		s.failures = append(s.failures, failure(data))
		return
	}
	if c.Usage != nil {
		s.usage = &usageSeen{c.Usage.Prompt, c.Usage.Completion}
	}
	for _, choice := range c.Choices {
		for _, m := range [...]*string{choice.Delta.Content, choice.Message.Content} {
			if m != nil {
				s.text.WriteString(*m)
			}
		}
		for i, t := range append(choice.Delta.ToolCalls, choice.Message.ToolCalls...) {
			index := i
			if t.Index != nil {
				index = *t.Index
			}
			s.toolCall(strconv.Itoa(index), t.ID, t.Function.Name, t.Function.Arguments)
		}
		switch choice.FinishReason {
		case "":
		case "error":
			s.failures = append(s.failures, failureSeen{code: "finish_reason error", jsonBody: true})
		default:
			s.finish = choice.FinishReason
		}
	}
}

// toolCall takes in a piece of a call. A new id under a known index is another
// call.
func (s *clientView) toolCall(index, id, name, args string) {
	for i := len(s.tools) - 1; i >= 0; i-- {
		t := &s.tools[i]
		known, _, _ := strings.Cut(t.key, " ")
		if known != index {
			continue
		}
		if id == "" || t.key == index+" "+id {
			t.args += args
			return
		}
		break
	}
	s.tools = append(s.tools, toolSeen{key: index + " " + id, name: name, args: args})
}

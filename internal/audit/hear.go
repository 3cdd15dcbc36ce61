package audit

import (
	"encoding/json"
	"strconv"
	"strings"
)

// listener understands a surface's events as a lenient client does: what it
// does not know it passes over.
type listener func(s *seen, name string, data []byte)

var listeners = map[Surface]listener{Chat: hearChat, Responses: hearResponses, Socket: hearResponses, Messages: hearMessages}

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

func hearChat(s *seen, _ string, data []byte) {
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
func (s *seen) toolCall(index, id, name, args string) {
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

type responsesEvent struct {
	Type     string
	Delta    json.RawMessage
	ItemID   string `json:"item_id"`
	Item     struct{ Type, ID, Name string }
	Response *responseObject
}

type responseObject struct {
	ID     string
	Status string
	Error  json.RawMessage
	Output []struct {
		Type, Name, Arguments string
		ID                    string
		Content               []struct{ Text string }
	}
	Usage *struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	}
}

func hearResponses(s *seen, name string, data []byte) {
	if string(data) == "[DONE]" {
		return // some gateways add it; clients of this API pass over it
	}
	var e responsesEvent
	if json.Unmarshal(data, &e) != nil {
		s.unread++
		return
	}
	if e.Type == "" {
		e.Type = name
	}
	if e.Response != nil {
		s.noteID(e.Response.ID)
		if u := e.Response.Usage; u != nil {
			s.usage = &usageSeen{u.Input, u.Output}
		}
	}
	var delta string
	_ = json.Unmarshal(e.Delta, &delta) // other events have other deltas
	switch e.Type {
	case "response.created":
		s.openings++
	case "response.output_text.delta":
		s.text.WriteString(delta)
	case "response.output_item.added":
		if e.Item.Type == "function_call" {
			s.tools = append(s.tools, toolSeen{key: e.Item.ID, name: e.Item.Name})
		}
	case "response.function_call_arguments.delta":
		if n := len(s.tools); n > 0 {
			s.tools[n-1].args += delta
		}
	case "response.completed", "response.incomplete":
		s.done++
	case "response.failed":
		s.failedResponse(e.Response)
	case "error":
		s.failures = append(s.failures, failure(data))
	}
}

// failedResponse takes in response.failed; with an error event before it the
// two are one ending.
func (s *seen) failedResponse(r *responseObject) {
	f := failureSeen{jsonBody: true}
	if r != nil {
		f = failure(r.Error)
	}
	if len(s.failures) > 0 && s.failures[len(s.failures)-1].kind != failedKind {
		s.failures = s.failures[:len(s.failures)-1]
	}
	f.kind = failedKind
	s.failures = append(s.failures, f)
}

const failedKind = "response.failed"

type messagesEvent struct {
	Type    string
	Message struct {
		ID    string
		Usage messagesUsage
	}
	Index int
	Block struct {
		Type, ID, Name string
	} `json:"content_block"`
	Delta struct {
		Text       string
		Partial    string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
	}
	Usage messagesUsage
}

type messagesUsage struct {
	Input  *int64 `json:"input_tokens"`
	Output *int64 `json:"output_tokens"`
}

func hearMessages(s *seen, name string, data []byte) {
	var e messagesEvent
	if json.Unmarshal(data, &e) != nil {
		s.unread++
		return
	}
	if e.Type == "" {
		e.Type = name
	}
	s.takeUsage(e.Message.Usage)
	s.takeUsage(e.Usage)
	switch e.Type {
	case "message_start":
		s.openings++
		s.noteID(e.Message.ID)
	case "content_block_start":
		if e.Block.Type == "tool_use" {
			s.tools = append(s.tools, toolSeen{key: strconv.Itoa(e.Index) + " " + e.Block.ID, name: e.Block.Name})
		}
	case "content_block_delta":
		s.text.WriteString(e.Delta.Text)
		if n := len(s.tools); n > 0 {
			s.tools[n-1].args += e.Delta.Partial
		}
	case "message_delta":
		if e.Delta.StopReason != "" {
			s.finish = e.Delta.StopReason
		}
	case "message_stop":
		s.done++
	case "error":
		s.failures = append(s.failures, failure(data))
	}
}

// takeUsage takes in what Messages reports: the last value of each field wins.
func (s *seen) takeUsage(u messagesUsage) {
	if u.Input == nil && u.Output == nil {
		return
	}
	if s.usage == nil {
		s.usage = &usageSeen{}
	}
	if u.Input != nil {
		s.usage.input = *u.Input
	}
	if u.Output != nil {
		s.usage.output = *u.Output
	}
}

package audit

import (
	"encoding/json"
	"net/http"
	"strings"
)

// readWhole takes in an answer that is no stream.
func (s *clientView) readWhole(surface Surface, body []byte) {
	switch {
	case s.status != http.StatusOK:
		f := failure(body)
		f.jsonBody = f.jsonBody && strings.Contains(s.header.Get("Content-Type"), "json")
		s.failures = append(s.failures, f)
		return
	case !json.Valid(body):
		s.unread++
		return
	}
	s.events++
	switch surface {
	case Chat:
		readChat(s, "", body)
	case Messages:
		s.wholeMessage(body)
	default:
		s.wholeResponse(body)
	}
	if s.finish != "" && len(s.failures) == 0 {
		s.done++
	}
}

func (s *clientView) wholeMessage(body []byte) {
	var m struct {
		ID, Type string
		Content  []struct {
			Type, Text, ID, Name string
			Input                json.RawMessage
		}
		StopReason string `json:"stop_reason"`
		Usage      messagesUsage
	}
	_ = json.Unmarshal(body, &m) // it is valid; other shapes have no content
	if m.Type == "error" {
		s.failures = append(s.failures, failure(body))
		return
	}
	s.noteID(m.ID)
	s.takeUsage(m.Usage)
	for _, c := range m.Content {
		s.text.WriteString(c.Text)
		if c.Type == "tool_use" {
			s.tools = append(s.tools, toolSeen{key: c.ID, name: c.Name, args: string(c.Input)})
		}
	}
	s.finish = m.StopReason
}

func (s *clientView) wholeResponse(body []byte) {
	var r responseObject
	_ = json.Unmarshal(body, &r) // it is valid; other shapes have no output
	if len(r.Error) > 0 && string(r.Error) != "null" {
		s.failures = append(s.failures, failure(body))
		return
	}
	s.noteID(r.ID)
	if r.Usage != nil {
		s.usage = &usageSeen{r.Usage.Input, r.Usage.Output}
	}
	for _, item := range r.Output {
		for _, c := range item.Content {
			s.text.WriteString(c.Text)
		}
		if item.Type == "function_call" {
			s.tools = append(s.tools, toolSeen{key: item.ID, name: item.Name, args: item.Arguments})
		}
	}
	s.finish = r.Status
}

package audit

import "encoding/json"

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

func readResponses(s *clientView, name string, data []byte) {
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
func (s *clientView) failedResponse(r *responseObject) {
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

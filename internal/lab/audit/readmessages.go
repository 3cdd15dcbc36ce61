package audit

import (
	"encoding/json"
	"strconv"
)

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

func readMessages(s *clientView, name string, data []byte) {
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
func (s *clientView) takeUsage(u messagesUsage) {
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

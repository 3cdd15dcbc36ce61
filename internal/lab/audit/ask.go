package audit

import (
	"encoding/json"
	"net/http"
)

// paths of the client API.
var paths = map[Surface]string{
	Chat: "/v1/chat/completions", Responses: "/v1/responses", Socket: "/v1/responses", Messages: "/v1/messages",
}

// maxTokens is the maximum that every request names.
const maxTokens = 256

// fields are a JSON object.
type fields map[string]any

// body is what the client sends.
func (a clientRequest) body(s Surface, model, mark, previous string) ([]byte, error) {
	prompt := "Say all words in order. " + markBegin + mark + markEnd
	turn := []fields{{"role": "user", "content": prompt}}
	b := fields{"model": model}
	switch s {
	case Chat:
		b["messages"], b["max_tokens"] = turn, maxTokens
		if !a.whole {
			b["stream_options"] = fields{"include_usage": true}
		}
		if a.stored {
			b["store"] = true
		}
	case Messages:
		b["messages"], b["max_tokens"] = turn, maxTokens
	default:
		b["input"], b["max_output_tokens"], b["store"] = prompt, maxTokens, a.stored
		if previous != "" {
			b["previous_response_id"] = previous
		}
	}
	switch {
	case s == Socket:
		b["type"] = "response.create"
	case !a.whole:
		b["stream"] = true
	}
	if tools := a.tools(s); tools != nil {
		b["tools"] = tools
	}
	return json.Marshal(b)
}

// toolName is the function that is offered, toolArgs what it is called with.
const (
	toolName = "get_weather"
	toolArgs = `{"city":"Paris"}`
)

func (a clientRequest) tools(s Surface) []fields {
	about := "The weather in a city"
	schema := fields{"type": "object", "properties": fields{"city": fields{"type": "string"}}, "required": []string{"city"}}
	switch {
	case a.hosted && s == Messages:
		return []fields{{"type": "web_search_20250305", "name": "web_search"}}
	case a.hosted:
		return []fields{{"type": "mcp", "server_label": "audit", "server_url": "https://mcp.example/sse", "require_approval": "never"}}
	case !a.tool:
		return nil
	case s == Chat:
		return []fields{{"type": "function", "function": fields{"name": toolName, "description": about, "parameters": schema}}}
	case s == Messages:
		return []fields{{"name": toolName, "description": about, "input_schema": schema}}
	}
	return []fields{{"type": "function", "name": toolName, "description": about, "parameters": schema, "strict": false}}
}

// header is what the client sends beside the body.
func (o Options) header() http.Header {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "rubicon-audit")
	if o.Key != "" {
		h.Set("Authorization", "Bearer "+o.Key)
	}
	if o.Surface == Messages {
		h.Set("Anthropic-Version", "2023-06-01")
		if o.Key != "" {
			h.Set("X-Api-Key", o.Key)
		}
	}
	for k, v := range o.Header {
		h[k] = v
	}
	return h
}

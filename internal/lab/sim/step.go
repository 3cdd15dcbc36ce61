package sim

import (
	"encoding/json"
	"time"
)

// Script says what one model does: the steps of its first call, of its second, and so on. The last list repeats.
type Script struct {
	Calls [][]Step
}

// Calls makes a Script of lists of steps, one a call.
func Calls(calls ...[]Step) Script { return Script{Calls: calls} }

// Play makes a Script that does the same at every call.
func Play(steps ...Step) Script { return Script{Calls: [][]Step{steps}} }

// Step is one thing that a script does. Do names it; which of the other fields it may carry is in the table of
// words (docs/sim.md), and Check says when there is one too many.
type Step struct {
	// Do is the word, e.g. "created", "text", "reset", "reply".
	Do string `json:"do"`

	// Reply: the head of the answer, and its whole body when one is given.
	Status     int               `json:"status,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	Type       string            `json:"type,omitempty"`        // content type
	RetryAfter string            `json:"retry_after,omitempty"` // seconds or an HTTP date, as written
	JSON       json.RawMessage   `json:"json,omitempty"`        // body; $KEY, $HOST and $MODEL are replaced
	Body       *string           `json:"body,omitempty"`        // body, any text; the same replacements

	// Wire: time and bytes.
	For   time.Duration `json:"for,omitempty"`   // wait, pause: how long; split, answer: the gap between pieces
	At    int           `json:"at,omitempty"`    // pause, cut: after so many bytes of the body
	Bytes int           `json:"bytes,omitempty"` // split: piece size; huge: size of the event
	How   string        `json:"how,omitempty"`   // cut: reset, fin, hang or end

	// Events.
	Text      string          `json:"text,omitempty"`       // delta, comment, raw bytes
	Name      string          `json:"name,omitempty"`       // tool name; event: the event's name
	Args      string          `json:"args,omitempty"`       // tool arguments as a JSON text
	ID        string          `json:"id,omitempty"`         // of the response, item or call; made up when empty
	Kind      string          `json:"kind,omitempty"`       // item: message, reasoning, function_call, web_search_call …
	Code      string          `json:"code,omitempty"`       // failure code (Messages: type)
	Message   string          `json:"message,omitempty"`    // failure message; made up when empty
	ErrorType string          `json:"error_type,omitempty"` // failure type where it differs from what the code implies
	Retryable *bool           `json:"retryable,omitempty"`  // adds the field to the failure
	Flat      bool            `json:"flat,omitempty"`       // error: flat fields only (Responses)
	Usage     *Usage          `json:"usage,omitempty"`
	Output    json.RawMessage `json:"output,omitempty"` // replaces the output that the events before imply
	Model     string          `json:"model,omitempty"`  // model that answers; default the requested one
	Finish    string          `json:"finish,omitempty"` // finish_reason, stop_reason or reason of incompleteness
	Choice    int             `json:"choice,omitempty"` // Chat: index of the choice
	Index     *int            `json:"index,omitempty"`  // output_index or block index instead of the counted one
	Seq       *int            `json:"seq,omitempty"`    // sequence_number instead of the counted one
	Force     bool            `json:"force,omitempty"`  // usage: send the chunk although nobody asked
	Data      *string         `json:"data,omitempty"`   // event: data as text
	Set       json.RawMessage `json:"set,omitempty"`    // object merged into the event's (deeply; null stays null)

	// Answer.
	Reasoning string     `json:"reasoning,omitempty"`
	Refusal   string     `json:"refusal,omitempty"`
	Tools     []ToolCall `json:"tools,omitempty"`
	Pieces    int        `json:"pieces,omitempty"`   // into how many deltas the text is cut; default 2
	Events    int        `json:"events,omitempty"`   // play only so many events and no ending
	UsageOn   string     `json:"usage_on,omitempty"` // Chat: extra (default), finish, every, none
	Tier      string     `json:"tier,omitempty"`     // service tier that the answer reports
}

// ToolCall is one call in an answer. Kind is function_call when empty; hosted calls (web_search_call, mcp_call,
// code_interpreter_call, image_generation_call; Messages: server_tool_use) name theirs.
type ToolCall struct {
	Name   string `json:"name,omitempty"`
	Args   string `json:"args,omitempty"`
	ID     string `json:"id,omitempty"`
	Kind   string `json:"kind,omitempty"`
	Result string `json:"result,omitempty"`
}

// Usage is counted as the OpenAI APIs do: Input is the provider's total, cached and cache-written tokens included;
// on Messages the three are written apart. Raw, when set, is the usage object verbatim.
type Usage struct {
	Input      int64           `json:"input,omitempty"`
	Cached     int64           `json:"cached,omitempty"`
	CacheWrite int64           `json:"cache_write,omitempty"`
	Output     int64           `json:"output,omitempty"`
	Reasoning  int64           `json:"reasoning,omitempty"`
	Raw        json.RawMessage `json:"raw,omitempty"`
}

// Tokens is Usage in the short order of the scripts: input (all of it), cached part of it, output.
func Tokens(input, cached, output int64) *Usage {
	return &Usage{Input: input, Cached: cached, Output: output}
}

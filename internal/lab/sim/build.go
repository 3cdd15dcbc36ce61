package sim

import (
	"encoding/json"
	"time"
)

// Constructors, for the words that Go code has use for. Steps are plain values: a returned Step may be changed further, e.g. s.Seq = &n.
// Words that a protocol has no counterpart for write nothing there (see the table in docs/sim.md).

// Opening and lifecycle events.

// Created is response.created, Chat's role chunk, message_start.
func Created() Step    { return Step{Do: "created"} }
func Queued() Step     { return Step{Do: "queued"} }
func InProgress() Step { return Step{Do: "in_progress"} }

// Items, parts and deltas.

// Item is response.output_item.added or content_block_start of the given kind: message (text), reasoning
// (thinking), function_call (tool_use), web_search_call, mcp_call, code_interpreter_call, …
func Item(kind string) Step { return Step{Do: "item", Kind: kind} }

// Part is response.content_part.added.
func Part() Step { return Step{Do: "part"} }

// Text is response.output_text.delta, a content chunk, text_delta.
func Text(s string) Step { return Step{Do: "text", Text: s} }

// Reasoning is response.reasoning_summary_text.delta, a reasoning_content chunk, thinking_delta.
func Reasoning(s string) Step { return Step{Do: "reasoning", Text: s} }

// Signature is signature_delta (Messages only).
func Signature(s string) Step { return Step{Do: "signature", Text: s} }

// Tool opens a function call: output_item.added, the first tool_calls chunk, content_block_start of tool_use.
func Tool(name string) Step { return Step{Do: "tool", Name: name} }

// Args is a piece of the open call's arguments.
func Args(s string) Step { return Step{Do: "args", Args: s} }

// The done events of what is open: text_done, args_done, reasoning_done, part_done, item_done (content_block_stop).
func TextDone() Step      { return Step{Do: "text_done"} }
func ArgsDone() Step      { return Step{Do: "args_done"} }
func ReasoningDone() Step { return Step{Do: "reasoning_done"} }
func PartDone() Step      { return Step{Do: "part_done"} }
func ItemDone() Step      { return Step{Do: "item_done"} }

// Endings in the protocol.

// Finish is the finish chunk or message_delta; on Responses nothing.
func Finish(reason string) Step { return Step{Do: "finish", Finish: reason} }

// UsageChunk is Chat's extra chunk, sent when the request asked for it (or Force is set).
func UsageChunk(u *Usage) Step { return Step{Do: "usage", Usage: u} }

// Completed ends the answer well: response.completed; finish, usage and [DONE]; message_delta and message_stop.
func Completed(u *Usage) Step { return Step{Do: "completed", Usage: u} }

// Failed is response.failed, Chat's error chunk, Messages' error event.
func Failed(code string) Step { return Step{Do: "failed", Code: code} }

// Error is the error event, nested (set Flat for the flat form); on Chat and Messages the same as Failed.
func Error(code string) Step { return Step{Do: "error", Code: code} }

// Heartbeats and bytes.

// Keepalive is a typed heartbeat: keepalive on Responses, a comment on Chat, ping on Messages.
func Keepalive() Step { return Step{Do: "keepalive"} }

// Ping is an event of type ping (Chat: a comment).
func Ping() Step { return Step{Do: "ping"} }

// Comment is an SSE comment.
func Comment(s string) Step { return Step{Do: "comment", Text: s} }

// Event is any event: its name (empty: none) and its data, which may have several lines.
func Event(name, data string) Step { return Step{Do: "event", Name: name, Data: &data} }

// Huge is a text delta whose event is exactly n bytes long.
func Huge(n int) Step { return Step{Do: "huge", Bytes: n} }

// Raw writes s as it is into the body.
func Raw(s string) Step { return Step{Do: "raw", Text: s} }

// Answer is a whole consistent answer in the request's protocol, streamed or not as the request asks.
func Answer(text string, u *Usage) Step { return Step{Do: "answer", Text: text, Usage: u} }

// Replies.

// Reply is a head only; the body is what the following steps write (nothing: an empty body).
func Reply(status int) Step { return Step{Do: "reply", Status: status} }

// ReplyJSON is a whole JSON answer. v is marshalled unless it is a json.RawMessage; failing to marshal is a
// mistake in the test and panics.
func ReplyJSON(status int, v any) Step {
	raw, ok := v.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(v); err != nil {
			panic("sim: ReplyJSON: " + err.Error())
		}
	}
	return Step{Do: "reply", Status: status, JSON: raw}
}

// ReplyBody is a whole answer of any content type.
func ReplyBody(status int, contentType, body string) Step {
	return Step{Do: "reply", Status: status, Type: contentType, Body: &body}
}

// ReplyError is a JSON error answer in the protocol's own shape.
func ReplyError(status int, code string) Step { return Step{Do: "fail", Status: status, Code: code} }

// HTML is an HTML page with the given status, as a proxy on the way sends it.
func HTML(status int) Step { return Step{Do: "html", Status: status} }

// Time and bytes.

// Wait does nothing for d.
func Wait(d time.Duration) Step { return Step{Do: "wait", For: d} }

// PauseAt stops for d once at bytes of the body were written.
func PauseAt(at int, d time.Duration) Step { return Step{Do: "pause", At: at, For: d} }

// CutAt ends the connection once at bytes of the body were written: reset, fin, hang.
func CutAt(at int, how string) Step { return Step{Do: "cut", At: at, How: how} }

// Drip writes what follows byte by byte with a gap after each.
func Drip(gap time.Duration) Step { return Step{Do: "split", Bytes: 1, For: gap} }

// Split writes what follows in pieces of n bytes, each its own chunk, with a gap between them.
func Split(n int, gap time.Duration) Step { return Step{Do: "split", Bytes: n, For: gap} }

// Modes, said before the head: gzip the body, CRLF line ends, no event names, Connection: close.
func Gzip() Step    { return Step{Do: "gzip"} }
func CRLF() Step    { return Step{Do: "crlf"} }
func Unnamed() Step { return Step{Do: "unnamed"} }
func Close() Step   { return Step{Do: "close"} }

// Endings of the connection.

// End is the clean end: the final chunk, the connection stays usable.
func End() Step { return Step{Do: "end"} }

// Reset ends with a TCP reset.
func Reset() Step { return Step{Do: "reset"} }

// FIN closes the connection without the final chunk.
func FIN() Step { return Step{Do: "fin"} }

// Hang is silent until the peer leaves.
func Hang() Step { return Step{Do: "hang"} }

// Refuse closes the connection before any byte of an answer.
func Refuse() Step { return Step{Do: "refuse"} }

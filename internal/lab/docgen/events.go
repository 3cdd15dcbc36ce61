package main

import (
	"strings"

	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/chat"
	"rubicon/internal/wire/protocol/messages"
	"rubicon/internal/wire/protocol/responses"
	"rubicon/internal/wire/sse"
)

// sample is one event that is shown: its words, and the record that the
// protocol's own reader classifies when the page is made.
type sample struct {
	what   string
	record string // an SSE record without its blank line
	after  string // a record that came before it
}

func eventsPage() string {
	return generated + `# What an event is

Each protocol's reader gives every event of a stream one of these classes. The tables are made by the readers themselves.

- **lifecycle**: held, until output, an ending, or ` + "`timers.event_hold`" + ` after the first of them. Nothing of it could be used by a client.
- **heartbeat**: keeps its place among held events; starts no clock, commits nothing, is no progress for a timer, and no event in the rules of [replay](replay.md).
- **output**: commits the request. Everything that is not known is output.
- **terminal**: the answer is complete. Its bytes are kept back until the outcome is durable.
- **failure**: upstream says that it failed; the decision comes before it is shown.
- **none**: read over, and shown to no client.
- **refused**: never forwarded; a read error with the code ` + "`upstream_error`" + `.

Progress for ` + "`timers.idle`" + ` is output that has something in it, and the first lifecycle event of each kind: whoever says for ever that it
works is cut like whoever says nothing. A last record counts without its blank line, however the body ends, if its data is whole.

## Responses

` + classesOf(responses.Protocol(), responsesSamples()) + `An ` + "`error`" + ` and a ` + "`response.failed`" + ` that follows within a second are one failure before output.

## Chat Completions

` + classesOf(chat.Protocol(), chatSamples()) + `Complete is an answer whose every choice has a ` + "`finish_reason`" + `; usage and ` + "`[DONE]`" + ` are then awaited for a second, and made good.

## Messages

` + classesOf(messages.Protocol(), messagesSamples())
}

func classesOf(p protocol.Protocol, samples []sample) string {
	var rows [][]string
	for _, s := range samples {
		rows = append(rows, []string{s.what, classOf(p, s)})
	}
	return table([]string{"event", "class"}, rows)
}

// classOf asks the protocol's reader.
func classOf(p protocol.Protocol, s sample) string {
	r := p.NewReader(protocol.ReaderOptions{Choices: 1})
	stream := s.record + "\n\n"
	if s.after != "" {
		stream = s.after + "\n\n" + stream
	}
	d := sse.NewDecoder(strings.NewReader(stream), 1<<20)
	defer d.Release()
	class := "refused"
	for {
		frame, err := d.Next()
		if err != nil {
			return class
		}
		ev, err := r.Read(frame)
		switch {
		case err != nil:
			class = "refused"
		case ev.Hidden:
			class = "none"
		default:
			class = ev.Class.String()
		}
	}
}

// typed is an event with its type, as Responses and Messages write it.
func typed(name, more string) sample {
	return sample{what: code(name), record: "event: " + name + "\ndata: {\"type\":\"" + name + "\"" + more + "}"}
}

func responsesSamples() []sample {
	return []sample{
		typed("response.created", ""), typed("response.queued", ""), typed("response.in_progress", ""), typed("response.metadata", ""),
		opening("output_item", "a reasoning item without summary, content and sealed content", `"item":{"type":"reasoning","summary":[]}`),
		opening("output_item", "a message without content", `"item":{"type":"message","role":"assistant","content":[]}`),
		opening("content_part", "an empty part", `"part":{"type":"output_text","text":"","annotations":[]}`),
		opening("reasoning_summary_part", "an empty part", `"part":{"type":"summary_text","text":""}`),
		typed("keepalive", ""), typed("ping", ""), {what: "a comment", record: ": waiting"}, {what: "JSON without a type", record: `data: {"x":1}`},
		typed("response.completed", `,"response":{}`), typed("response.incomplete", `,"response":{}`),
		typed("response.failed", `,"response":{"error":{"code":"server_error"}}`), typed("error", `,"code":"server_error"`),
		{what: "JSON without a type, with an `error`", record: `data: {"error":{"code":"server_error"}}`},
		opening("output_item", "a function call", `"item":{"type":"function_call","name":"f"}`),
		opening("output_item", "a reasoning item that is sealed already", `"item":{"type":"reasoning","summary":[],"encrypted_content":"x"}`),
		typed("response.output_text.delta", `,"delta":"Hi"`),
		typed("response.reasoning_summary_text.delta", `,"delta":"Hm"`), typed("response.web_search_call.in_progress", ""),
		typed("response.of_the_future", ""), {what: "what is no JSON", record: "data: oops"}, {what: "`id` or `retry` without data", record: "retry: 10"},
		{what: "data that is a comment", record: "data: : waiting"},
	}
}

// opening is the event that begins an item or a part.
func opening(of, what, member string) sample {
	s := typed("response."+of+".added", ","+member)
	s.what += " of " + what
	return s
}

func chatSamples() []sample {
	chunk := func(what, delta, finish string) sample {
		return sample{what: what, record: `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`}
	}
	text := chunk("`content`", `{"content":"Hi"}`, "null")
	finish := chunk("a `finish_reason` with an empty delta", "{}", `"stop"`)
	after := finish
	after.what, after.after = "the same after output", text.record
	done := sample{what: "`[DONE]` after a `finish_reason`", record: "data: [DONE]", after: finish.record}
	return []sample{
		chunk("a role, everything else empty", `{"role":"assistant","content":""}`, "null"),
		{what: "a chunk with empty `choices`", record: `data: {"object":"chat.completion.chunk","choices":[]}`},
		finish, after,
		{what: "a comment", record: ": PROCESSING"}, {what: "JSON that is no chunk", record: `data: {"x":1}`},
		text, chunk("`refusal`", `{"refusal":"No"}`, "null"), chunk("`reasoning_content`", `{"reasoning_content":"Hm"}`, "null"),
		chunk("`tool_calls`", `{"tool_calls":[{"index":0,"function":{"name":"f"}}]}`, "null"), chunk("a vendor's own field", `{"vendor":"x"}`, "null"),
		{what: "`error`", record: `data: {"error":{"message":"No","code":503}}`}, chunk("`finish_reason` \"error\"", "{}", `"error"`),
		done, {what: "`[DONE]` without one", record: "data: [DONE]"}, {what: "what is no JSON", record: "data: oops"},
		{what: "`id` or `retry` without data", record: "id: 7"}, {what: "data that is a comment", record: "data: : waiting"},
	}
}

func messagesSamples() []sample {
	block := func(what, content string) sample {
		s := typed("content_block_start", `,"index":0,"content_block":`+content)
		s.what = "`content_block_start` of " + what
		return s
	}
	return []sample{
		typed("message_start", `,"message":{"usage":{"input_tokens":1}}`), block("an empty text", `{"type":"text","text":""}`),
		block("an empty thinking", `{"type":"thinking","thinking":""}`), typed("vertex_event", ""),
		typed("ping", ""), {what: "a comment", record: ": waiting"}, {what: "JSON without a type", record: `data: {"x":1}`},
		block("a tool call", `{"type":"tool_use","id":"t","name":"f","input":{}}`), typed("content_block_delta", `,"delta":{"type":"text_delta","text":"Hi"}`),
		typed("content_block_stop", ""), typed("message_delta", `,"delta":{"stop_reason":"end_turn"}`), typed("of_the_future", ""),
		typed("message_stop", ""), typed("error", `,"error":{"type":"overloaded_error"}`), {what: "what is no JSON", record: "data: oops"},
		{what: "`id` or `retry` without data", record: "retry: 10"}, {what: "data that is a comment", record: "data: : waiting"},
	}
}

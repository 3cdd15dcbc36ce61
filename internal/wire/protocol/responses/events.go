package responses

import (
	"bytes"

	"rubicon/internal/wire/protocol"
)

// reads says what an event is read for, beyond its class.
type reads uint8

const (
	readsNothing reads = iota
	text               // "delta" is text, reasoning, a refusal or tool arguments
	done               // "item" is an output item in its final form
	openItem           // "item" is an output item that begins: lifecycle while it is empty
	openPart           // "part" is a part of one that begins: the same
)

// kind is one type of event. name is the one string that all its events share.
type kind struct {
	name  string
	class protocol.Class
	reads reads
}

const (
	typeError  = "error"
	typeFailed = "response.failed"
)

// kinds lists what is known of events (docs/contract.md#s2). Output events
// stand here only for what is read from them and so that their name is not made
// anew for each: what is missing is output all the same.
var kinds = [...]kind{
	{"response.created", protocol.Lifecycle, readsNothing},
	{"response.queued", protocol.Lifecycle, readsNothing},
	{"response.in_progress", protocol.Lifecycle, readsNothing},
	{"response.metadata", protocol.Lifecycle, readsNothing},

	{"keepalive", protocol.Heartbeat, readsNothing},
	{"ping", protocol.Heartbeat, readsNothing},

	{"response.completed", protocol.Terminal, readsNothing},
	{"response.incomplete", protocol.Terminal, readsNothing},

	{typeError, protocol.Failure, readsNothing},
	{typeFailed, protocol.Failure, readsNothing},

	{"response.output_text.delta", protocol.Output, text},
	{"response.refusal.delta", protocol.Output, text},
	{"response.reasoning_text.delta", protocol.Output, text},
	{"response.reasoning_summary_text.delta", protocol.Output, text},
	{"response.function_call_arguments.delta", protocol.Output, text},
	{"response.custom_tool_call_input.delta", protocol.Output, text},
	{"response.mcp_call_arguments.delta", protocol.Output, text},
	{"response.code_interpreter_call_code.delta", protocol.Output, text},
	{"response.shell_call_command.delta", protocol.Output, text},
	{"response.audio.transcript.delta", protocol.Output, text},
	{"response.audio.delta", protocol.Output, readsNothing},                     // base64
	{"response.output_audio.delta", protocol.Output, readsNothing},              // base64
	{"response.shell_call_output_content.delta", protocol.Output, readsNothing}, // what a tool said, not the model

	{"response.output_item.added", protocol.Output, openItem},
	{"response.output_item.done", protocol.Output, done},

	{"response.output_text.done", protocol.Output, readsNothing},
	{"response.output_text.annotation.added", protocol.Output, readsNothing},
	{"response.refusal.done", protocol.Output, readsNothing},
	{"response.reasoning_text.done", protocol.Output, readsNothing},
	{"response.reasoning_summary_text.done", protocol.Output, readsNothing},
	{"response.reasoning_summary_part.added", protocol.Output, openPart},
	{"response.reasoning_summary_part.done", protocol.Output, readsNothing},
	{"response.content_part.added", protocol.Output, openPart},
	{"response.content_part.done", protocol.Output, readsNothing},
	{"response.function_call_arguments.done", protocol.Output, readsNothing},
	{"response.custom_tool_call_input.done", protocol.Output, readsNothing},
	{"response.mcp_call_arguments.done", protocol.Output, readsNothing},
	{"response.code_interpreter_call_code.done", protocol.Output, readsNothing},
	{"response.audio.done", protocol.Output, readsNothing},
	{"response.audio.transcript.done", protocol.Output, readsNothing},
	{"response.web_search_call.in_progress", protocol.Output, readsNothing},
	{"response.web_search_call.searching", protocol.Output, readsNothing},
	{"response.web_search_call.completed", protocol.Output, readsNothing},
	{"response.file_search_call.in_progress", protocol.Output, readsNothing},
	{"response.file_search_call.searching", protocol.Output, readsNothing},
	{"response.file_search_call.completed", protocol.Output, readsNothing},
	{"response.code_interpreter_call.in_progress", protocol.Output, readsNothing},
	{"response.code_interpreter_call.interpreting", protocol.Output, readsNothing},
	{"response.code_interpreter_call.completed", protocol.Output, readsNothing},
	{"response.image_generation_call.in_progress", protocol.Output, readsNothing},
	{"response.image_generation_call.generating", protocol.Output, readsNothing},
	{"response.image_generation_call.partial_image", protocol.Output, readsNothing},
	{"response.image_generation_call.completed", protocol.Output, readsNothing},
	{"response.mcp_call.in_progress", protocol.Output, readsNothing},
	{"response.mcp_call.completed", protocol.Output, readsNothing},
	{"response.mcp_call.failed", protocol.Output, readsNothing},
	{"response.mcp_list_tools.in_progress", protocol.Output, readsNothing},
	{"response.mcp_list_tools.completed", protocol.Output, readsNothing},
	{"response.mcp_list_tools.failed", protocol.Output, readsNothing},
}

// byName finds a kind; it is never written to.
var byName = func() map[string]kind {
	m := make(map[string]kind, len(kinds))
	for _, k := range kinds {
		m[k.name] = k
	}
	return m
}()

// unknown makes the kind of a type that is not listed: output, and text where
// its name says that it is a piece of something.
func unknown(name []byte) kind {
	k := kind{name: string(name), class: protocol.Output}
	if bytes.HasSuffix(name, []byte(".delta")) {
		k.reads = text
	}
	return k
}

package chat

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// maxNesting is how deep lists of content parts are followed.
const maxNesting = 4

// sealedMembers are the members of an item that are sealed for the account that
// made it.
var sealedMembers = [...]string{"data", "signature", "encrypted_content", "thought_signature"}

// delta reads a delta, or the message of a whole answer. A role and empty
// fields are no output; anything else is, whoever invented it.
func (l *chunkFacts) delta(raw []byte) {
	if raw[0] != '{' {
		l.output = l.output || !jsonscan.Empty(raw)
		return
	}
	var reasoning int64 // the same text under several names
	m := jsonscan.Object(raw)
	for m.Next() {
		v := m.Value()
		if jsonscan.Empty(v) {
			continue
		}
		switch string(m.Key()) {
		case "role":
			if v[0] == '"' {
				continue
			}
		case "content", "refusal":
			l.text += textLen(v, maxNesting)
			l.content = l.content || holds(v, maxNesting)
		case "reasoning", "reasoning_content", "thinking":
			reasoning = max(reasoning, textLen(v, maxNesting))
		case "reasoning_details", "thinking_blocks":
			reasoning = max(reasoning, l.details(v))
		case "tool_calls":
			l.toolCalls(v)
			l.called = true
		case "function_call":
			l.text += argumentLen(v)
			l.called = true
		case "audio":
			l.audio(v)
			l.content = l.content || holds(v, maxNesting)
		case "images": // OpenRouter
			l.content = l.content || holds(v, maxNesting)
		case "extra_content":
			l.sealed(jsonscan.Get(v, "google"))
		case "provider_metadata":
			l.metadata(v)
		}
		l.output = true
	}
	l.text += reasoning
}

// labels are members of a part that say what it is, and are nothing of it.
var labels = [...]string{"type", "id", "index", "format", "detail", "mime_type", "media_type"}

// holds reports whether a value holds a byte of content: parts are told apart by
// labels, and what is in them is text, a link or data.
func holds(raw []byte, depth int) bool {
	switch {
	case raw[0] == '"':
		return len(raw) > 2
	case depth == 0:
		return !jsonscan.Empty(raw)
	}
	for el := jsonscan.Array(raw); el.Next(); {
		if holds(el.Value(), depth-1) {
			return true
		}
	}
	for m := jsonscan.Object(raw); m.Next(); {
		if !listed(labels[:], m.Key()) && holds(m.Value(), depth-1) {
			return true
		}
	}
	return false
}

// details reads a list of reasoning items: their text and their seals.
func (l *chunkFacts) details(raw []byte) int64 {
	var text int64
	el := jsonscan.Array(raw)
	for el.Next() {
		text += textLen(el.Value(), maxNesting)
		l.sealed(el.Value())
	}
	return text
}

// sealed remembers the sealed members of an item.
func (l *chunkFacts) sealed(item []byte) {
	eachSealed(item, func(_ string, field []byte) {
		text, _ := jsonscan.Text(field)
		l.seen.Remember(protocol.KindSealed, protocol.Seal(text))
	})
}

// eachSealed calls f for each sealed member of an item that holds something.
func eachSealed(item []byte, f func(member string, field []byte)) {
	m := jsonscan.Object(item)
	for m.Next() {
		v := m.Value()
		if v[0] != '"' || jsonscan.Empty(v) {
			continue
		}
		for _, name := range sealedMembers {
			if name == string(m.Key()) {
				f(name, v)
			}
		}
	}
}

func (l *chunkFacts) toolCalls(raw []byte) {
	el := jsonscan.Array(raw)
	for el.Next() {
		call := jsonscan.Object(el.Value())
		for call.Next() {
			switch string(call.Key()) {
			case "function", "custom":
				l.text += argumentLen(call.Value())
			case "extra_content": // Gemini's thought signature
				l.sealed(jsonscan.Get(call.Value(), "google"))
			}
		}
	}
}

// argumentLen is the length of a call's arguments (of a custom tool: input).
func argumentLen(call []byte) int64 {
	n := 0
	m := jsonscan.Object(call)
	for m.Next() {
		if k := m.Key(); string(k) == "arguments" || string(k) == "input" {
			n += jsonscan.TextLen(m.Value())
		}
	}
	return int64(n)
}

func (l *chunkFacts) audio(raw []byte) {
	m := jsonscan.Object(raw)
	for m.Next() {
		switch string(m.Key()) {
		case "id":
			if id, ok := jsonscan.Text(m.Value()); ok && id != "" {
				l.seen.Remember(protocol.KindAudio, id)
			}
		case "transcript":
			l.text += int64(jsonscan.TextLen(m.Value()))
		}
	}
}

// metadata reads what Vercel's gateway says about hosted calls of its own.
func (l *chunkFacts) metadata(raw []byte) {
	if n, ok := protocol.Count(jsonscan.Get(raw, "gateway", "billableWebSearchCalls")); ok {
		l.seen.Call(webSearch, n)
	}
}

// textLen is the length of the text in a string, or in a list of parts.
func textLen(raw []byte, depth int) int64 {
	switch {
	case raw[0] == '"':
		return int64(jsonscan.TextLen(raw))
	case depth == 0:
		return 0
	}
	var n int64
	switch raw[0] {
	case '[':
		el := jsonscan.Array(raw)
		for el.Next() {
			n += textLen(el.Value(), depth-1)
		}
	case '{':
		m := jsonscan.Object(raw)
		for m.Next() {
			switch string(m.Key()) {
			case "text", "thinking", "summary", "content", "refusal":
				n += textLen(m.Value(), depth-1)
			}
		}
	}
	return n
}

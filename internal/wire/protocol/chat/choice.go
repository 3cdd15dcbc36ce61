package chat

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// chunkFacts is what the choices of one chunk show.
type chunkFacts struct {
	seen    *protocol.Observed // where ids, sealed fields and hosted calls go
	output  bool
	content bool // something beside text that a customer pays for
	called  bool // a tool is called, be it without an argument so far
	finish  bool
	whole   bool // every choice holds a message or text, as in a whole answer
	failed  bool
	failure []byte // an error inside a choice
	usage   []byte
	text    int64
	first   [4]seenChoice // almost always one choice a chunk: no allocation
	more    []seenChoice
	n       int
}

// seenChoice is a choice that a chunk speaks of.
type seenChoice struct {
	slot  uint8
	ended bool
}

func (l *chunkFacts) shown() []seenChoice {
	if l.n <= len(l.first) {
		return l.first[:l.n]
	}
	return l.more
}

func (l *chunkFacts) show(s seenChoice) {
	if l.n < len(l.first) {
		l.first[l.n] = s
	} else {
		if l.n == len(l.first) {
			l.more = append(l.more, l.first[:]...)
		}
		l.more = append(l.more, s)
	}
	l.n++
}

// failingFinish are finish reasons that say that the answer failed.
var failingFinish = [...]string{"error"} // OpenRouter

// noFinish are values of finish_reason that say nothing, beside null.
var noFinish = [...]string{"", "null"} // new-api; DashScope

// choiceFacts are members of a choice that are about the answer and no part of
// it. Every other one that has something in it is output.
var choiceFacts = [...]string{
	"index", "finish_reason", "native_finish_reason", "usage",
	"content_filter_results", "content_filter_result", "content_filter_offsets", // Azure
	"stop_reason", "matched_stop", "seed", // vLLM, SGLang, Together
}

// choices reads all choices of a chunk; raw is nil if there are none.
func (l *chunkFacts) choices(raw []byte) {
	if raw == nil {
		return
	}
	if raw[0] != '[' {
		l.output = l.output || !jsonscan.Empty(raw)
		return
	}
	l.whole = true
	el := jsonscan.Array(raw)
	for el.Next() {
		if v := el.Value(); v[0] == '{' {
			l.choice(v)
			continue
		} else if !jsonscan.Empty(v) {
			l.output = true
		}
		l.whole = false
	}
}

func (l *chunkFacts) choice(raw []byte) {
	var index, finish, delta, message, text []byte
	m := jsonscan.Object(raw)
	for m.Next() {
		v := m.Value()
		switch key := m.Key(); string(key) {
		case "index":
			index = v
		case "finish_reason":
			finish = v
		case "delta":
			delta = v
		case "message":
			message = v
		case "text": // of the older completions
			text = v
			l.output = l.output || !jsonscan.Empty(v)
			l.text += textLen(v, 1)
		case "error":
			if !jsonscan.Empty(v) {
				l.failed, l.failure = true, v
			}
		case "usage":
			if v[0] != 'n' {
				l.usage = v
			}
		case "logprobs": // they spell the tokens out
			l.output = l.output || !isEmpty(v, maxNesting)
			l.content = l.content || holds(v, maxNesting)
		default:
			l.output = l.output || !jsonscan.Empty(v) && !listed(choiceFacts[:], key)
		}
	}
	l.parts(delta, message)
	l.whole = l.whole && (message != nil && message[0] == '{' || text != nil && text[0] == '"')
	l.show(seenChoice{slot: slotOf(index), ended: l.ends(finish)})
}

// parts reads the delta; a message that comes beside one repeats it.
func (l *chunkFacts) parts(delta, message []byte) {
	if delta != nil {
		l.delta(delta)
	}
	if message != nil {
		text := l.text
		l.delta(message)
		if delta != nil {
			l.text = text
		}
	}
}

// ends reads a finish_reason.
func (l *chunkFacts) ends(raw []byte) bool {
	if raw == nil || raw[0] != '"' {
		return false
	}
	for _, s := range noFinish {
		if jsonscan.Equal(raw, s) {
			return false
		}
	}
	l.finish = true
	for _, s := range failingFinish {
		l.failed = l.failed || jsonscan.Equal(raw, s)
	}
	return true
}

// isEmpty reports whether there is nothing in a value, nor in the values in it.
func isEmpty(raw []byte, depth int) bool {
	switch {
	case jsonscan.Empty(raw):
		return true
	case raw[0] != '{' || depth == 0:
		return false
	}
	m := jsonscan.Object(raw)
	for m.Next() {
		if !isEmpty(m.Value(), depth-1) {
			return false
		}
	}
	return true
}

func slotOf(raw []byte) uint8 {
	n, ok := jsonscan.Int(raw)
	if !ok {
		return 0
	}
	return uint8(min(max(n, 0), maxChoices-1))
}

func listed(names []string, key []byte) bool {
	for _, n := range names {
		if n == string(key) {
			return true
		}
	}
	return false
}

package chat

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// finishes are the finish reasons that are known. The later ones count where an
// answer gives several.
var finishes = [...]struct {
	word string
	is   translate.StopWord
	rank int
}{
	{"stop", translate.End, 1},
	{"eos", translate.End, 1}, // relays of older servers
	{"eos_token", translate.End, 1},
	{"end_turn", translate.End, 1}, // relays of Messages
	{"stop_sequence", translate.StopSeq, 2},
	{"tool_calls", translate.ToolUse, 3},
	{"function_call", translate.ToolUse, 3},
	{"tool_use", translate.ToolUse, 3},
	{"length", translate.Length, 4},
	{"max_tokens", translate.Length, 4},
	{"model_length", translate.ContextFull, 4}, // Mistral
	{"content_filter", translate.Filter, 6},
}

// oddRank is that of a reason that is not known: it never gives way to success.
const oddRank = 5

// stopState is what an answer has told of its end.
type stopState struct {
	said     bool
	is       translate.StopWord
	rank     int
	original string
	sequence string
}

// reason takes a finish_reason; null, "" and DashScope's "null" say nothing.
func (s *stopState) reason(raw []byte) {
	word, _ := jsonscan.Text(raw)
	if word == "" || word == "null" {
		return
	}
	s.said = true
	is, rank := translate.Odd, oddRank
	for _, f := range finishes {
		if f.word == word {
			is, rank = f.is, f.rank
		}
	}
	if rank > s.rank {
		s.is, s.rank, s.original = is, rank, word
	}
}

// matched takes the stop sequence that servers name in members of their own; a
// number there is a token's.
func (s *stopState) matched(v []byte) {
	if text, ok := jsonscan.Text(v); ok && text != "" {
		s.sequence = text
	}
}

// word is why the answer ended, by all that it holds.
func (s *stopState) word(calls, refused bool) translate.StopReason {
	r := translate.StopReason{Word: s.is, Original: s.original, Sequence: s.sequence}
	switch {
	case r.Word == "":
		r.Word = translate.Odd
	case refused && (r.Word == translate.End || r.Word == translate.Filter):
		r.Word = translate.Refused
	case r.Word == translate.End && calls: // a forced call ends with "stop"
		r.Word = translate.ToolUse
	case r.Word == translate.End && s.sequence != "":
		r.Word = translate.StopSeq
	case r.Word == translate.ToolUse && !calls:
		r.Word = translate.Odd
	}
	if r.Word != translate.StopSeq {
		r.Sequence = ""
	}
	return r
}

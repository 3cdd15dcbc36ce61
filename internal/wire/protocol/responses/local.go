package responses

import (
	"strconv"

	"rubicon/internal/wire/jsonscan"
)

// Local is an answer that generates nothing: what a request with
// generate: false gets from the gateway itself.
type Local struct {
	ID, Model string
	CreatedAt int64  // seconds
	Request   []byte // its small members are echoed, as providers do
}

const noUsage = `{"input_tokens":0,"input_tokens_details":{"cached_tokens":0},"output_tokens":0,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":0}`

// Created is the data of its response.created.
func (l *Local) Created() []byte {
	return l.event("response.created", 0, map[string]string{"status": `"in_progress"`, "usage": "null"})
}

// Completed is the data of its response.completed.
func (l *Local) Completed() []byte {
	at := strconv.FormatInt(l.CreatedAt, 10)
	return l.event("response.completed", 1, map[string]string{"status": `"completed"`, "usage": noUsage, "completed_at": at})
}

func (l *Local) event(typ string, sequence int, set map[string]string) []byte {
	set["id"] = string(jsonscan.AppendString(nil, l.ID))
	set["model"] = string(jsonscan.AppendString(nil, l.Model))
	set["created_at"] = strconv.FormatInt(l.CreatedAt, 10)
	set["error"], set["store"] = "null", "false"
	dst := append([]byte(`{"type":"`), typ...)
	dst = append(dst, `","sequence_number":`...)
	dst = strconv.AppendInt(dst, int64(sequence), 10)
	dst = append(dst, `,"response":`...)
	mark := byte('{')
	for _, m := range members[:] {
		dst = append(dst, mark)
		mark = ','
		dst = jsonscan.AppendString(dst, m.name)
		dst = append(dst, ':')
		dst = append(dst, l.value(m, set)...)
	}
	return append(dst, "}}"...)
}

func (l *Local) value(m member, set map[string]string) []byte {
	if v, ok := set[m.name]; ok {
		return []byte(v)
	}
	if own := present(jsonscan.Get(l.Request, m.name)); m.keep && own != nil && len(own) <= keepLimit {
		return own
	}
	return []byte(m.value)
}

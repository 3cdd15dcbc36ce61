package responses

import (
	"bytes"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// answer gathers what a stream or a whole answer tells.
type answer struct {
	seen  protocol.Observed
	usage []byte // the reported usage as it came
	calls protocol.Calls
	made  map[string]bool // hosted calls that were counted
}

func newAnswer() answer { return answer{seen: protocol.Observed{Sequence: -1}} }

// response is a response object's members that are read, raw; null is nil.
type response struct {
	object, id, model, tier, status, usage, output, failure []byte
}

func readResponse(raw []byte) (resp response) {
	m := jsonscan.Object(raw)
	for m.Next() {
		if at := resp.member(m.Key()); at != nil {
			*at = present(m.Value())
		}
	}
	return resp
}

func (resp *response) member(key []byte) *[]byte {
	switch string(key) {
	case "object":
		return &resp.object
	case "id":
		return &resp.id
	case "model":
		return &resp.model
	case "service_tier":
		return &resp.tier
	case "status":
		return &resp.status
	case "usage":
		return &resp.usage
	case "output":
		return &resp.output
	case "error":
		return &resp.failure
	}
	return nil
}

// objects are the kinds of answers: of a create, and of a compaction.
var objects = [...]string{"response", "response.compaction"}

// Answer reads an answer that was not streamed. Error bodies are
// ErrNotProtocol: their caller classifies them.
func Answer(body []byte) (*protocol.Observed, error) {
	if !jsonscan.Valid(body) {
		return nil, protocol.ErrNotProtocol
	}
	resp := readResponse(body)
	if !isAnswer(&resp) {
		return nil, protocol.ErrNotProtocol
	}
	a := newAnswer()
	a.seen.Events = 1
	if !empty(resp.output) {
		a.seen.OutputEvents = 1
	}
	a.closing(resp)
	a.seen.Incomplete = jsonscan.Equal(resp.status, "incomplete")
	if resp.failure != nil || jsonscan.Equal(resp.status, "failed") {
		info := errorValue(resp.failure)
		a.seen.Failure = &info
		a.result(&resp)
	}
	return &a.seen, nil
}

// FailureUsage reads the usage that a refusal's body carries.
func FailureUsage(body []byte, seen *protocol.Observed) {
	for _, usage := range [...][]byte{jsonscan.Get(body, "usage"), jsonscan.Get(body, "error", "usage")} {
		if usage = present(usage); usage == nil {
			continue
		}
		seen.ShowsExecution = true
		if u, ok := readUsage(usage); ok {
			seen.Usage, seen.Reported = u, true
		}
	}
}

func isAnswer(resp *response) bool {
	for _, o := range objects {
		if jsonscan.Equal(resp.object, o) {
			return true
		}
	}
	// Compatible servers leave "object" out.
	return resp.object == nil && jsonscan.KindOf(resp.output) == jsonscan.KindArray
}

// identify learns who answers.
func (a *answer) identify(resp *response) {
	if id := str(resp.id); id != "" {
		if a.seen.ResponseID == "" {
			a.seen.ResponseID = id // an ending of ours names the id of response.created
		}
		a.seen.Remember(protocol.KindResponse, id)
	}
	if model := str(resp.model); model != "" {
		a.seen.Model = model
	}
}

// tiered learns by which service tier the request is served; the last word counts.
func (a *answer) tiered(resp *response) {
	if tier := str(resp.tier); tier != "" {
		a.seen.Tier = tier
	}
}

// closing learns from a final response object.
func (a *answer) closing(resp response) {
	a.identify(&resp)
	a.tiered(&resp)
	a.report(resp.usage)
	uncounted := a.seen.TextBytes == 0
	el := jsonscan.Array(resp.output)
	for index := int64(0); el.Next(); index++ {
		it := readItem(el.Value())
		it.remember(&a.seen)
		a.call(&it, index)
		a.seen.Content = a.seen.Content || it.text > 0 || it.whole()
		if uncounted {
			a.seen.Wrote(it.text)
		}
	}
}

// report takes in a usage from a closing or failure event.
func (a *answer) report(usage []byte) {
	if usage == nil {
		return
	}
	a.seen.ShowsExecution = true
	a.calls.ToldIn(usage, &a.seen)
	if u, ok := readUsage(usage); ok {
		a.seen.Usage, a.seen.Reported = u, true
		a.usage = bytes.Clone(usage)
	}
}

// result notes a failure's own output: it executed.
func (a *answer) result(resp *response) {
	if !empty(resp.output) {
		a.seen.Result, a.seen.ShowsExecution = true, true
	}
}

// call counts a finished hosted call, once.
func (a *answer) call(it *item, index int64) {
	name := it.hosted()
	key := it.key(index)
	if name == "" || a.made[key] {
		return
	}
	a.seen.Ran = true
	if !it.billed() {
		return
	}
	if a.made == nil {
		a.made = make(map[string]bool)
	}
	a.made[key] = true
	a.calls.Made(&a.seen, name)
}

// empty reports whether raw is no array with an element.
func empty(raw []byte) bool {
	el := jsonscan.Array(raw)
	return !el.Next()
}

package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rubicon/internal/lab/sim"
)

// faultWords is how long the answers of the crash test are.
const faultWords = 60

// Bounds of the crash test, in the time of a full run.
const (
	firstTokenBy = 15 * time.Second  // where a second channel can give it
	silenceFor   = 120 * time.Second // the silent provider
	flapFor      = 60 * time.Second  // the flapping one
	flapPhase    = 5 * time.Second   // how long it is up, and down
	flapEvery    = 2 * time.Second   // a request
)

// faultCases are the sixteen faults of the crash test.
func faultCases() []auditCase {
	list := []auditCase{
		{name: "429-once", about: "429 with Retry-After once, then it answers", primary: turns([]sim.Step{limited("1")}, wantsWholeAnswer())},
		{name: "429-lasting", about: "429 at every call", primary: again(limited("30"))},
		{name: "500-once", about: "500 once, then it answers", primary: turns([]sim.Step{sim.ReplyError(500, "server_error")}, wantsWholeAnswer())},
		{name: "503-lasting", about: "503 at every call", primary: again(sim.ReplyError(503, "service_unavailable"))},
		{name: "reset", about: "reset before the headers", primary: again(sim.Reset())},
		{name: "silence", about: "silence for 120 s", primary: again(append([]sim.Step{sim.Wait(silenceFor)}, wantsWholeAnswer()...)...),
			want: want{first: firstTokenBy}, limit: silenceFor + 60*time.Second},
		{name: "slow-start", about: "first token after 20 s", want: want{first: firstTokenBy},
			primary: again(steps(openingSteps(0), []sim.Step{sim.Wait(20 * time.Second)}, openingSteps(faultWords)[2:], closingSteps(allDone(primaryInput)))...)},
		{name: "cut", about: "cut after 40 of 60 tokens", want: want{answer: mayAnswer},
			primary: again(append(openingSteps(40), sim.Wait(50*time.Millisecond), sim.Reset())...)},
		{name: "stall", about: "stall after 20 tokens", want: want{answer: mayAnswer}, primary: again(append(openingSteps(20), sim.Hang())...)},
		{name: "bad-json", about: "bad JSON in the tenth chunk", want: want{answer: mayAnswer},
			primary: again(steps(openingSteps(9), []sim.Step{sim.Event("", `{"id":"x","choices":[{"delta":{"content":"w10`)}, wordSteps(11, faultWords), closingSteps(allDone(primaryInput)))...)},
		{name: "no-done", about: "the terminal event ([DONE]) is missing", want: want{answer: mayAnswer},
			primary: again(steps(openingSteps(faultWords), closingSteps(sim.Finish("stop"), sim.End()))...)},
		{name: "context-length", about: "context length exceeded, on both", primary: refuses("context_length_exceeded", ""), fallback: refuses("context_length_exceeded", ""),
			want: want{answer: mustFail, calls: 2, status: []int{400, 413, 422}, codes: []string{"context_length_exceeded", "invalid_request_error"}}},
		{name: "content-filter", about: "refused by the content filter, on both", primary: refuses("content_filter", filtered), fallback: refuses("content_filter", filtered),
			want: want{answer: mustFail, calls: 2, status: []int{400, 403, 422}, codes: []string{"content_filter", "invalid_request_error"}}},
		{name: "no-prefill", about: "cut after 40 tokens, and the fallback refuses assistant prefill", want: want{answer: mayAnswer},
			primary: again(append(openingSteps(40), sim.Wait(50*time.Millisecond), sim.Reset())...), fallback: withoutPrefill()},
		{name: "flapping", about: "up and down every 5 s, for 60 s", every: flapEvery, during: flapFor, primary: flaps()},
		{name: "accounting", about: "500; the fallback's tokens are the ones to count", primary: again(sim.ReplyError(500, "server_error"))},
	}
	for i := range list {
		s := &list[i]
		s.words = faultWords
		if s.fallback.calls == nil {
			s.fallback = continuing()
		}
	}
	return list
}

// wantsWholeAnswer is the primary's whole answer.
func wantsWholeAnswer() []sim.Step { return []sim.Step{answer(faultWords, primaryInput)} }

func allDone(input int64) sim.Step { return sim.Completed(sim.Tokens(input, 0, faultWords)) }

const filtered = "The response was filtered due to the prompt triggering the content management policy. Please modify your prompt and retry."

// refuses answers 400.
func refuses(code, message string) providerPart {
	s := sim.ReplyError(400, code)
	s.Message = message
	s.ErrorType = "invalid_request_error"
	return again(s)
}

// continuing is a fallback that answers, and that goes on where an assistant's
// words at the end of the input stop: gateways may mend a cut so.
func continuing() providerPart {
	p := again(answer(faultWords, fallbackInput))
	p.other = func(name string) []sim.Step {
		n := 0
		_, _ = fmt.Sscanf(name, fromWord, &n) // our own word
		return slices.Concat(openingSteps(1)[:4], wordSteps(n+1, faultWords), closingSteps(allDone(fallbackInput)))
	}
	p.choose = func(m callInfo) string {
		if n := prefilled(m.body); n > 0 && n < faultWords {
			return fmt.Sprintf(fromWord, n)
		}
		return ""
	}
	return p
}

// fromWord names the rest of an answer behind so many words.
const fromWord = "from-%d"

// withoutPrefill is a fallback that refuses an assistant's words at the end.
func withoutPrefill() providerPart {
	p := again(answer(faultWords, fallbackInput))
	p.other = always(refuses("", "This model does not support assistant message prefill. The conversation must end with a user message.").calls[0]...)
	p.choose = func(m callInfo) string {
		if prefilled(m.body) > 0 {
			return "prefill"
		}
		return ""
	}
	return p
}

// prefilled is how many of the answer's words stand at the input's end as the
// assistant's own.
func prefilled(body []byte) int {
	var b struct {
		Messages, Input []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.Unmarshal(body, &b) // an input that is a text has no turns
	for _, turns := range [...][]struct {
		Role    string
		Content json.RawMessage
	}{b.Messages, b.Input} {
		if n := len(turns); n > 0 && turns[n-1].Role == "assistant" {
			return countWords(string(turns[n-1].Content))
		}
	}
	return 0
}

func countWords(text string) int {
	n := 0
	for i := 1; i <= faultWords; i++ {
		if strings.Contains(text, strings.TrimSpace(word(i))) {
			n++
		}
	}
	return n
}

// flaps is up for a phase, then down for one.
func flaps() providerPart {
	return providerPart{
		calls: [][]sim.Step{wantsWholeAnswer()},
		other: always(sim.ReplyError(503, "service_unavailable")),
		choose: func(m callInfo) string {
			if m.since/flapPhase%2 == 1 {
				return "down"
			}
			return ""
		},
	}
}

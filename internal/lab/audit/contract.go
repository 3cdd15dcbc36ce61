package audit

import (
	"bytes"
	"slices"
	"time"

	"rubicon/internal/lab/sim"
)

// contractWords is how long the contract's answers are.
const contractWords = 12

// Where some cases apply.
var (
	onResponses = []Surface{Responses, Socket}
	overHTTP    = []Surface{Chat, Responses, Messages}
	withTimeout = []Surface{Chat, Messages}
	withStore   = []Surface{Chat, Responses, Socket}
	withHosted  = []Surface{Responses, Socket, Messages}
)

// contractCases are the promises of docs/contract.md, one a case.
func contractCases() []auditCase {
	list := slices.Concat(goodScenes(), earlyScenes(), finalScenes(), lateScenes(), statefulScenes())
	for i := range list {
		s := &list[i]
		s.words = contractWords
		if s.primary.calls == nil {
			s.primary.calls = [][]sim.Step{{answer(contractWords, primaryInput)}}
		}
		if s.fallback.calls == nil {
			s.fallback.calls = [][]sim.Step{{answer(contractWords, fallbackInput)}}
		}
	}
	return list
}

// goodScenes: nothing fails.
func goodScenes() []auditCase {
	once := want{calls: 1}
	return []auditCase{
		{name: "answer", about: "a whole answer", want: once},
		{name: "answer-json", about: "a whole answer, not streamed", surfaces: overHTTP, requests: []clientRequest{{whole: true}}, want: once},
		{name: "tool", about: "one function call", requests: []clientRequest{{tool: true}}, want: once,
			primary: again(toolAnswer()), fallback: again(toolAnswer())},
		{name: "heartbeats", about: "comments for two seconds, then the answer", want: once,
			primary: again(sim.Comment("one"), sim.Wait(time.Second), sim.Comment("two"), sim.Wait(time.Second), answer(contractWords, primaryInput))},
		{name: "prompt", row: "hold", about: "a first word at once, the rest after five seconds", want: want{calls: 1, first: 2 * time.Second},
			primary: again(steps(openingSteps(1), []sim.Step{sim.Wait(5 * time.Second)}, wordSteps(2, contractWords), closingSteps(done(primaryInput)))...)},
		{name: "no-done", about: "a finish reason and usage, but no [DONE]", surfaces: []Surface{Chat}, want: once,
			primary: again(steps(openingSteps(contractWords), []sim.Step{sim.Finish("stop"), sim.UsageChunk(sim.Tokens(primaryInput, 0, contractWords)), sim.End()})...)},
		{name: "client-leaves", row: "15", about: "the client leaves after the first word", requests: []clientRequest{{leaves: true}}, want: want{answer: mayAnswer, calls: 1},
			primary: again(steps(openingSteps(1), []sim.Step{sim.Wait(20 * time.Second)}, wordSteps(2, contractWords), closingSteps(done(primaryInput)))...)},
	}
}

func toolAnswer() sim.Step {
	s := sim.Answer("", sim.Tokens(primaryInput, 0, contractWords))
	s.Tools = []sim.ToolCall{{Name: toolName, Args: toolArgs}}
	return s
}

// done ends an answer of the contract's length.
func done(input int64) sim.Step { return sim.Completed(sim.Tokens(input, 0, contractWords)) }

// earlyScenes: the primary fails before output, the fallback can answer.
func earlyScenes() []auditCase {
	twice := want{calls: 2}
	return []auditCase{
		{name: "failed-event", row: "1", about: "the stream opens, then a retryable failure", want: twice,
			primary: again(append(openingSteps(0), sim.Failed("server_is_overloaded"))...)},
		{name: "failed-first", row: "1", about: "a retryable failure as the first event", want: twice, primary: again(sim.Failed("server_error"))},
		{name: "read-error", row: "2", about: "the status, then a reset", want: twice, primary: again(sim.Reply(200), sim.Reset())},
		{name: "reset", row: "2", about: "a reset before the status", want: twice, primary: again(sim.Reset())},
		{name: "upstream-500", row: "3", about: "status 500", want: twice, primary: again(sim.ReplyError(500, "server_error"))},
		{name: "html", row: "3a", about: "status 200 and a web page", want: twice, primary: again(sim.HTML(200))},
		{name: "rate-limited", row: "5", about: "status 429", primary: again(limited("1"))},
		{name: "overloaded", row: "5a", about: "status 503, overloaded", primary: again(sim.ReplyError(503, "server_is_overloaded"))},
		{name: "unfit", row: "7a", about: "the model is unknown there", primary: again(sim.ReplyError(404, "model_not_found"))},
		{name: "balance", row: "6", about: "the upstream account is empty", ownChannels: true, primary: again(sim.ReplyError(402, "billing_error"))},
		{name: "json-500", row: "3", about: "status 500, not streamed", surfaces: overHTTP, requests: []clientRequest{{whole: true}}, want: twice,
			primary: again(sim.ReplyError(500, "server_error"))},
		{name: "json-broken", row: "2", about: "a JSON answer that breaks off", surfaces: overHTTP, requests: []clientRequest{{whole: true}}, want: twice,
			primary: again(append(openingSteps(3), sim.Reset())...)},
	}
}

func limited(after string) sim.Step {
	s := sim.ReplyError(429, "rate_limit_exceeded")
	s.RetryAfter = after
	return s
}

// finalScenes: no answer is to be had, or it must not be asked for again.
func finalScenes() []auditCase {
	telling := sim.ReplyError(500, "server_error")
	telling.Message = "The key $KEY of organization " + orgID + " failed at http://$HOST/v1."
	usage := sim.Failed("server_error")
	usage.Usage = sim.Tokens(primaryInput, 0, 3)
	unknown := sim.Failed("quantum_flux")
	unknown.ErrorType = "quantum_error"
	timeout := again(sim.Reply(200), sim.Hang())
	none := want{answer: mustFail, calls: 1}
	return []auditCase{
		{name: "both-fail", row: "10", about: "both fail as an event; the last one's code is told", want: want{answer: mustFail, calls: 2,
			codes: []string{"server_is_overloaded", "overloaded_error", "service_unavailable_error"}},
			primary: again(append(openingSteps(0), sim.Failed("server_error"))...), fallback: again(append(openingSteps(0), sim.Failed("server_is_overloaded"))...)},
		{name: "both-limited", row: "5", about: "both answer 429", want: want{answer: mustFail, status: []int{429, 503}, delayed: true},
			primary: again(limited("7")), fallback: again(limited("7"))},
		{name: "leak", row: "3", about: "both fail with a message that names key, account and address", want: want{answer: mustFail, calls: 2},
			primary: again(telling), fallback: again(telling)},
		{name: "auth", row: "7", about: "the upstream key is refused", ownChannels: true, primary: again(sim.ReplyError(401, "invalid_api_key")),
			want: want{answer: mayAnswer, calls: 1, status: []int{500, 502, 503}}},
		{name: "context", row: "16", about: "status 400, context length", primary: again(sim.ReplyError(400, "context_length_exceeded")),
			want: want{answer: mustFail, calls: 1, status: []int{400}, codes: []string{"context_length_exceeded", "invalid_request_error"}}},
		{name: "policy", row: "16", about: "a policy failure as an event", primary: again(append(openingSteps(0), sim.Failed("content_policy_violation"))...),
			want: want{answer: mustFail, calls: 1, status: []int{400}, codes: []string{"content_policy_violation", "invalid_request_error"}}},
		{name: "unknown-failure", row: "16a", about: "a failure with a code that nobody knows", want: none, primary: again(append(openingSteps(0), unknown)...)},
		{name: "usage-seen", row: "17", about: "a failure that carries usage", primary: again(append(openingSteps(0), usage)...),
			want: want{answer: mustFail, calls: 1, replay: ReplayEffects}},
		{name: "cut-lifecycle", row: "18", about: "the stream opens, then a reset", want: none,
			primary: again(append(openingSteps(0), sim.Wait(50*time.Millisecond), sim.Reset())...)},
		{name: "first-event-timeout", row: "9", about: "the status, then silence: it runs, and must not run twice", surfaces: onResponses, primary: timeout,
			want: want{answer: mustFail, calls: 1, replay: ReplayTimeout, status: []int{504}}},
		{name: "first-event-switch", row: "9", about: "the status, then silence: one switch is allowed", surfaces: withTimeout, primary: timeout,
			want: want{answer: mayAnswer, calls: 2, replay: ReplayTimeout, status: []int{504}}},
		{name: "header-timeout", row: "8", about: "no status line: it may run, and must not run twice", surfaces: onResponses, primary: again(sim.Hang()),
			want: want{answer: mustFail, calls: 1, replay: ReplayTimeout, status: []int{504}}},
		{name: "header-switch", row: "8", about: "no status line: one switch is allowed", surfaces: withTimeout, primary: again(sim.Hang()),
			want: want{answer: mayAnswer, calls: 2, replay: ReplayTimeout, status: []int{504}}},
	}
}

// lateScenes: output is out, then the stream breaks.
func lateScenes() []auditCase {
	cut := want{answer: mayAnswer, calls: 1, replay: ReplayEffects}
	breaks := func(end ...sim.Step) providerPart { return again(append(openingSteps(5), end...)...) }
	pause := sim.Wait(50 * time.Millisecond)
	return []auditCase{
		{name: "cut", row: "11", about: "five words, then a reset", want: cut, primary: breaks(pause, sim.Reset())},
		{name: "cut-fin", row: "11", about: "five words, then the connection ends", want: cut, primary: breaks(sim.FIN())},
		{name: "cut-clean", row: "11", about: "five words, then a clean end without a terminal event", want: cut, primary: breaks(sim.End())},
		{name: "cut-half-event", row: "11", about: "five words, then half an event", want: cut, primary: breaks(sim.Raw("data: {\"id\":\"x"), sim.FIN())},
		{name: "cut-tool", row: "11", about: "half a function call, then a reset", want: cut, requests: []clientRequest{{tool: true}},
			primary:  again(sim.Created(), sim.InProgress(), sim.Tool(toolName), sim.Args(toolArgs[:6]), pause, sim.Reset()),
			fallback: again(toolAnswer())},
		{name: "failed-late", row: "11", about: "five words, then a failure event", want: cut, primary: breaks(sim.Failed("server_error"))},
		{name: "idle-late", row: "11", about: "five words, then silence", want: cut, primary: breaks(sim.Hang())},
		{name: "no-json", row: "11", about: "five words, then an event that is no JSON, then the rest", want: cut,
			primary: again(steps(openingSteps(5), []sim.Step{sim.Event("", `{"id":"x","cho`)}, wordSteps(7, contractWords), closingSteps(done(primaryInput)))...)},
	}
}

// statefulScenes: a second execution would leave something behind.
func statefulScenes() []auditCase {
	once := want{answer: mustFail, calls: 1, replay: ReplayStateful, advice: true}
	overloaded := again(append(openingSteps(0), sim.Failed("server_is_overloaded"))...)
	stored := []clientRequest{{stored: true}}
	return []auditCase{
		{name: "stored", row: "12", about: "a stored request, a retryable failure event", surfaces: withStore, requests: stored, want: once, primary: overloaded},
		{name: "stored-500", row: "12", about: "a stored request, status 500", surfaces: withStore, requests: stored, want: once,
			primary: again(sim.ReplyError(500, "server_error"))},
		{name: "stored-limited", row: "5", about: "a stored request, status 429: nothing ran, it may move", surfaces: withStore, requests: stored, primary: again(limited("1"))},
		{name: "continued", row: "12", about: "a continuation of stored state, a retryable failure event", surfaces: onResponses,
			requests: []clientRequest{{stored: true}, {stored: true, continues: true}}, want: once,
			primary: providerPart{choose: continued, other: always(overloaded.calls[0]...)}},
		{name: "unknown-state", about: "a continuation of what nobody was given", surfaces: onResponses, requests: []clientRequest{{unknown: true}},
			want: want{answer: mustFail, fewest: -1, status: []int{400, 404}, codes: []string{"previous_response_not_found"}}},
		{name: "hosted", row: "13", about: "a tool that upstream runs, a retryable failure event", surfaces: withHosted, requests: []clientRequest{{hosted: true}}, primary: overloaded,
			want: want{answer: mustFail, calls: 1, replay: ReplayEffects, advice: true}},
	}
}

// continued tells a continuation from the request before it.
func continued(m callInfo) string {
	if bytes.Contains(m.body, []byte(`"previous_response_id"`)) {
		return "continued"
	}
	return ""
}

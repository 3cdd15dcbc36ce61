// Package classify names what kind of failure an upstream status, error body
// or failure event is. The knowledge is data (rules.go); this file applies it.
//
// It does not read bodies: the protocols do (package protocol, which this one does
// not import). It does not decide what follows from a class: replay does that for the
// request, health for the route.
//
// Invariant: the class is a function of the answer and the rules alone; a failure
// that no rule knows is Unknown.
package classify

import (
	"slices"
	"strings"
	"time"
)

// Failure is the class of one attempt's failure; its text stands in the
// record, in metrics and in the documentation.
type Failure string

// The classes of docs/replay.md#by-class-of-failure.
const (
	None               Failure = ""
	Connect            Failure = "connect"
	RateLimited        Failure = "rate_limited"
	Overloaded         Failure = "overloaded"
	Balance            Failure = "balance"
	Auth               Failure = "auth"
	Unfit              Failure = "unfit"
	Upstream5xx        Failure = "upstream_5xx"
	BadAnswer          Failure = "bad_answer"
	HeaderTimeout      Failure = "header_timeout"
	AnswerTimeout      Failure = "answer_timeout"
	FirstEventTimeout  Failure = "first_event_timeout"
	FirstOutputTimeout Failure = "first_output_timeout"
	IdleTimeout        Failure = "idle_timeout"
	TotalTimeout       Failure = "total_timeout"
	ReadError          Failure = "read_error"
	FailedEvent        Failure = "failed_event"
	Deterministic      Failure = "deterministic"
	Unknown            Failure = "unknown"
	BufferLimit        Failure = "buffer_limit"
	ClientGone         Failure = "client_gone"
	GatewayFault       Failure = "gateway_fault"
	ConnectionLimit    Failure = "connection_limit"
)

// All lists every class, for exhaustive tests and generated tables.
var all = [...]Failure{Connect, RateLimited, Overloaded, Balance, Auth, Unfit, Upstream5xx, BadAnswer,
	HeaderTimeout, AnswerTimeout, FirstEventTimeout, FirstOutputTimeout, IdleTimeout, TotalTimeout, ReadError,
	FailedEvent, Deterministic, Unknown, BufferLimit, ClientGone, GatewayFault, ConnectionLimit}

// All gives every class of failure.
func All() []Failure { return slices.Clone(all[:]) }

// Finding is a classified failure.
type Finding struct {
	Failure   Failure
	RateLimit bool   // a rate limit, whatever its class: the route cools down
	Rule      string // the rule that matched, for logs and explain
}

// FailureInfo is what a failure event or an error body says. Fields that are
// absent are empty; numeric codes are given as their digits. The protocols read
// it (protocol.ReadFailure).
type FailureInfo struct {
	Code, Type, Message, Param string
	State                      string // a textual "status", as Google writes it, in lower case
	Retryable                  *bool  // an explicit "retryable" in the event
	Status                     int    // a numeric status inside the payload, else 0
	RetryAfter                 time.Duration
}

// Status classifies an answer whose status is not 2xx, or a 2xx whose body is
// an error object. extra rules come first (a channel's own).
func Status(protocolName string, status int, info FailureInfo, extra []Rule) Finding {
	return match(statusRules[:], extra, facts{protocol: protocolName, status: status, info: info})
}

// Event classifies a failure event, or an answer that says it failed. A
// channel's own rules come before the event's own word.
func Event(protocolName string, info FailureInfo, extra []Rule) Finding {
	if f, found := first(extra, facts{protocol: protocolName, info: info}); found {
		return f
	}
	if info.Retryable != nil && *info.Retryable {
		f := match(eventRules[:], nil, facts{protocol: protocolName, info: info})
		if f.Failure != Balance {
			f = Finding{Failure: FailedEvent, RateLimit: f.RateLimit, Rule: "event says retryable"}
		}
		return f
	}
	return match(eventRules[:], nil, facts{protocol: protocolName, info: info})
}

type facts struct {
	protocol string
	status   int
	info     FailureInfo
}

func match(rules, extra []Rule, f facts) Finding {
	for _, set := range [2][]Rule{extra, rules} {
		if found, ok := first(set, f); ok {
			return found
		}
	}
	return Finding{Failure: Unknown, Rule: "no rule"}
}

// first is what the first rule that matches says.
func first(rules []Rule, f facts) (Finding, bool) {
	for i := range rules {
		if rules[i].matches(f) {
			return Finding{Failure: rules[i].Failure, RateLimit: rules[i].RateLimit, Rule: rules[i].Name}, true
		}
	}
	return Finding{}, false
}

func (r *Rule) matches(f facts) bool {
	if r.Protocol != "" && r.Protocol != f.protocol {
		return false
	}
	if r.From != 0 && (f.status < r.From || f.status > max(r.To, r.From)) {
		return false
	}
	if !r.Param.holds(f.info.Param) || len(r.Types) > 0 && !slices.Contains(r.Types, strings.ToLower(f.info.Type)) {
		return false
	}
	if len(r.Numbers) > 0 && !r.numbered(f.info) {
		return false
	}
	if len(r.Words) == 0 && len(r.Message) == 0 {
		return true
	}
	if r.NeedsBoth {
		return r.matchesCode(f.info) && r.matchesMessage(f.info.Message)
	}
	return r.matchesCode(f.info) || r.matchesMessage(f.info.Message)
}

// matchesCode reports whether code, type or status is one of the rule's words.
func (r *Rule) matchesCode(info FailureInfo) bool {
	return slices.Contains(r.Words, strings.ToLower(info.Code)) ||
		!r.CodeOnly && (slices.Contains(r.Words, strings.ToLower(info.Type)) || info.State != "" && slices.Contains(r.Words, info.State))
}

// numbered reports whether code, type or status is one of the rule's numbers.
func (r *Rule) numbered(info FailureInfo) bool {
	if r.CodeOnly {
		return within(r.Numbers, number(info.Code))
	}
	return within(r.Numbers, numberOf(info))
}

// matchesMessage reports whether the message fits one of the rule's patterns.
func (r *Rule) matchesMessage(message string) bool {
	if len(r.Message) == 0 || message == "" {
		return false
	}
	text := normalized(message, r.WithoutQuotes)
	return slices.ContainsFunc(r.Message, func(p string) bool { return matchesPattern(text, p) })
}

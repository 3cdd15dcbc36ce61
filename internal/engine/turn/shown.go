package turn

import (
	"errors"
	"net/http"

	"rubicon/internal/config"
	"rubicon/internal/engine/meter"
	"rubicon/internal/engine/replay"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// Form is the way a failure is shown (docs/contract.md#s5).
type Form uint8

// The forms.
const (
	FormStatus Form = iota // a status and JSON; on WebSocket an error frame
	FormEvent              // the upstream's own failure event
	FormOurs               // the gateway's own ending of an opened stream
)

// ShownFailure is a failure as its sink must show it. Held events have gone out
// already where the form wants it.
type ShownFailure struct {
	Form             Form
	Error            *fault.Error
	Protocol         *protocol.Protocol
	Events           []protocol.Event // FormEvent: the failure events, in order
	NeedsFailedEvent bool             // FormEvent: the events end no stream of this protocol (error without response.failed)
	ErrorSent        bool             // an error event went out already
	Reader           protocol.Reader  // what was read of the stream; nil if nothing
	Answer           *upstream.Answer // FormEvent, not streamed: the answer that tells the failure
}

// formOf chooses the form. events counts what the delivered attempt's stream
// told, heartbeats apart.
func formOf(p *protocol.Protocol, streaming, byEvent bool, handed replay.Handed, events int) Form {
	switch {
	case !streaming && byEvent && p.HoldsShown:
		return FormEvent
	case !streaming:
		return FormStatus
	case handed == replay.NothingHanded && (!p.HoldsShown || events == 0):
		return FormStatus
	case byEvent:
		return FormEvent
	}
	return FormOurs
}

// ownCodes are the classes that are told in the gateway's own words, whatever
// upstream said.
var ownCodes = map[classify.Failure]string{
	classify.Balance:            fault.UpstreamBalance,
	classify.Auth:               fault.UpstreamAuth,
	classify.Connect:            fault.ConnectFailed,
	classify.HeaderTimeout:      fault.HeaderTimeout,
	classify.AnswerTimeout:      fault.AnswerTimeout,
	classify.FirstEventTimeout:  fault.FirstEventTimeout,
	classify.FirstOutputTimeout: fault.FirstOutputTimeout,
	classify.IdleTimeout:        fault.StreamIdleTimeout,
	classify.TotalTimeout:       fault.RequestTimeout,
	classify.BufferLimit:        fault.UpstreamBufferLimit,
	classify.ConnectionLimit:    fault.ConnectionLimitReached,
}

// faultOf gives a failure its code, status and words.
func faultOf(f *upstream.Failure, req *Request) *fault.Error {
	e := wordsFor(f, req)
	if e.RetryAfter == 0 {
		e.RetryAfter = f.RetryAfter
	}
	return e.WithCause(f)
}

// ErrorOfCall is what a client learns of a failed call that was no request, like one
// about a stored response.
func ErrorOfCall(f *upstream.Failure, p *protocol.Protocol, ch *config.Channel) *fault.Error {
	e := faultOf(f, &Request{Protocol: p})
	secretsOf(ch).Clean(e)
	return e
}

// Shown is an answer of a channel about a stored response. One that failed, or
// ended early, tells so in the provider's words.
func Shown(a *upstream.Answer, ch *config.Channel) *upstream.Answer {
	at := fault.InIncomplete
	if jsonscan.KindOf(jsonscan.Get(a.Body, "error")) == jsonscan.KindObject {
		at = fault.InAnswer
	}
	return cleanAnswer(secretsOf(ch), a, at)
}

func wordsFor(f *upstream.Failure, req *Request) *fault.Error {
	if code, own := ownCodes[f.Failure]; own {
		return fault.New(code, "")
	}
	switch f.Failure {
	case classify.ReadError:
		return fault.New(readErrorCode(f, req.Protocol), "")
	case classify.GatewayFault, classify.ClientGone:
		return fault.New(gatewayCode(f, req), "")
	}
	return providerError(f, req.Protocol)
}

func readErrorCode(f *upstream.Failure, p *protocol.Protocol) string {
	switch {
	case f.NotEvent:
		return fault.UpstreamError
	case p.Channel() == config.ProtocolResponses:
		return fault.StreamReadError
	}
	return fault.UpstreamStreamError
}

func gatewayCode(f *upstream.Failure, req *Request) string {
	var stop *EndedByGateway
	switch {
	case errors.As(f, &stop):
		return stop.Code
	case errors.Is(f, meter.ErrNotDurable):
		return fault.StoreUnavailable
	case errors.Is(f, errChoosing) && req.WebSocket:
		return fault.WebSocketResponseFailed
	case errors.Is(f, errChoosing):
		return fault.ResponseFailed
	}
	return fault.InternalError
}

// providerError is a failure in the provider's own words: code, type, param and message
// kept. What is no JSON is upstream_error.
func providerError(f *upstream.Failure, p *protocol.Protocol) *fault.Error {
	row, _ := fault.Lookup(fault.UpstreamError)
	e := &fault.Error{Code: f.Info.Code, Status: statusOf(f, p), Type: f.Info.Type, Param: f.Info.Param, Message: f.Info.Message,
		Retryable: couldSucceed[f.Failure], Upstream: true}
	if !f.JSON {
		e.Upstream, e.Code = false, fault.UpstreamError
	}
	if e.Message == "" {
		e.Message = row.Happened
	}
	if e.Type == "" {
		e.Type = fault.TypeFor(e.Status)
		if p.Channel() == config.ProtocolMessages {
			e.Type = fault.MessagesTypeFor(e.Status)
		}
	}
	return e
}

// statusOf is a told failure's status: kept when upstream gave one of 4xx or
// 5xx, by the failure's code when it came as an event, else 502.
func statusOf(f *upstream.Failure, p *protocol.Protocol) int {
	if !f.ByEvent {
		if f.Status >= 400 && f.Status <= 599 {
			return f.Status
		}
		if f.Failure == classify.Deterministic {
			return http.StatusBadRequest
		}
		return http.StatusBadGateway
	}
	switch {
	case f.RateLimit:
		return http.StatusTooManyRequests
	case f.Failure == classify.Deterministic:
		return http.StatusBadRequest
	case classify.SaysOverload(f.Info) && p.Channel() == config.ProtocolMessages:
		return 529
	case classify.SaysOverload(f.Info):
		return http.StatusServiceUnavailable
	case classify.SaysTimeout(f.Info):
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}

// couldSucceed: the classes told in the provider's words whose repeat could
// come out better.
var couldSucceed = map[classify.Failure]bool{
	classify.RateLimited: true, classify.Overloaded: true, classify.Upstream5xx: true, classify.BadAnswer: true,
	classify.FailedEvent: true, classify.Unfit: false,
}

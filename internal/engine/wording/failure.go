// Package wording puts failures of upstream into the words that a client reads,
// and removes from them what a client must not see: hosts, keys and accounts.
//
// It does not decide whether and when a failure is shown, nor in which form; the
// turn does that.
//
// Invariant: nothing that this package returns names the address or a key of a
// channel, once it went through the channel's secrets.
package wording

import (
	"net/http"

	"rubicon/internal/config"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

// ownCodes lists the classes of failure that get the gateway's own words, whatever
// upstream said. It is never written to.
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

// Of gives a failure its code, status and words. The gateway's code is used where
// the gateway itself failed or ended the request.
func Of(f *upstream.Failure, p *protocol.Protocol, gatewayCode string) *fault.Error {
	e := wordsFor(f, p, gatewayCode)
	if e.RetryAfter == 0 {
		e.RetryAfter = f.RetryAfter
	}
	return e.WithCause(f)
}

func wordsFor(f *upstream.Failure, p *protocol.Protocol, gatewayCode string) *fault.Error {
	if code, own := ownCodes[f.Failure]; own {
		return fault.New(code, "")
	}
	switch f.Failure {
	case classify.ReadError:
		return fault.New(readErrorCode(f, p), "")
	case classify.GatewayFault, classify.ClientGone:
		return fault.New(gatewayCode, "")
	}
	return providerError(f, p)
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

// providerError is a failure in the provider's own words: code, type, param and message
// kept. A body that is not JSON gets the code upstream_error.
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

// statusOf is the status of a failure in the provider's words: upstream's own if
// that is 4xx or 5xx; by the failure's code if it came as an event; else 502.
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

// couldSucceed lists the classes that get the provider's words and whose repeat
// could succeed. It is never written to.
var couldSucceed = map[classify.Failure]bool{
	classify.RateLimited: true, classify.Overloaded: true, classify.Upstream5xx: true, classify.BadAnswer: true,
	classify.FailedEvent: true, classify.Unfit: false,
}

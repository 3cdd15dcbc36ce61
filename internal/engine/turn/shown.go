package turn

import (
	"errors"

	"rubicon/internal/config"
	"rubicon/internal/engine/meter"
	"rubicon/internal/engine/replay"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/engine/wording"
	"rubicon/internal/wire/fault"
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
	Answer           *upstream.Answer // FormEvent, not streamed: the answer that reports the failure
}

// formOf chooses the form. events is the number of events of the delivered attempt's
// stream, heartbeats apart.
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

// ErrorOfCall is the error that a client receives for a failed call that was no
// request, for example one about a stored response.
func ErrorOfCall(f *upstream.Failure, p *protocol.Protocol, ch *config.Channel) *fault.Error {
	e := wording.Of(f, p, gatewayCode(f, &Request{Protocol: p}))
	wording.SecretsOf(ch).Clean(e)
	return e
}

// secrets are those of the attempt's route.
func (a *attempt) secrets() fault.Secrets { return wording.SecretsOf(a.route.Candidate.Channel) }

// gatewayCode is the code of a failure that the gateway itself caused.
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

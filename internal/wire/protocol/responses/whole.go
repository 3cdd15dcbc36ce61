package responses

import (
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// Compact is POST /responses/compact: a request like another, answered whole.
// Nothing is stored, and "store" is no parameter of it.
func Compact() protocol.Protocol {
	p := Protocol()
	p.Name, p.Path, p.Speaks = "responses.compact", "/responses/compact", Name
	p.ParseRequest, p.Upstream = parseWhole, upstreamWhole
	return p
}

// InputTokens is POST /responses/input_tokens: it counts and generates nothing.
func InputTokens() protocol.Protocol {
	p := Protocol()
	p.Name, p.Path, p.Speaks = "responses.input_tokens", "/responses/input_tokens", Name
	p.ParseRequest, p.Upstream, p.Answer, p.NoOutput = parseWhole, upstreamWhole, answerInputTokens, true
	return p
}

func parseWhole(b []byte) (protocol.Request, *fault.Error) {
	r, bad := ParseRequest(b)
	if bad != nil {
		return r, bad
	}
	if r.Stream {
		return r, fault.New(fault.UnsupportedParameter, "This call is not streamed; leave stream out.").WithParam("stream")
	}
	r.Store = protocol.StoreFalse
	return r, nil
}

func upstreamWhole(b []byte, rw protocol.Rewrite) ([]byte, error) {
	return Upstream(b, protocol.Rewrite{Model: rw.Model})
}

// answerInputTokens reads {"object":"response.input_tokens","input_tokens":n}.
func answerInputTokens(b []byte) (*protocol.Observed, error) {
	n, ok := protocol.Count(jsonscan.Get(b, "input_tokens"))
	if !ok || n < 0 || !jsonscan.Valid(b) {
		return nil, protocol.ErrNotProtocol
	}
	seen := &protocol.Observed{Sequence: -1, Events: 1, OutputEvents: 1}
	seen.Usage.Input, seen.Reported = n, true
	return seen, nil
}

package responses

import (
	"rubicon/internal/fault"
	"rubicon/internal/jsonscan"
	"rubicon/internal/protocol"
)

// ParseRequest reads a request body, of HTTP or of a WebSocket response.create.
func ParseRequest(body []byte) (protocol.Request, *fault.Error) {
	v, bad := readParams(body)
	if bad != nil {
		return protocol.Request{}, bad
	}
	req := protocol.Request{
		Model:        str(v[pModel]),
		Store:        store(v[pStore]),
		PrevResponse: str(v[pPreviousResponse]),
		Choices:      1,
		Tier:         str(v[pServiceTier]),
		Affinity:     str(v[pPromptCacheKey]),
	}
	req.Stream, _ = jsonscan.Bool(v[pStream])
	if generate, ok := jsonscan.Bool(v[pGenerate]); ok {
		req.Warmup = !generate
	}
	if req.MaxOutput, bad = refuse(&req, &v); bad != nil {
		return protocol.Request{}, bad
	}
	w := walk{req: &req}
	if bad := w.parents(&v); bad != nil {
		return protocol.Request{}, bad
	}
	w.body(&v)
	req.BilledBytes = int64(len(body)) - w.unbilled
	return req, nil
}

func store(raw []byte) protocol.Store {
	switch on, ok := jsonscan.Bool(raw); {
	case !ok:
		return protocol.StoreAbsent
	case on:
		return protocol.StoreTrue
	}
	return protocol.StoreFalse
}

// refuse checks values that have the right type but must not be.
func refuse(req *protocol.Request, v *values) (maxOutput int64, bad *fault.Error) {
	if req.Model == "" {
		return 0, invalid("model", "The parameter 'model' is required.")
	}
	if on, _ := jsonscan.Bool(v[pBackground]); on {
		return 0, fault.New(fault.UnsupportedParameter, "background: true is not supported by this gateway.").WithParam("background")
	}
	if v[pMaxOutputTokens] == nil {
		return 0, nil
	}
	n, ok := jsonscan.Int(v[pMaxOutputTokens])
	if !ok || n <= 0 {
		return 0, invalid("max_output_tokens", "The parameter 'max_output_tokens' must be a positive integer.")
	}
	return n, nil
}

// parents reads what makes the request a continuation of upstream state.
func (w *walk) parents(v *values) *fault.Error {
	if v[pPreviousResponse] != nil {
		if w.req.PrevResponse == "" {
			return invalid("previous_response_id", "The parameter 'previous_response_id' must not be empty.")
		}
		w.req.Continuation = true
		w.ref(protocol.KindResponse, v[pPreviousResponse], &place{key: "previous_response_id"})
	}
	if v[pConversation] == nil {
		return nil
	}
	at, id := &place{key: "conversation"}, v[pConversation]
	if jsonscan.KindOf(id) == jsonscan.KindObject {
		at, id = at.member("id"), jsonscan.Get(id, "id")
	}
	if str(id) == "" {
		return invalid("conversation", "The parameter 'conversation' must name a conversation.")
	}
	w.req.Continuation = true
	w.ref(protocol.KindConversation, id, at)
	return nil
}

package responses

import (
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/body"
)

// anything is for keys whose value is refused elsewhere, whatever it is.
const anything = body.String | body.Bool | body.Count | body.Array | body.Object

// requestKeys are the top-level keys that the gateway reads or writes.
var requestKeys = [...]body.Key{
	{Name: "model", Type: body.String, Required: true},
	{Name: "stream", Type: body.Bool},
	{Name: "stream_options", Type: body.Object},
	{Name: "store", Type: body.Bool},
	{Name: "background", Type: body.Bool},
	{Name: "previous_response_id", Type: body.String},
	{Name: "conversation", Type: body.String | body.Object},
	{Name: "prompt", Type: body.Object},
	{Name: "input", Type: body.String | body.Array},
	{Name: "instructions", Type: body.String | body.Array},
	{Name: "tools", Type: body.Array},
	{Name: "max_output_tokens", Type: body.Count},
	{Name: "service_tier", Type: body.String},
	{Name: "prompt_cache_key", Type: body.String},
	// Of a WebSocket's response.create.
	{Name: "type", Type: body.String},
	{Name: "generate", Type: body.Bool},
	{Name: "stream_id", Type: anything},
}

// ParseRequest reads a request body, of HTTP or of a WebSocket response.create.
func ParseRequest(b []byte) (protocol.Request, *fault.Error) {
	m, bad := body.Read(b, requestKeys[:])
	if bad != nil {
		return protocol.Request{}, bad
	}
	req := protocol.Request{
		Model:        m.Text("model"),
		Stream:       m.True("stream"),
		Store:        store(m.Raw("store")),
		PrevResponse: m.Text("previous_response_id"),
		MaxOutput:    m.Int("max_output_tokens"),
		Choices:      1,
		Tier:         m.Text("service_tier"),
		Affinity:     m.Text("prompt_cache_key"),
		Warmup:       m.Raw("generate") != nil && !m.True("generate"),
	}
	if req.Model == "" {
		return protocol.Request{}, invalid("model", "\"model\" must not be empty.")
	}
	if m.True("background") {
		return protocol.Request{}, fault.New(fault.UnsupportedParameter,
			"background: true is not supported by this gateway.").WithParam("background")
	}
	w := requestWalk{req: &req}
	if bad := w.parents(m); bad != nil {
		return protocol.Request{}, bad
	}
	w.body(m)
	req.EstimateBytes = int64(len(b)) - w.unbilled
	return req, req.TooManyNames()
}

func invalid(param, message string) *fault.Error {
	return fault.New(fault.InvalidRequest, message).WithParam(param)
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

// parents reads what makes the request a continuation of upstream state.
func (w *requestWalk) parents(m body.Members) *fault.Error {
	if id := m.Raw("previous_response_id"); id != nil {
		if w.req.PrevResponse == "" {
			return invalid("previous_response_id", "\"previous_response_id\" must not be empty.")
		}
		w.req.Continuation = true
		w.ref(protocol.KindResponse, id, &place{key: "previous_response_id"})
	}
	id, at := m.Raw("conversation"), &place{key: "conversation"}
	if id == nil {
		return nil
	}
	if jsonscan.KindOf(id) == jsonscan.KindObject {
		id, at = jsonscan.Get(id, "id"), at.member("id")
	}
	if str(id) == "" {
		return invalid("conversation", "\"conversation\" must name a conversation.")
	}
	w.req.Continuation = true
	w.ref(protocol.KindConversation, id, at)
	return nil
}

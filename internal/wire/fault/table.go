package fault

// The gateway's own codes.
const (
	InvalidJSON              = "invalid_json"
	InvalidRequest           = "invalid_request"
	UnsupportedParameter     = "unsupported_parameter"
	UnsupportedSurface       = "unsupported_surface"
	UnsupportedEvent         = "unsupported_event"
	InvalidStreamID          = "invalid_stream_id"
	PreviousResponseNotFound = "previous_response_not_found"
	ConnectionLimitReached   = "websocket_connection_limit_reached"
	InvalidAPIKey            = "invalid_api_key"
	ExpiredAPIKey            = "expired_api_key"
	ModelNotAllowed          = "model_not_allowed"
	ModelNotFound            = "model_not_found"
	NotFound                 = "not_found"
	InsufficientBalance      = "insufficient_balance"
	KeyBudgetExceeded        = "key_budget_exceeded"
	IdempotencyConflict      = "idempotency_key_conflict"
	IdempotencyInProgress    = "idempotency_in_progress"
	PayloadTooLarge          = "payload_too_large"
	UnsupportedEncoding      = "unsupported_encoding"
	RateLimitExceeded        = "rate_limit_exceeded"
	ConcurrencyLimit         = "concurrency_limit"
	ResponseAlreadyActive    = "response_already_active"
	InternalError            = "internal_error"
	ResponseFailed           = "response_failed"
	WebSocketResponseFailed  = "websocket_response_failed"
	UpstreamError            = "upstream_error"
	UpstreamAuth             = "upstream_auth"
	ConnectFailed            = "connect_failed"
	StreamReadError          = "stream_read_error"
	UpstreamStreamError      = "upstream_stream_error"
	UpstreamBufferLimit      = "upstream_stream_buffer_limit"
	AllChannelsFailed        = "all_channels_failed"
	UpstreamBalance          = "upstream_balance"
	StoreUnavailable         = "store_unavailable"
	Overloaded               = "overloaded"
	ShuttingDown             = "shutting_down"
	HeaderTimeout            = "header_timeout"
	AnswerTimeout            = "answer_timeout"
	FirstEventTimeout        = "first_event_timeout"
	FirstOutputTimeout       = "first_output_timeout"
	StreamIdleTimeout        = "stream_idle_timeout"
	RequestTimeout           = "request_timeout"
)

// Row is one line of the error reference; docs/errors.md is generated from
// the table.
type Row struct {
	Code      string
	Status    int
	Type      string // OpenAI surfaces
	Retryable bool   // unless what was delivered or may have executed forbids it
	Happened  string // what happened; also the default message
	Advice    string // what to do
	AtFault   string // who is at fault: client, operator, upstream, gateway
	Charged   string // no; delivered: what was delivered is charged
}

const (
	typeInvalid = "invalid_request_error"
	typeAuth    = "authentication_error"
	typePerm    = "permission_error"
	typeMissing = "not_found_error"
	typeRate    = "rate_limit_error"
	typeQuota   = "insufficient_quota"
	typeServer  = "server_error"
)

// table lists every code of the gateway's own, once.
var table = [...]Row{
	{InvalidJSON, 400, typeInvalid, false, "The request body is not valid JSON.", "Send one JSON object.", "client", "no"},
	{InvalidRequest, 400, typeInvalid, false, "The request is not valid.", "Correct the named parameter.", "client", "no"},
	{UnsupportedParameter, 400, typeInvalid, false, "The request uses a parameter that this gateway does not support.", "Leave the named parameter out.", "client", "no"},
	{UnsupportedSurface, 400, typeInvalid, false, "No channel of this model speaks this API.", "Use one of the surfaces that the message names.", "client", "no"},
	{UnsupportedEvent, 400, typeInvalid, false, "This event is not supported on the socket.", "Send response.create as one text frame.", "client", "no"},
	{InvalidStreamID, 400, typeInvalid, false, "stream_id is not supported.", "Leave stream_id out; one response runs at a time.", "client", "no"},
	{PreviousResponseNotFound, 400, typeInvalid, false, "Previous response not found.", "Send the full input without previous_response_id.", "client", "no"},
	{ConnectionLimitReached, 400, typeInvalid, false, "The connection has reached its maximum age.", "Open a new connection.", "client", "delivered"},
	{InvalidAPIKey, 401, typeAuth, false, "The API key is missing or not valid.", "Send a key of this gateway as Authorization: Bearer rk-….", "client", "no"},
	{ExpiredAPIKey, 401, typeAuth, false, "The API key has expired.", "Ask the operator for a new key.", "client", "no"},
	{ModelNotAllowed, 403, typePerm, false, "This key may not use this model.", "Use a model that GET /v1/models lists.", "client", "no"},
	{ModelNotFound, 404, typeMissing, false, "The model does not exist here.", "Use a model that GET /v1/models lists.", "client", "no"},
	{NotFound, 404, typeMissing, false, "There is no such thing here.", "Check the path or the id.", "client", "no"},
	{InsufficientBalance, 402, typeQuota, false, "The balance does not cover this request.", "Add credit, or lower the request's maximum of output tokens.", "client", "no"},
	{KeyBudgetExceeded, 402, typeQuota, false, "The budget of this key is used up.", "Wait for the next period, or raise the key's budget.", "client", "no"},
	{IdempotencyConflict, 409, typeInvalid, false, "This Idempotency-Key was used with another request.", "Use a new key for a new request.", "client", "no"},
	{IdempotencyInProgress, 409, typeInvalid, true, "A request with this Idempotency-Key is still running on another node.", "Repeat after retry-after.", "client", "no"},
	{PayloadTooLarge, 413, typeInvalid, false, "The request body is too large.", "Send a smaller body.", "client", "no"},
	{UnsupportedEncoding, 415, typeInvalid, false, "The request body has an encoding that is not read here.", "Send the body as it is, or as gzip or zstd.", "client", "no"},
	{RateLimitExceeded, 429, typeRate, true, "The rate limit of this key is reached.", "Repeat after retry-after.", "client", "no"},
	{ConcurrencyLimit, 429, typeRate, true, "Too many requests of this key are running.", "Wait until one has ended.", "client", "no"},
	{ResponseAlreadyActive, 429, typeRate, true, "A response is active on this connection and its queue is full.", "Wait for the running responses to end.", "client", "no"},
	{InternalError, 500, typeServer, true, "The gateway failed.", "Repeat; report the request id if it stays.", "gateway", "no"},
	{ResponseFailed, 500, typeServer, true, "The gateway failed while it chose another channel.", "Repeat; report the request id if it stays.", "gateway", "no"},
	{WebSocketResponseFailed, 500, typeServer, true, "The gateway failed while it chose another channel.", "Repeat; report the request id if it stays.", "gateway", "no"},
	{UpstreamError, 502, typeServer, true, "The provider gave no usable answer.", "Repeat if retryable.", "upstream", "delivered"},
	{UpstreamAuth, 502, typeServer, false, "The provider refused the gateway's credential.", "Nothing; the operator is told.", "operator", "no"},
	{ConnectFailed, 502, typeServer, true, "The provider could not be reached.", "Repeat.", "upstream", "no"},
	{StreamReadError, 502, typeServer, true, "The provider's stream broke off.", "Repeat if retryable; after output, decide what to keep.", "upstream", "delivered"},
	{UpstreamStreamError, 502, typeServer, true, "The provider's stream broke off.", "Repeat if retryable; after output, decide what to keep.", "upstream", "delivered"},
	{UpstreamBufferLimit, 502, typeServer, false, "The provider sent more than the gateway may hold.", "Ask the operator for higher limits.", "upstream", "delivered"},
	{AllChannelsFailed, 503, typeServer, true, "No channel of this model is available.", "Repeat after retry-after.", "operator", "no"},
	{UpstreamBalance, 503, typeServer, true, "The provider account of the gateway is exhausted.", "Repeat later; the operator is told.", "operator", "no"},
	{StoreUnavailable, 503, typeServer, true, "The gateway's database is not available.", "Repeat after retry-after.", "gateway", "no"},
	{Overloaded, 503, typeServer, true, "The gateway is at its limit.", "Repeat after retry-after.", "gateway", "no"},
	{ShuttingDown, 503, typeServer, true, "The gateway is shutting down.", "Repeat on a new connection.", "gateway", "delivered"},
	{HeaderTimeout, 504, typeServer, true, "The provider did not begin to answer in time.", "Repeat if retryable.", "upstream", "no"},
	{AnswerTimeout, 504, typeServer, true, "The provider did not answer in time.", "Repeat if retryable.", "upstream", "no"},
	{FirstEventTimeout, 504, typeServer, true, "The provider sent no event in time.", "Repeat if retryable.", "upstream", "no"},
	{FirstOutputTimeout, 504, typeServer, true, "The provider sent no output in time.", "Repeat if retryable.", "upstream", "no"},
	{StreamIdleTimeout, 504, typeServer, true, "The provider's stream fell silent.", "Repeat if retryable; after output, decide what to keep.", "upstream", "delivered"},
	{RequestTimeout, 504, typeServer, true, "The request took longer than allowed.", "Ask for less, or repeat if retryable.", "upstream", "delivered"},
}

// Table gives a copy of all rows, in order.
func Table() []Row { return append([]Row(nil), table[:]...) }

// Lookup finds a code of the gateway's own.
func Lookup(code string) (Row, bool) {
	// By index: ranging over the rows would copy the table, onto the stack of
	// every stream that this is inlined into.
	for i := range table {
		if table[i].Code == code {
			return table[i], true
		}
	}
	return Row{}, false
}

// TypeFor is the OpenAI surfaces' error type for a status.
func TypeFor(status int) string {
	switch {
	case status == 401:
		return typeAuth
	case status == 402:
		return typeQuota
	case status == 403:
		return typePerm
	case status == 404:
		return typeMissing
	case status == 429:
		return typeRate
	case status >= 500:
		return typeServer
	}
	return typeInvalid
}

// MessagesTypeFor is the Messages surface's error type for a status.
func MessagesTypeFor(status int) string {
	switch {
	case status == 401:
		return "authentication_error"
	case status == 402:
		return "billing_error"
	case status == 403:
		return "permission_error"
	case status == 404:
		return "not_found_error"
	case status == 413:
		return "request_too_large"
	case status == 429:
		return "rate_limit_error"
	case status == 503, status == 529:
		return "overloaded_error"
	case status == 504:
		return "timeout_error"
	case status >= 500:
		return "api_error"
	}
	return "invalid_request_error"
}

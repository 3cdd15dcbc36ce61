package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"rubicon/internal/api/idempotency"
	"rubicon/internal/api/pressure"
	"rubicon/internal/books/account"
	"rubicon/internal/config"
	"rubicon/internal/engine/turn"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

// serve is the handler of one surface.
func (a *api) serve(s Surface) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		received := time.Now()
		who, f := a.authenticate(r)
		if f != nil && who.Customer.ID == "" { // nobody's request, and on nobody's record
			a.refuse(w, r, s.Protocol, f)
			return
		}
		defer pressure.Busy(r.Context())()
		req := &turn.Request{
			ID: requestID(r), Principal: who, Surface: s.Surface, Protocol: s.Protocol,
			Header: UpstreamHeaders(r.Header), ClientRequestID: fault.Clip(r.Header.Get("X-Client-Request-Id")), Session: Session(r.Header),
			Received: received, Uncharged: s.Uncharged, Delivery: r.Header.Get(DeliveryHeader),
			OnLimits: limitHeaders(w.Header()),
		}
		defer req.Leave()
		if f == nil {
			f = Delivery(req.Delivery)
		}
		if f == nil {
			if f = a.enter(r, req); f != nil {
				a.glance(w, r, req)
			}
		}
		if f == nil {
			f = a.read(w, r, req)
		}
		if f == nil {
			f = a.answer(w, r, req)
		}
		if f != nil {
			a.Engine.Refused(r.Context(), req, f)
			a.refuse(w, r, s.Protocol, f)
		}
	}
}

// DeliveryHeader is how a request asks for a delivery of its own.
const DeliveryHeader = "Rubicon-Delivery"

// Delivery refuses a delivery that does not exist.
func Delivery(wanted string) *fault.Error {
	switch wanted {
	case "", config.DeliveryStream, config.DeliveryAtomic:
		return nil
	}
	return fault.Newf(fault.InvalidRequest, "The header rubicon-delivery must be %s or %s.", config.DeliveryStream, config.DeliveryAtomic).WithParam("rubicon-delivery")
}

// enter refuses a request that would not run whatever it says, before anything
// of its body is read. A repeat of what runs or has run needs no place of its
// own.
func (a *api) enter(r *http.Request, req *turn.Request) *fault.Error {
	f := a.Engine.Enter(req)
	if f == nil || f.Code == fault.Overloaded || a.Idempotency == nil {
		return f
	}
	key, bad := idempotency.Key(r.Header)
	if bad != nil || key == "" || !a.Idempotency.Knows(r.Context(), req.Principal.Customer.ID, key) {
		return f
	}
	return nil
}

// glance reads a small body of a request that is refused, for its record to
// name the model. It is read away anyway.
func (a *api) glance(w http.ResponseWriter, r *http.Request, req *turn.Request) {
	if r.ContentLength > 0 && r.ContentLength <= glanced && r.Header.Get("Content-Encoding") == "" {
		req.Body, _ = a.readBody(w, r, nil)
	}
}

// glanced is how large such a body may be.
const glanced = 32 << 10

// read takes in the body and what the rules need to know of it.
func (a *api) read(w http.ResponseWriter, r *http.Request, req *turn.Request) (f *fault.Error) {
	upload := a.Uploads.Begin(req.Principal.Customer.ID, r.RemoteAddr)
	defer upload.End()
	if req.Body, f = a.readBody(w, r, upload); f == nil {
		req.Parsed, f = req.Protocol.ParseRequest(req.Body)
	}
	return f
}

// authenticate finds out who calls; beside a fault, whose key it was, if that is
// known.
func (a *api) authenticate(r *http.Request) (account.Principal, *fault.Error) {
	_, who, f := Caller(r, a.Accounts)
	return who, f
}

// Caller finds the key of ours that a request carries and whose it is; beside a
// fault, whose key it was, if that is known. Tools send their own provider's key
// in one header and ours in the other, so that one which is not ours counts only
// if there is no other.
func Caller(r *http.Request, accounts *account.Accounts) (key string, who account.Principal, f *fault.Error) {
	keys := keysOf(r.Header)
	if len(keys) == 0 {
		return "", who, fault.New(fault.InvalidAPIKey, "No API key. Send Authorization: Bearer rk-….")
	}
	for _, key := range keys {
		who, err := accounts.Lookup(r.Context(), key)
		if !errors.Is(err, account.ErrUnknownKey) {
			return key, who, KeyFault(err)
		}
	}
	return "", who, KeyFault(account.ErrUnknownKey)
}

// mostKeys bounds how many keys of one request are looked up.
const mostKeys = 4

// keysOf are the keys that a request carries, in the order in which they are
// tried. Keys come in headers alone; a query string ends up in logs.
func keysOf(h http.Header) (keys []string) {
	add := func(key string) {
		if key = strings.TrimSpace(key); key != "" && len(keys) < mostKeys {
			keys = append(keys, key)
		}
	}
	for _, value := range h.Values("Authorization") {
		if scheme, key, ok := strings.Cut(value, " "); ok && strings.EqualFold(scheme, "Bearer") {
			add(key)
		}
	}
	for _, value := range h.Values("X-Api-Key") {
		add(value)
	}
	return keys
}

// wantsMessages: the caller speaks Anthropic's API, or asks for what both have.
func wantsMessages(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/v1/messages") || r.Header.Get("Anthropic-Version") != ""
}

// KeyFault is what a client is told of a key that was not accepted.
func KeyFault(err error) *fault.Error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, account.ErrExpiredKey):
		return fault.New(fault.ExpiredAPIKey, "")
	case errors.Is(err, account.ErrUnknownKey), errors.Is(err, account.ErrRevokedKey), errors.Is(err, account.ErrSuspended):
		return fault.New(fault.InvalidAPIKey, "The API key is not valid here.")
	}
	return fault.New(fault.StoreUnavailable, "").WithCause(err)
}

// upstreamHeaders lists the client headers that may travel upstream; everything else,
// credentials first of all, stays here.
var upstreamHeaders = [...]string{"Accept", "Openai-Beta", "Anthropic-Version", "Anthropic-Beta", "Traceparent", "Tracestate"}

// UpstreamHeaders picks the headers that may travel upstream.
func UpstreamHeaders(h http.Header) http.Header {
	out := http.Header{}
	for _, name := range upstreamHeaders {
		if v := h.Values(name); len(v) > 0 {
			out[name] = v
		}
	}
	return out
}

// Session is the client's own session id, for affinity.
func Session(h http.Header) string {
	for _, name := range [...]string{"Session_id", "Session-Id", "X-Session-Id", "X-Claude-Code-Session-Id"} {
		if v := h.Get(name); v != "" {
			return fault.Clip(v)
		}
	}
	return ""
}

// refuse answers a request that the engine did not run.
func (a *api) refuse(w http.ResponseWriter, r *http.Request, p *protocol.Protocol, f *fault.Error) {
	f.RequestID = requestID(r)
	discardBody(w, r)
	writeFault(w, f, p.ErrorBody(f))
}

// fail is refuse for paths that are no surface.
func (a *api) fail(w http.ResponseWriter, r *http.Request, f *fault.Error) { Fail(w, r, f) }

// Fail answers a request that no protocol speaks for.
func Fail(w http.ResponseWriter, r *http.Request, f *fault.Error) {
	f.RequestID = requestID(r)
	discardBody(w, r)
	body := fault.OpenAIBody(f)
	if wantsMessages(r) {
		body = fault.MessagesBody(f)
	}
	writeFault(w, f, body)
}

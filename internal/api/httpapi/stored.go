package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"rubicon/internal/books/account"
	"rubicon/internal/books/state"
	"rubicon/internal/config"
	"rubicon/internal/engine/turn"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/engine/wording"
	"rubicon/internal/store"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/ident"
	"rubicon/internal/wire/protocol/responses"
)

// Stored responses live at their origin and are shown to their owner alone; a
// foreign id looks exactly like an unknown one. Reading and deleting makes no
// hold and no record.

func (a *api) storedGet(w http.ResponseWriter, r *http.Request, who account.Principal) *fault.Error {
	if r.URL.Query().Get("stream") == "true" {
		return fault.New(fault.UnsupportedParameter, "Stored responses are not streamed; leave stream out.").WithParam("stream")
	}
	_, f := a.stored(w, r, who, "")
	return f
}

func (a *api) storedItems(w http.ResponseWriter, r *http.Request, who account.Principal) *fault.Error {
	_, f := a.stored(w, r, who, "/input_items")
	return f
}

func (a *api) storedDelete(w http.ResponseWriter, r *http.Request, who account.Principal) *fault.Error {
	deleted, f := a.stored(w, r, who, "")
	if f != nil || !deleted {
		return f
	}
	err := a.DB.Write(context.WithoutCancel(r.Context()), func(tx *store.Tx) error {
		return a.States.Forget(tx, who.Customer.ID, state.KindResponse, r.PathValue("id"))
	})
	if err != nil {
		a.Log.Error("forgetting a deleted response", "error", err)
	}
	return nil
}

// stored passes a call about a stored response to its origin. It tells whether
// upstream agreed.
func (a *api) stored(w http.ResponseWriter, r *http.Request, who account.Principal, sub string) (bool, *fault.Error) {
	id := r.PathValue("id")
	missing := fault.Newf(fault.NotFound, "Response with id '%s' not found.", fault.Clip(id))
	e, ok, err := a.States.Lookup(r.Context(), who.Customer.ID, state.KindResponse, id)
	if err != nil {
		return false, fault.New(fault.StoreUnavailable, "").WithCause(err)
	}
	if !ok || e.StoreOff {
		return false, missing
	}
	ch, cred := a.channelOf(e)
	if ch == nil {
		return false, fault.New(fault.AllChannelsFailed, "The upstream account that holds this response is not configured any more.")
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet // the server leaves the body out
	}
	call := &upstream.Call{Channel: ch, Credential: cred, Method: method, Path: "/responses/" + url.PathEscape(id) + sub, Query: withoutKeys(r.URL.RawQuery),
		Header: UpstreamHeaders(r.Header), Timers: a.Config().Timers, MaxEvent: a.Config().Limits.Event}
	answer, failed := a.Upstream.Do(r.Context(), call)
	if failed != nil {
		return false, storedFault(failed, ch, missing)
	}
	answer = wording.StoredAnswer(answer, ch)
	writeJSON(w, answer.Status, answer.Body)
	return true, nil
}

// withoutKeys drops parameters that hold a key of this gateway: they identify
// nobody here, and go nowhere.
func withoutKeys(query string) string {
	pairs := strings.Split(query, "&")
	return strings.Join(slices.DeleteFunc(pairs, func(pair string) bool {
		_, value, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(value)
		return err != nil || strings.HasPrefix(strings.TrimPrefix(plain, "Bearer "), ident.KeyPrefix)
	}), "&")
}

// storedFault is what a client learns of a failed call about a stored response.
func storedFault(f *upstream.Failure, ch *config.Channel, missing *fault.Error) *fault.Error {
	if f.Status == http.StatusNotFound {
		return missing
	}
	p := responses.Protocol()
	return turn.ErrorOfCall(f, &p, ch)
}

// channelOf finds a channel and credential of the origin that holds the state: the
// channel that made it first, else another of the same account.
func (a *api) channelOf(e state.Entry) (*config.Channel, *config.Credential) {
	cfg := a.Config()
	if ch := cfg.Channel(e.Channel); ch != nil {
		if cred, ok := credentialOf(ch, e.Origin); ok {
			return ch, cred
		}
	}
	for i := range cfg.Channels {
		ch := &cfg.Channels[i]
		if cred, ok := credentialOf(ch, e.Origin); ok && ch.Protocol == config.ProtocolResponses {
			return ch, cred
		}
	}
	return nil, nil
}

func credentialOf(ch *config.Channel, origin string) (*config.Credential, bool) {
	if len(ch.Credentials) == 0 {
		return nil, ch.OriginOf("") == origin
	}
	for i := range ch.Credentials {
		if ch.OriginOf(ch.Credentials[i].Name) == origin {
			return &ch.Credentials[i], true
		}
	}
	return nil, false
}

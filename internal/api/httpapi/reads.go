package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"rubicon/internal/api/pressure"
	"rubicon/internal/books/account"
	"rubicon/internal/books/journal"
	"rubicon/internal/wire/fault"
)

// withKey is a handler that knows who calls.
func (a *api) withKey(h func(http.ResponseWriter, *http.Request, account.Principal) *fault.Error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, f := a.authenticate(r)
		if f == nil {
			defer pressure.Busy(r.Context())()
			f = h(w, r, who)
		}
		if f != nil {
			a.fail(w, r, f)
		}
	}
}

// modelView is a model in the words of both OpenAI's and Anthropic's lists.
type modelView struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Type        string `json:"type"`
	Created     int64  `json:"created"`
	CreatedAt   string `json:"created_at"`
	OwnedBy     string `json:"owned_by"`
	DisplayName string `json:"display_name"`
}

// viewOf shows a model. created is the zero time where nobody knows it.
func viewOf(name string, created time.Time) modelView {
	if created.IsZero() {
		created = time.Unix(0, 0)
	}
	return modelView{ID: name, Object: "model", Type: "model", Created: created.Unix(), CreatedAt: created.UTC().Format(time.RFC3339), OwnedBy: "rubicon", DisplayName: name}
}

func (a *api) models(w http.ResponseWriter, _ *http.Request, who account.Principal) *fault.Error {
	list := []modelView{}
	cfg := a.Config()
	for i := range cfg.Models {
		if who.MayUse(cfg.Models[i].Name) {
			list = append(list, viewOf(cfg.Models[i].Name, cfg.CreatedOf(&cfg.Models[i])))
		}
	}
	page := map[string]any{"object": "list", "data": list, "has_more": false, "first_id": nil, "last_id": nil}
	if n := len(list); n > 0 {
		page["first_id"], page["last_id"] = list[0].ID, list[n-1].ID
	}
	return reply(w, page)
}

func (a *api) model(w http.ResponseWriter, r *http.Request, who account.Principal) *fault.Error {
	name := r.PathValue("id")
	cfg := a.Config()
	m := cfg.Model(name)
	if m == nil || !who.MayUse(name) {
		return fault.Newf(fault.ModelNotFound, "The model %q does not exist here.", fault.Clip(name))
	}
	return reply(w, viewOf(name, cfg.CreatedOf(m)))
}

func (a *api) balance(w http.ResponseWriter, r *http.Request, who account.Principal) *fault.Error {
	b, err := a.Ledger.Balance(r.Context(), who.Customer.ID)
	if err != nil {
		return fault.New(fault.StoreUnavailable, "").WithCause(err)
	}
	return reply(w, map[string]any{"available": b.Available, "held": b.Held, "currency": "USD"})
}

func (a *api) requests(w http.ResponseWriter, r *http.Request, who account.Principal) *fault.Error {
	q := r.URL.Query()
	f := journal.Filter{Customer: who.Customer.ID, Model: q.Get("model"), ResponseID: q.Get("response_id"),
		Outcome: journal.Outcome(q.Get("outcome")), Cursor: q.Get("cursor")}
	if s := q.Get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 1000 {
			return fault.New(fault.InvalidRequest, "limit must be a number from 1 to 1000.").WithParam("limit")
		}
		f.Limit = n
	}
	if s := q.Get("since"); s != "" {
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return fault.New(fault.InvalidRequest, "since must be an RFC 3339 time.").WithParam("since")
		}
		f.Since = at
	}
	list, next, err := a.Journal.List(r.Context(), f)
	switch {
	case errors.Is(err, journal.ErrOutcome):
		return fault.New(fault.InvalidRequest, "outcome must be one that a record has, like completed or failed.").WithParam("outcome")
	case errors.Is(err, journal.ErrCursor):
		return fault.New(fault.InvalidRequest, "cursor must be the next of an earlier page.").WithParam("cursor")
	case err != nil:
		return fault.New(fault.StoreUnavailable, "").WithCause(err)
	}
	out := make([]journal.Record, len(list))
	for i := range list {
		out[i] = list[i].ForCustomer(a.alias)
	}
	return reply(w, map[string]any{"requests": out, "next": next})
}

func (a *api) request(w http.ResponseWriter, r *http.Request, who account.Principal) *fault.Error {
	rec, err := a.Journal.Get(r.Context(), r.PathValue("id"))
	if errors.Is(err, journal.ErrNotFound) || err == nil && rec.Customer != who.Customer.ID {
		return fault.Newf(fault.NotFound, "No request with id '%s' was found.", fault.Clip(r.PathValue("id")))
	}
	if err != nil {
		return fault.New(fault.StoreUnavailable, "").WithCause(err)
	}
	return reply(w, rec.ForCustomer(a.alias))
}

// alias is the name under which customers see a channel.
func (a *api) alias(channel string) string {
	if c := a.Config().Channel(channel); c != nil {
		return c.PublicName()
	}
	return channel
}

func reply(w http.ResponseWriter, v any) *fault.Error {
	body, err := json.Marshal(v)
	if err != nil {
		return fault.New(fault.InternalError, "").WithCause(err)
	}
	writeJSON(w, http.StatusOK, body)
	return nil
}

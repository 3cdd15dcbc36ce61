// Package admin is the operator's HTTP API: customers, keys, credit, the
// ledger, channels, records, alerts, metrics.
//
// It is for decoding, checking the token and answering. It is not for rules:
// what may be reversed, what a pause means and who may call stands in the
// packages that own it. It does not listen; package app does.
//
// Invariants: nothing but /healthz answers without the admin token; every
// route stands in one table (routes.go) that drives the mux and the OpenAPI
// document alike; every failure is the one error envelope; no answer holds a
// secret but that of a key just created.
package admin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"rubicon/internal/books/account"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/books/versions"
	"rubicon/internal/config"
	"rubicon/internal/wire/ident"
)

// Deps is what the API works on. What is nil is answered with an empty list
// (Alerts, Prices), or with 404 (Channels, Planner, Metrics).
type Deps struct {
	Token    config.Secret
	Accounts *account.Accounts
	Ledger   *ledger.Ledger
	Verify   func(context.Context) (ledger.Report, error) // nil: the Ledger's own
	Journal  *journal.Journal
	Channels Channels
	Planner  Planner
	Alerts   Alerts
	Prices   *versions.Lists
	HasModel func(public string) bool // nil: nobody knows
	Metrics  http.Handler             // serves /metrics; the token is checked before it
	IDs      *ident.Source
	Log      *slog.Logger
	// Profiling mounts /debug/pprof/, behind the token too.
	Profiling bool
	// Version stands in the OpenAPI document.
	Version string
}

// What the interfaces below refuse with, wrapped or not.
var (
	// ErrUnknown: no channel, credential or public model of that name (404).
	ErrUnknown = errors.New("no such channel, credential or public model")
	// ErrInvalid: the name exists, but the change makes no sense (400).
	ErrInvalid = errors.New("invalid change")
)

// Channels shows the health of the channels and takes the operator's word.
type Channels interface {
	// Channels gives one row per channel and public model, in the order of the
	// configuration.
	Channels(ctx context.Context) ([]Channel, error)
	// Override applies and keeps an operator's change. It returns ErrUnknown
	// for a name that is not configured.
	Override(ctx context.Context, o Override) error
}

// Planner tells what would be chosen now, without choosing it.
type Planner interface {
	// Plan gives the decision for a public model, every candidate with why it
	// is not taken. protocol is responses, chat, messages or "" for the first
	// one that the model has. It returns ErrUnknown for a model that is not
	// configured.
	Plan(ctx context.Context, publicModel, protocol string) (journal.Decision, error)
}

// Alerts reads what operators were told.
type Alerts interface {
	// Alerts lists newest first; next is the cursor of the following page or "".
	Alerts(ctx context.Context, p Page) (list []Alert, next string, err error)
}

// Page asks for one page of a list.
type Page struct {
	Cursor string
	Limit  int // 1 to 1000
}

// New makes the API. It serves /admin/v1/…, /metrics, /healthz and, if asked
// to, /debug/pprof/.
func New(d Deps) http.Handler {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	a := &api{Deps: d}
	return a.handler()
}

type api struct{ Deps }

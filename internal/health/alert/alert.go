// Package alert reports to operators what they should know: a line in the log, a row
// in the table that the admin API shows, and a signed webhook.
//
// It is not for deciding what is wrong (health, ledger and others raise), nor
// for what the gateway does about it.
//
// Invariants: raising never waits for the database or the network; what still
// holds is reported once and not again; what is in the table is delivered to the
// webhook at least once, over restarts, or marked as given up; neither the
// webhook's address nor its secret is ever logged or stored.
package alert

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"rubicon/internal/health"
	"rubicon/internal/money/price"
	"rubicon/internal/store"
	"rubicon/internal/wire/ident"
)

// Kind says what an alert is about.
type Kind string

// The kinds. Those of routes are the words of package health, and that of usage
// is the flag of package price.
const (
	CredentialDisabled      = Kind(health.CredentialDisabledEvent)
	CredentialEnabled       = Kind(health.CredentialEnabledEvent)
	CredentialPaused        = Kind(health.CredentialPaused) // the upstream account is empty
	CredentialResumed       = Kind(health.CredentialResumed)
	ChannelPaused           = Kind(health.ChannelPaused)
	ChannelResumed          = Kind(health.ChannelResumed)
	BreakerOpened           = Kind(health.BreakerOpened)
	BreakerClosed           = Kind(health.BreakerClosed)
	ChannelUnfit            = Kind(health.ChannelUnfit)
	UsageAnomaly            = Kind(price.FlagAnomaly)
	LedgerDifference   Kind = "ledger_difference"
	LedgerAgrees       Kind = "ledger_agrees"
	SettlementBacklog  Kind = "settlement_backlog"
	SettlementCaughtUp Kind = "settlement_caught_up"
	SpoolDamaged       Kind = "spool_damaged"
)

// States of an alert.
const (
	Firing   = "firing"   // it still holds, as far as is known
	Resolved = "resolved" // it is over, or it reports that something is
)

// ErrInvalid is the error for a page that does not exist.
var ErrInvalid = errors.New("invalid cursor")

// Event is what a caller raises. What does not apply stays empty.
type Event struct {
	Kind       Kind
	At         time.Time // zero: now
	Channel    string
	Credential string
	Model      string // the upstream model
	Reason     string // why, or what differs
	Actor      string // the operator who did it
	Until      time.Time
}

// Alert is an event as the table keeps it.
type Alert struct {
	ID         string
	At         time.Time
	Kind       Kind
	Channel    string
	Credential string
	Model      string
	Message    string
	State      string
}

// Options are what a Book works with. DB, IDs and Log are required.
type Options struct {
	DB     *store.DB
	IDs    *ident.Source
	Log    *slog.Logger
	Now    func() time.Time // time.Now
	Target func() Target    // where the webhook is, asked before every delivery; nil: nowhere
	Dial   Dial             // the real network
	Raised func(Kind)       // called with every new alert, for metrics; must return at once; may be nil
}

const idPrefix = "alert"

// waiting bounds the alerts that are not in the table yet. Each stands for
// something that changed, so that more of them means the database has been away
// for long.
const waiting = 1024

// Book keeps the alerts of one gateway.
type Book struct {
	Options
	hook           *webhook
	queue          chan entry
	wakeDeliveries chan struct{} // wakes the deliveries

	mu   sync.Mutex
	open map[subject]firing
}

// subject is what an alert is about: while one is open, the same is not reported again.
type subject struct {
	kind                       Kind
	channel, credential, model string
}

// firing is an open alert.
type firing struct {
	id string
	at time.Time
}

// entry is an alert on its way to the table.
type entry struct {
	Alert
	resolves string // id of the alert that this one ends, or takes the place of
}

// Open reads which alerts are still open. Run must be called for anything to
// reach the table.
func Open(ctx context.Context, o Options) (*Book, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Target == nil {
		o.Target = func() Target { return Target{} }
	}
	b := &Book{Options: o, hook: newWebhook(o.Dial), queue: make(chan entry, waiting), wakeDeliveries: make(chan struct{}, 1), open: map[subject]firing{}}
	list, err := b.firing(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the open alerts: %w", err)
	}
	for _, a := range list {
		b.open[a.subject()] = firing{a.ID, a.At}
	}
	return b, nil
}

func (a Alert) subject() subject { return subject{a.Kind, a.Channel, a.Credential, a.Model} }

// Raise takes an event in. It returns at once, whatever the database does, and
// ignores what is known already.
func (b *Book) Raise(e Event) {
	rule, known := kinds[e.Kind]
	if !known {
		return
	}
	if e.At.IsZero() {
		e.At = b.Now()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := entry{Alert: Alert{At: e.At, Kind: e.Kind, Channel: e.Channel, Credential: e.Credential, Model: e.Model, Message: rule.message(e), State: Firing}}
	about := n.subject()
	if rule.resolves != "" {
		about.kind, n.State = rule.resolves, Resolved
	}
	was, isOpen := b.open[about]
	switch {
	case rule.resolves != "" && !isOpen: // its beginning was not reported
		return
	case rule.resolves == "" && isOpen && (rule.lasts == 0 || e.At.Before(was.at.Add(rule.lasts))):
		return
	}
	n.ID, n.resolves = b.IDs.ID(idPrefix), was.id
	if !b.enqueue(n) {
		return
	}
	delete(b.open, about)
	if rule.resolves == "" {
		b.open[about] = firing{n.ID, n.At}
	}
	if b.Raised != nil {
		b.Raised(e.Kind)
	}
}

// enqueue queues an entry, or says in the log that there is no room for it.
func (b *Book) enqueue(n entry) bool {
	select {
	case b.queue <- n:
		return true
	default:
		b.Log.Error("alert dropped: too many wait for the database", "kind", n.Kind, "channel", n.Channel, "message", n.Message)
		return false
	}
}

// ResolveEnded ends the open alerts that do not hold any more, as after a restart or
// a new configuration. It asks for those about routes only.
func (b *Book) ResolveEnded(holds func(Alert) bool) {
	b.mu.Lock()
	var over []Event
	for s := range b.open {
		end, ok := endOf(s.kind)
		if ok && s.channel != "" && !holds(Alert{Kind: s.kind, Channel: s.channel, Credential: s.credential, Model: s.model}) {
			over = append(over, Event{Kind: end, Channel: s.channel, Credential: s.credential, Model: s.model, Reason: reasonGone})
		}
	}
	b.mu.Unlock()
	for _, e := range over {
		b.Raise(e)
	}
}

const reasonGone = "it does not hold any more"

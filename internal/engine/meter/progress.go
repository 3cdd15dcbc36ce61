package meter

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/money/price"
	"rubicon/internal/store"
	"rubicon/internal/wire/protocol"
)

// progressEvery is how often what was delivered is noted, for all streams in
// one transaction.
const progressEvery = time.Second

// Progress is one running request's progress. The turn adds to it, and the
// bookkeeper reads it.
type Progress struct {
	id      string
	Events  atomic.Int64 // output events handed over
	Bytes   atomic.Int64 // UTF-8 bytes of text in them
	Content atomic.Bool  // there was content in them: the customer pays
	route   atomic.Pointer[RunningAttempt]

	noted progressAt // only Run touches it
}

// RunningAttempt is the attempt that runs, and those that were lost before it:
// the operator bears their cost also when the gateway ends during this one.
type RunningAttempt struct {
	Attempt       int               `json:"attempt"`
	Channel       string            `json:"channel"`
	Credential    string            `json:"credential"`
	UpstreamModel string            `json:"upstream_model"`
	BytesPerToken float64           `json:"bytes_per_token,omitempty"` // as learned when it was dispatched
	Earlier       []journal.Attempt `json:"lost,omitempty"`
	Whole         *LiveWhole        `json:"whole,omitempty"`
	Content       bool              `json:"content,omitempty"` // of what was handed over; set when the note is written
}

// LiveWhole is what is known of an answer that its client has in whole, although
// its stream is not over: all of its text and the reason why it ended.
type LiveWhole struct {
	ResponseID string      `json:"response_id,omitempty"`
	Usage      price.Usage `json:"usage"` // tools and tier included
	Reported   bool        `json:"reported,omitempty"`
	Opening    bool        `json:"opening,omitempty"`
}

// seen is what was read of the answer, as billing wants it.
func (w *LiveWhole) seen() protocol.Observed {
	return protocol.Observed{ResponseID: w.ResponseID, Usage: w.Usage, Reported: w.Reported, OpeningUsage: w.Opening, Hosted: w.Usage.Tools, Tier: w.Usage.Tier}
}

// SetAttempt notes the attempt that was dispatched.
func (l *Progress) SetAttempt(r RunningAttempt) { l.route.Store(&r) }

// Whole notes that the client has, or is about to have, the attempt's answer in
// whole; nil: there is more to it after all. Only the turn calls it.
func (l *Progress) Whole(w *LiveWhole) {
	r := *l.route.Load()
	r.Whole = w
	l.route.Store(&r)
}

// now is how far the request has come. The route is read last, because the turn
// changes it before it changes the counters.
func (l *Progress) now() progressAt {
	events, bytes, content := l.Events.Load(), l.Bytes.Load(), l.Content.Load()
	return progressAt{events, bytes, content, l.route.Load()}
}

// runningRequests is the list of running requests.
type runningRequests struct {
	mu   sync.Mutex
	live map[*Progress]struct{}
}

// Track adds a request to the list of running requests; the returned function
// removes it.
func (b *Bookkeeper) Track(id string) (*Progress, func()) {
	l := &Progress{id: id}
	b.running.mu.Lock()
	defer b.running.mu.Unlock()
	if b.running.live == nil {
		b.running.live = map[*Progress]struct{}{}
	}
	b.running.live[l] = struct{}{}
	return l, func() {
		b.running.mu.Lock()
		defer b.running.mu.Unlock()
		delete(b.running.live, l)
	}
}

// Running is how many requests run.
func (b *Bookkeeper) Running() int {
	b.running.mu.Lock()
	defer b.running.mu.Unlock()
	return len(b.running.live)
}

// Run writes progress once a second until ctx ends, and writes the queue back
// when the database is available again.
func (b *Bookkeeper) Run(ctx context.Context) error {
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			b.writeProgress(ctx)
			b.writeBackIfPossible(ctx)
		}
	}
}

// writeProgress writes what has changed. A failure is not fatal: the next tick
// tries again, and the end of the request does not depend on it.
func (b *Bookkeeper) writeProgress(ctx context.Context) {
	changed := b.changed()
	if len(changed) == 0 {
		return
	}
	err := b.db.Write(ctx, func(tx *store.Tx) error {
		for _, c := range changed {
			if err := b.journal.Progress(tx, c.live.id, c.events, c.bytes, c.attemptNote()); err != nil {
				return err
			}
		}
		return nil
	})
	b.noteDatabaseResult(ctx, err)
	if err != nil {
		return
	}
	for _, c := range changed {
		c.live.noted = c.progressAt
	}
}

// NoteNow writes one request's progress without waiting for the next tick. A
// failure is not fatal: the next tick tries again.
func (b *Bookkeeper) NoteNow(ctx context.Context, l *Progress) {
	now := l.now()
	b.noteDatabaseResult(ctx, b.db.Write(ctx, func(tx *store.Tx) error {
		return b.journal.Progress(tx, l.id, now.events, now.bytes, now.attemptNote())
	}))
}

// progressAt is a request's progress at one moment.
type progressAt struct {
	events, bytes int64
	content       bool
	route         *RunningAttempt
}

type progress struct {
	live *Progress
	progressAt
}

// attemptNote is what recovery needs of the route, as the journal keeps it.
func (r progressAt) attemptNote() string {
	if r.route == nil {
		return ""
	}
	route := *r.route
	route.Content = r.content
	raw, err := json.Marshal(route)
	if err != nil {
		return "" // strings and a number always encode
	}
	return string(raw)
}

func (b *Bookkeeper) changed() []progress {
	b.running.mu.Lock()
	defer b.running.mu.Unlock()
	var out []progress
	for l := range b.running.live {
		now := l.now()
		if now != l.noted {
			out = append(out, progress{l, now})
		}
	}
	// In the order of settlements, or the two could deadlock in the database.
	slices.SortFunc(out, func(a, b progress) int { return strings.Compare(a.live.id, b.live.id) })
	return out
}

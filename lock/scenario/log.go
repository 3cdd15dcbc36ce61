package scenario

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// eventLog keeps what the gateway logs: its health events, and its errors,
// which a scenario must expect.
type eventLog struct {
	mu     sync.Mutex
	health []logged
	errors []string
	muted  bool
}

type logged struct {
	at   time.Time
	text string
}

func (l *eventLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (l *eventLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "health" && r.Level < slog.LevelError {
		return nil
	}
	var b strings.Builder
	r.Attrs(func(a slog.Attr) bool {
		if v := a.Value.String(); v != "" {
			b.WriteString(" " + a.Key + "=" + v)
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.muted {
		return nil
	}
	if r.Message == "health" {
		l.health = append(l.health, logged{r.Time, strings.TrimSpace(b.String())})
		return nil
	}
	// When work in the background fails again and again is not what a scenario is
	// about, and with retries at the same instant not even certain: each error
	// counts once, whenever it was.
	if text := r.Message + b.String(); !slices.Contains(l.errors, text) {
		l.errors = append(l.errors, text)
		slices.Sort(l.errors)
	}
	return nil
}

func (l *eventLog) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *eventLog) WithGroup(string) slog.Handler      { return l }

// mute stops listening: what a killed gateway still says was never said.
func (l *eventLog) mute(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.muted = on
}

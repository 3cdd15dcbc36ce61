package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"rubicon/internal/app/watch"
	"rubicon/internal/config"
)

// Source is where the configuration came from, to be read again when it
// changes. The zero value never changes.
type Source struct {
	// Load reads it anew, and tells which files it is made of as far as it was read.
	Load   func() (*config.Config, []string, error)
	Files  []string         // that the first one was made of
	Hangup <-chan os.Signal // reload now
}

// watched is the files to look at.
type watched struct {
	mu    sync.Mutex
	files []string
}

func (w *watched) set(files []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files = files
}

func (w *watched) list() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.files)
}

// watchConfig reloads at every change of the source, until ctx ends.
func (a *App) watchConfig(ctx context.Context) error {
	src := a.opts.Source
	if src.Load == nil {
		return nil
	}
	files := &watched{files: src.Files}
	changed := make(chan struct{}, 1)
	var looking sync.WaitGroup
	looking.Go(func() {
		watch.Run(ctx, func() []string { return slices.Concat(files.list(), a.Config().TLS.Files()) }, func() {
			select {
			case changed <- struct{}{}:
			default:
			}
		})
	})
	defer looking.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-src.Hangup:
		case <-changed:
		}
		cfg, made, err := src.Load()
		if err != nil {
			// What it would be made of is not known: go on watching what was.
			files.set(union(files.list(), made))
			a.refuse(err)
			continue
		}
		files.set(made)
		if err := a.Reload(cfg); err != nil {
			a.refuse(err)
		}
	}
}

func union(a, b []string) []string {
	for _, f := range b {
		if !slices.Contains(a, f) {
			a = append(a, f)
		}
	}
	return a
}

// refuse reports a configuration that was not taken. The old one runs on.
func (a *App) refuse(err error) {
	a.metrics.ConfigRefused()
	running := a.Config().Version()
	var invalid *config.Invalid
	if !errors.As(err, &invalid) {
		a.log.Error("configuration refused; the old one runs on", "running", running, "error", err)
		return
	}
	for _, p := range invalid.Problems {
		a.log.Error("configuration refused; the old one runs on", "running", running, "path", p.Path, "line", p.Line, "problem", p.Message)
	}
}

// Reload takes over a valid configuration, whole or not at all. Requests that
// run finish under the one they began with; health is kept by names. The error
// says what stands against it.
func (a *App) Reload(cfg *config.Config) error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	old := a.Config()
	if fixed := config.ChangedForGood(old, cfg); len(fixed) > 0 {
		return fmt.Errorf("%s cannot change while the gateway runs: restart it, or take the change back", strings.Join(fixed, ", "))
	}
	certificate, err := readCertificate(cfg.TLS)
	if err != nil {
		return err
	}
	a.certificate.Store(certificate)
	if reflect.DeepEqual(old, cfg) {
		a.log.Info("configuration read again: nothing changed", "running", cfg.Version())
		return nil
	}
	if err := a.notePrices(cfg); err != nil {
		return err
	}
	// Health first: a route must be known before a request can choose it.
	a.health.Configure(cfg)
	a.memory.Set(cfg.Limits.Memory)
	a.cfg.Store(cfg)
	a.serveAdmin()
	a.upstream.Retain(cfg)
	a.alerts.ResolveEnded(a.stillHolds)
	a.healthSaver.Changed()
	a.metrics.Configured(cfg.Version(), time.Now(), true)
	a.log.Info("configuration applied", "running", cfg.Version(), "before", old.Version())
	for _, w := range cfg.Warnings() {
		a.log.Warn("configuration", "path", w.Path, "problem", w.Message)
	}
	return nil
}

// readCertificate reads the client listener's certificate; nil without TLS.
func readCertificate(t config.TLS) (*tls.Certificate, error) {
	if !t.Enabled() {
		return nil, nil
	}
	c, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate; check tls: %w", err)
	}
	return &c, nil
}

// tlsConfig serves whatever certificate was read last.
func (a *App) tlsConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return a.certificate.Load(), nil
	}}
}

// serveAdmin puts the admin API of the current configuration into place.
func (a *App) serveAdmin() {
	h := a.adminHandler()
	a.adminAPI.Store(&h)
}

// currentAdmin serves with whatever admin API is in place.
func (a *App) currentAdmin(w http.ResponseWriter, r *http.Request) {
	(*a.adminAPI.Load()).ServeHTTP(w, r)
}

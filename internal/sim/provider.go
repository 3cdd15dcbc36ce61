package sim

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Options of a provider; the zero value is good.
type Options struct {
	// Scripts by upstream model name, or by "METHOD /path" or "METHOD /path model" for other calls (paths
	// without base, ids as {id}: "GET /models", "GET /responses/{id}"). "*" is every other model.
	Scripts map[string]Script
	// Seed goes into every id that the provider makes up, so that two providers never make the same.
	Seed string
}

// Call is one request as it came in, and what became of it.
type Call struct {
	N      int         `json:"n"`   // number of the call of its script, from 1
	Key    string      `json:"key"` // name of the script that played
	Model  string      `json:"model"`
	Method string      `json:"method"`
	Path   string      `json:"path"`
	Query  string      `json:"query,omitempty"`
	Host   string      `json:"host"`
	Conn   int         `json:"conn"` // number of the connection, from 1: shows reuse
	Header http.Header `json:"header"`
	Body   string      `json:"body"`
	At     time.Time   `json:"at"`             // request read
	Gone   time.Time   `json:"gone,omitzero"`  // the peer left while the script was still playing
	Done   time.Time   `json:"done,omitzero"`  // the script had ended, for whatever reason
	Err    string      `json:"err,omitempty"`  // the script could not be played as written
	Sent   int64       `json:"sent,omitempty"` // bytes of the answer's body that were written
}

// Provider plays scripts. It is safe for concurrent use.
type Provider struct{ opts Options }

// New makes a provider. Scripts that do not pass Check panic: they are constants of a test or were loaded.
func New(opts Options) *Provider { return &Provider{opts: opts} }

// Script sets what a model does from its next call on; its call count starts again.
func (p *Provider) Script(key string, s Script) error { return nil }

// Calls gives the calls so far of a model or script name, in order; "" gives all.
func (p *Provider) Calls(model string) []Call { return nil }

// Reset forgets the calls and starts all counts again; scripts stay.
func (p *Provider) Reset() {}

// WaitCalls waits until n calls for the model ("" = any) came in and gives them.
func (p *Provider) WaitCalls(ctx context.Context, model string, n int) ([]Call, error) {
	return nil, nil
}

// WaitDone waits until n calls for the model ("" = any) came in and have ended, and gives them.
func (p *Provider) WaitDone(ctx context.Context, model string, n int) ([]Call, error) {
	return nil, nil
}

// ServeHTTP serves one request on a server that can be hijacked (HTTP/1), and the connection's further ones.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {}

// Serve accepts connections until ctx ends, then closes them all and returns when every one is done.
func (p *Provider) Serve(ctx context.Context, l net.Listener) error { return nil }

// ServeRefusing accepts connections and resets each at once, until ctx ends.
func ServeRefusing(ctx context.Context, l net.Listener) error { return nil }

// DeadAddr gives a loopback address where nobody listens, for dial failures.
func DeadAddr() (string, error) { return "", nil }

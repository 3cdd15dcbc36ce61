package audit

import (
	"net/http"
	"strings"
	"time"

	"rubicon/internal/lab/sim"
)

// observation is one request from both sides.
type observation struct {
	ask      clientRequest
	client   *clientView
	calls    [2][]sim.Call // by provider
	recorded *usageSeen    // what the gateway wrote down; nil: unknown
	// running is how many calls went on although the client had left.
	running int
	sent    time.Time
}

// all is how many calls the request cost.
func (t *observation) all() int { return len(t.calls[primary]) + len(t.calls[fallback]) }

// burst is the most calls inside any window of that length.
func (t *observation) burst(window time.Duration) int {
	var at []time.Time
	for _, calls := range t.calls {
		for _, c := range calls {
			at = append(at, c.At)
		}
	}
	most := 0
	for _, from := range at {
		n := 0
		for _, x := range at {
			if d := x.Sub(from); d >= 0 && d < window {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// answeredBy is the provider that was called last, the one that the answer is
// from when there is one.
func (t *observation) answeredBy() int {
	var at [2]time.Time
	for i, calls := range t.calls {
		for _, c := range calls {
			if c.At.After(at[i]) {
				at[i] = c.At
			}
		}
	}
	if at[fallback].IsZero() || at[primary].After(at[fallback]) {
		return primary
	}
	return fallback
}

// secrets are what must not reach a client: where the providers are, and the
// keys that they were called with.
func (t *observation) secrets() []string {
	out := []string{primaryKey, fallbackKey, orgID}
	for _, calls := range t.calls {
		for _, c := range calls {
			out = append(out, c.Host)
			for _, name := range [...]string{"Authorization", "X-Api-Key", "Api-Key"} {
				if _, key, _ := strings.Cut(" "+c.Header.Get(name), " "); len(key) > 8 {
					out = append(out, strings.TrimPrefix(key, "Bearer "))
				}
			}
		}
	}
	return out
}

// leaks are the secrets that the client saw, keys only by their beginning.
func (t *observation) leaks() []string {
	heard := string(t.client.raw) + " " + headerText(t.client.header)
	var out []string
	for _, s := range t.secrets() {
		if s != "" && strings.Contains(heard, s) && !strings.Contains(strings.Join(out, " "), s) {
			out = append(out, s)
		}
	}
	for i, s := range out {
		if r := []rune(s); !strings.Contains(s, ":") && len(r) > 8 {
			out[i] = string(r[:8]) + "…"
		}
	}
	return out
}

func headerText(h http.Header) string {
	var b strings.Builder
	for _, values := range h {
		b.WriteString(strings.Join(values, " "))
		b.WriteByte(' ')
	}
	return b.String()
}

// orgID is an account id that the providers mention.
const orgID = "org-AuDiT5f0c9e1b7d"

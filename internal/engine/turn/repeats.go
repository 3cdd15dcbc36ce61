package turn

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"rubicon/internal/health"
)

const (
	// repeatTime is how long a failure keeps like requests from its host.
	repeatTime = time.Minute
	// maxRepeats bounds what is remembered, in conversations and bodies.
	maxRepeats = 1 << 13
)

// repeats remembers where requests failed, so that a repeat goes to another host. A
// repeat is a request of the same customer with the same session, or with the same
// body. Without this, a session would keep a client that repeats a request on the
// broken channel. Only a hash of each request is kept.
type repeats struct {
	mu     sync.Mutex
	seed   maphash.Seed // made with the first request
	hosts  map[uint64][]failedAt
	oldest []noted // in the order of their times, one for each note
}

type failedAt struct {
	host string
	at   time.Time
}

type noted struct {
	sign uint64
	at   time.Time
}

// note remembers that a request with these signs failed on a host.
func (r *repeats) note(signs []uint64, host string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hosts == nil {
		r.hosts = map[uint64][]failedAt{}
	}
	for _, sign := range signs {
		others := slices.DeleteFunc(slices.Clone(r.hosts[sign]), func(f failedAt) bool { return f.host == host || now.Sub(f.at) >= repeatTime })
		r.hosts[sign] = append(others, failedAt{host, now})
		r.oldest = append(r.oldest, noted{sign, now})
	}
	r.forget(now)
}

// forget drops what is too old, and the oldest of what is too much.
func (r *repeats) forget(now time.Time) {
	gone := 0
	for _, n := range r.oldest {
		if len(r.oldest)-gone <= maxRepeats && now.Sub(n.at) < repeatTime {
			break
		}
		gone++
		if list := r.hosts[n.sign]; len(list) > 0 && !list[len(list)-1].at.After(n.at) {
			delete(r.hosts, n.sign)
		}
	}
	r.oldest = slices.Delete(r.oldest, 0, gone)
}

// failed lists the hosts where requests with one of these signs failed a short
// time ago.
func (r *repeats) failed(signs []uint64, now time.Time) (hosts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.hosts) == 0 {
		return nil
	}
	for _, sign := range signs {
		for _, f := range r.hosts[sign] {
			if now.Sub(f.at) < repeatTime && !slices.Contains(hosts, f.host) {
				hosts = append(hosts, f.host)
			}
		}
	}
	return hosts
}

// sign is the hash of what a request and its repeat have in common.
func (r *repeats) sign(kind, customer string, what []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seeded())
	_, _ = h.WriteString(kind + "\x00" + customer + "\x00")
	_, _ = h.Write(what)
	return h.Sum64()
}

func (r *repeats) seeded() maphash.Seed {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seed == (maphash.Seed{}) {
		r.seed = maphash.MakeSeed()
	}
	return r.seed
}

// sign makes the hashes by which a repeat of this request is recognised. The body must
// not be released yet.
func (t *turn) sign() {
	customer := t.req.Principal.Customer.ID
	t.signs = []uint64{t.engine.repeats.sign("body", customer, t.req.Body)}
	if own := t.affinity(); own != "" {
		t.signs = append(t.signs, t.engine.repeats.sign("session", customer, []byte(own)))
	}
}

// failedRecently lists the hosts where a request like this one failed.
func (t *turn) failedRecently() []string { return t.engine.repeats.failed(t.signs, time.Now()) }

// noteFailures remembers where the request failed, if it was the route's fault. A
// failure that does not count for the route's health does not count here either.
func (t *turn) noteFailures() {
	for _, a := range t.attempts {
		if a.failed == nil {
			continue
		}
		if r := t.healthResult(a); !r.Aborted && health.EffectOf(r.Failure, r.RateLimit).Touches() {
			t.engine.repeats.note(t.signs, a.route.Host(), time.Now())
		}
	}
}

package health

import (
	"testing"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/wire/classify"
)

// registryTest is a registry with a clock that the test moves.
type registryTest struct {
	*testing.T
	r      *Registry
	cfg    *config.Config
	at     time.Time
	events []Event
}

const upstreamModel = "up"

func key(name string) config.Credential {
	return config.Credential{Name: name, Key: config.NewSecret("sk-" + name)}
}

// configuration has channel "a" with two credentials, "b" with one and "k"
// without any, all serving one public model.
func configuration() *config.Config {
	cfg := config.Default()
	cfg.Channels = []config.Channel{
		{Name: "a", Protocol: config.ProtocolResponses, Credentials: []config.Credential{key("k1"), key("k2")}},
		{Name: "b", Protocol: config.ProtocolResponses, Credentials: []config.Credential{key("k1")}},
		{Name: "k", Protocol: config.ProtocolChat},
	}
	m := config.Model{Name: "public", Timers: cfg.Timers}
	for i := range cfg.Channels {
		m.Channels = append(m.Channels, config.Candidate{Channel: &cfg.Channels[i], UpstreamModel: upstreamModel, Weight: 100})
	}
	cfg.Models = []config.Model{m}
	return &cfg
}

func newBench(t *testing.T) *registryTest {
	b := &registryTest{T: t, at: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), cfg: configuration()}
	b.r = New(Options{Now: func() time.Time { return b.at }, Notify: func(e Event) { b.events = append(b.events, e) }})
	b.r.Configure(b.cfg)
	return b
}

func (b *registryTest) wait(d time.Duration) { b.at = b.at.Add(d) }

func (b *registryTest) view(channel string) View {
	b.Helper()
	return b.r.View(b.cfg.Channel(channel), upstreamModel)
}

// kinds are the kinds of the events since the last call.
func (b *registryTest) kinds() (out []Kind) {
	for _, e := range b.events {
		out = append(out, e.Kind)
	}
	b.events = nil
	return out
}

func route(channel, cred string) Route { return Route{channel, cred, upstreamModel} }

func (b *registryTest) allow(route Route, customer string) *Permit {
	b.Helper()
	p, ok := b.r.Allow(route, customer)
	if !ok {
		b.Fatalf("%+v is refused: %+v", route, b.view(route.Channel))
	}
	return p
}

func (b *registryTest) refused(route Route) {
	b.Helper()
	if _, ok := b.r.Allow(route, "x"); ok {
		b.Fatalf("%+v is allowed: %+v", route, b.view(route.Channel))
	}
}

func (b *registryTest) once(route Route, res Result) {
	b.Helper()
	b.allow(route, "c").Done(res)
}

func (b *registryTest) fail(route Route, f classify.Failure) {
	b.Helper()
	b.once(route, Result{Failure: f})
}

// state checks state and usability of a channel.
func (b *registryTest) state(channel, state string, usable bool) {
	b.Helper()
	if v := b.view(channel); v.State != state || v.Usable != usable {
		b.Fatalf("channel %s is %s (usable %v), want %s (%v): %+v", channel, v.State, v.Usable, state, usable, v)
	}
}

// credential checks state and usability of a credential.
func (b *registryTest) credential(channel, name, state string, usable bool) CredentialView {
	b.Helper()
	for _, k := range b.view(channel).Credentials {
		if k.Name != name {
			continue
		}
		if k.State != state || k.Usable != usable {
			b.Fatalf("credential %s/%s is %s (usable %v), want %s (%v)", channel, name, k.State, k.Usable, state, usable)
		}
		return k
	}
	b.Fatalf("no credential %s/%s", channel, name)
	return CredentialView{}
}

package route_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/books/journal"
	"rubicon/internal/config"
	"rubicon/internal/health"
	"rubicon/internal/health/route"
)

// bench is a public model with the health of its channels.
type bench struct {
	model config.Model
	views []health.View
}

// add lists a channel; without credentials it is keyless.
func (b *bench) add(name, host string, priority, weight int, credentials ...string) *config.Candidate {
	ch := &config.Channel{Name: name, Protocol: config.ProtocolResponses, BaseURL: "https://" + host + "/v1"}
	view := health.View{State: health.StateClosed, Usable: true, Factor: 1}
	for _, c := range credentials {
		ch.Credentials = append(ch.Credentials, config.Credential{Name: c, Key: config.NewSecret(name + "/" + c)})
		view.Credentials = append(view.Credentials, active(c))
	}
	if len(credentials) == 0 {
		view.Credentials = append(view.Credentials, active(""))
	}
	b.model.Channels = append(b.model.Channels, config.Candidate{Channel: ch, UpstreamModel: "up", Weight: weight, Priority: priority})
	b.views = append(b.views, view)
	return &b.model.Channels[len(b.model.Channels)-1]
}

func active(name string) health.CredentialView {
	return health.CredentialView{Name: name, State: health.CredentialActive, Usable: true, Factor: 1}
}

func (b *bench) route(channel int, credential string) route.Route {
	c := &b.model.Channels[channel]
	r := route.Route{Candidate: c}
	for i := range c.Channel.Credentials {
		if c.Channel.Credentials[i].Name == credential {
			r.Credential = &c.Channel.Credentials[i]
		}
	}
	return r
}

// query is one for a Responses request whose random number is at.
func query(at float64) route.Query {
	return route.Query{Protocol: config.ProtocolResponses, Random: func() float64 { return at }}
}

func (b *bench) choose(q route.Query) (string, journal.Decision) {
	r, ok, d := route.Choose(&b.model, b.views, q)
	if !ok {
		return "", d
	}
	name := r.Candidate.Channel.Name
	if c := r.CredentialName(); c != "" {
		name += "/" + c
	}
	return name, d
}

func expect(t *testing.T, b *bench, q route.Query, want, reason string) {
	t.Helper()
	got, d := b.choose(q)
	if got != want || d.Reason != reason {
		t.Errorf("chose %q because of %q, want %q because of %q", got, d.Reason, want, reason)
	}
}

func TestPriority(t *testing.T) {
	b := &bench{}
	b.add("later", "a", 5, 1000)
	b.add("first", "b", 1, 1)
	b.add("last", "c", 9, 1000)
	expect(t, b, query(0.5), "first", "priority")
	b.views[1].Usable = false
	expect(t, b, query(0.5), "later", "priority")
	b.views[0].Usable = false
	expect(t, b, query(0.5), "last", "only_route")
	b.views[2].Usable = false
	expect(t, b, query(0.5), "", "")
}

func TestWeights(t *testing.T) {
	b := &bench{}
	b.add("one", "a", 0, 100)
	b.add("three", "b", 0, 300)
	b.add("none", "c", 0, 0)
	const draws = 4000
	count := map[string]int{}
	for i := range draws {
		got, _ := b.choose(query(float64(i) / draws))
		count[got]++
	}
	if diff := cmp.Diff(map[string]int{"one": 1000, "three": 3000}, count); diff != "" {
		t.Error(diff)
	}
	b.views[1].Factor = 0.125 // after three 429s
	count = map[string]int{}
	for i := range draws {
		got, _ := b.choose(query(float64(i) / draws))
		count[got]++
	}
	if one := count["one"]; one < 2900 || one > 2920 {
		t.Errorf("100 against 37.5: %v", count)
	}
	expect(t, b, query(0.999999999999), "three", "weight")
}

func TestOperatorsWeight(t *testing.T) {
	b := &bench{}
	b.add("a", "a", 0, 100)
	b.add("b", "b", 0, 100)
	q := query(0)
	q.Weight = func(channel string) (int, bool) { return map[string]int{"a": 0}[channel], channel == "a" }
	expect(t, b, q, "b", "only_route")
	_, d := b.choose(q)
	want := []journal.Candidate{
		{Channel: "a", State: "closed", Excluded: "weight_zero"},
		{Channel: "b", State: "closed", Weight: 100, EffectiveWeight: 100},
	}
	if diff := cmp.Diff(want, d.Candidates); diff != "" {
		t.Error(diff)
	}
}

func TestAfterAFailure(t *testing.T) {
	b := &bench{}
	b.add("main", "one.example", 0, 100, "k1", "k2")
	b.add("twin", "one.example", 0, 1000)
	b.add("other", "two.example", 0, 1)
	b.add("far", "three.example", 7, 100)
	last := b.route(0, "k1")
	q := query(0)
	q.Last, q.Tried = &last, []health.Route{last.Key()}
	expect(t, b, q, "other", "priority") // inside the priority another host first

	q.Tried = append(q.Tried, b.route(2, "").Key())
	q.Random = func() float64 { return 0.5 }
	expect(t, b, q, "twin", "priority") // no other host in this priority: another channel or credential
	q.HostFirst = true
	expect(t, b, q, "far", "other_host") // docs/contract.md#s3-next-route: another host before priority

	q.Tried = append(q.Tried, b.route(3, "").Key(), b.route(1, "").Key())
	expect(t, b, q, "main/k2", "only_route")
	q.Tried = append(q.Tried, b.route(0, "k2").Key())
	expect(t, b, q, "", "")
	_, d := b.choose(q)
	for _, c := range d.Candidates {
		if c.Excluded != "tried" {
			t.Errorf("%s is excluded as %q", c.Channel, c.Excluded)
		}
	}
}

// A host that failed earlier is no other host, although another one failed since.
func TestAfterTwoFailures(t *testing.T) {
	b := &bench{}
	b.add("a", "one.example", 0, 100, "k1", "k2")
	b.add("b", "two.example", 0, 100)
	b.add("c", "three.example", 1, 100)
	last := b.route(1, "")
	q := query(0)
	q.Last, q.Tried, q.HostFirst = &last, []health.Route{b.route(0, "k1").Key(), last.Key()}, true
	expect(t, b, q, "c", "other_host")
	q.HostFirst = false
	expect(t, b, q, "a/k2", "priority") // after a 429 the priority comes first
	q.Tried, q.HostFirst = append(q.Tried, b.route(2, "").Key()), true
	expect(t, b, q, "a/k2", "only_route")
}

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"https://h.example/v1", "https://H.example/v2", true},
		{"https://h.example/v1", "https://h.example:443/v1", true},
		{"http://h.example:80", "http://h.example", true},
		{"https://h.example:8443", "https://h.example", false},
		{"http://h.example:443", "http://h.example", false},
		{"https://a.example", "https://b.example", false},
	} {
		host := func(base string) string {
			return route.Route{Candidate: &config.Candidate{Channel: &config.Channel{BaseURL: base}}}.Host()
		}
		if got := host(c.a) == host(c.b); got != c.same {
			t.Errorf("%s and %s: same host %v", c.a, c.b, got)
		}
	}
}

func TestExclusions(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*bench, *route.Query)
		want   string // the channel's exclusion
	}{
		{"surface", func(b *bench, _ *route.Query) { b.model.Channels[0].Channel.Protocol = config.ProtocolChat }, "surface"},
		{"weight", func(b *bench, _ *route.Query) { b.model.Channels[0].Weight = 0 }, "weight_zero"},
		{"open", func(b *bench, _ *route.Query) { b.views[0].Usable, b.views[0].State = false, health.StateOpen }, "open"},
		{"half open, busy", func(b *bench, _ *route.Query) { b.views[0].Usable, b.views[0].State = false, health.StateHalfOpen }, "half_open"},
		{"paused", func(b *bench, _ *route.Query) { b.views[0].Usable, b.views[0].State = false, health.StatePaused }, "paused"},
		{"both credentials out", func(b *bench, _ *route.Query) {
			b.views[0].Credentials[0] = health.CredentialView{Name: "k1", State: health.StateCooling}
			b.views[0].Credentials[1] = health.CredentialView{Name: "k2", State: health.CredentialDisabled}
		}, "cooling"},
		{"origin", func(_ *bench, q *route.Query) { q.Origin = "elsewhere" }, "origin"},
		{"origin of one credential, which is out", func(b *bench, q *route.Query) {
			q.Origin = "main/k2"
			b.views[0].Credentials[1] = health.CredentialView{Name: "k2", State: health.StatePaused}
		}, "origin"},
		{"tried", func(b *bench, q *route.Query) {
			q.Tried = []health.Route{b.route(0, "k1").Key(), b.route(0, "k2").Key()}
		}, "tried"},
		{"denied", func(b *bench, q *route.Query) {
			q.Denied = []health.Route{b.route(0, "k1").Key(), b.route(0, "k2").Key()}
		}, "probe_busy"},
		{"one credential is enough", func(b *bench, q *route.Query) { q.Denied = []health.Route{b.route(0, "k1").Key()} }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &bench{}
			b.add("main", "one.example", 0, 100, "k1", "k2")
			b.add("spare", "two.example", 1, 100, "k1")
			b.model.Channels[1].Channel.Origin = "elsewhere"
			q := query(0)
			c.change(b, &q)
			got, d := b.choose(q)
			if diff := cmp.Diff(c.want, d.Candidates[0].Excluded); diff != "" {
				t.Error(diff)
			}
			if len(d.Candidates) != 2 {
				t.Errorf("the record lists %d candidates of 2", len(d.Candidates))
			}
			if main := c.want == ""; main != (got == "main/k2") {
				t.Errorf("chose %q", got)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	b := &bench{}
	b.add("a", "a", 0, 100, "k1", "k2")
	b.add("b", "b", 0, 100, "k1")
	b.add("c", "c", 9, 100)
	b.model.Channels[1].Channel.Origin = "shared"
	b.model.Channels[2].Channel.Origin = "shared"
	q := query(0)
	q.Origin = "a/k2"
	expect(t, b, q, "a/k2", "only_route")
	q.Origin = "shared"
	expect(t, b, q, "b/k1", "priority")
	b.views[1].Usable = false
	expect(t, b, q, "c", "only_route")
	q.Origin = "gone"
	expect(t, b, q, "", "")
}

func TestCredentials(t *testing.T) {
	b := &bench{}
	b.add("a", "a", 0, 100, "k1", "k2")
	expect(t, b, query(0.4), "a/k1", "weight")
	expect(t, b, query(0.6), "a/k2", "weight")
	b.views[0].Credentials[0].Factor = 0.125 // k1 was rate limited
	expect(t, b, query(0.4), "a/k2", "weight")
	expect(t, b, query(0.1), "a/k1", "weight")
}

func TestRecord(t *testing.T) {
	b := &bench{}
	b.add("a", "a", 2, 100)
	b.add("b", "b", 0, 50)
	b.views[1].Factor, b.views[1].State = 0.5, health.StateHalfOpen
	_, d := b.choose(query(0))
	want := journal.Decision{Chosen: "b", Reason: "priority", Candidates: []journal.Candidate{
		{Channel: "a", State: "closed", Priority: 2, Weight: 100, EffectiveWeight: 100},
		{Channel: "b", State: "half_open", Weight: 50, EffectiveWeight: 25},
	}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}

// Two channels with one host and one key are one route for a replay or switch.
func TestChannelsOfOneHostAndKeyAreOneRoute(t *testing.T) {
	b := &bench{}
	b.add("a", "one.example", 0, 100, "k1")
	twin := b.add("twin", "ONE.example:443", 0, 100, "other-name")
	twin.Channel.Credentials[0].Key = b.model.Channels[0].Channel.Credentials[0].Key
	last := b.route(0, "k1")
	q := query(0)
	expect(t, b, q, "a/k1", "weight") // the first choice is free
	q.Last, q.Tried, q.HostFirst = &last, []health.Route{last.Key()}, true
	expect(t, b, q, "", "")
	_, d := b.choose(q)
	if got := d.Candidates[1].Excluded; got != "same_route" {
		t.Errorf("the twin is excluded as %q", got)
	}
	b.add("keyless", "one.example", 0, 100)
	b.add("other-key", "one.example", 5, 100, "k2")
	expect(t, b, q, "keyless", "priority")
	q.Tried = append(q.Tried, b.route(2, "").Key())
	expect(t, b, q, "other-key/k2", "only_route")
}

// Where an earlier request like this one failed, this one goes last.
func TestAHostThatFailedRecentlyComesLast(t *testing.T) {
	b := &bench{}
	b.add("a", "one.example", 0, 1000, "k1", "k2")
	b.add("b", "two.example", 0, 1)
	b.add("far", "three.example", 1, 100)
	q := query(0)
	q.Affinity = "a conversation"
	for _, tt := range []struct {
		failed       []string
		want, reason string
		excluded     string // of a, b and far
	}{
		{nil, "a/k1", "priority", ",,"},
		{[]string{"one.example"}, "b", "failed_recently", "failed_recently,,"},
		{[]string{"one.example", "two.example"}, "far", "failed_recently", "failed_recently,failed_recently,"},
		{[]string{"one.example", "two.example", "three.example"}, "a/k1", "priority", ",,"},
		{[]string{"gone.example"}, "a/k1", "priority", ",,"},
	} {
		q.Failed = tt.failed
		expect(t, b, q, tt.want, tt.reason)
		_, d := b.choose(q)
		if got := d.Candidates[0].Excluded + "," + d.Candidates[1].Excluded + "," + d.Candidates[2].Excluded; got != tt.excluded {
			t.Errorf("failed %v: excluded %s, want %s", tt.failed, got, tt.excluded)
		}
	}
	last := b.route(1, "")
	q.Failed, q.Last, q.Tried, q.HostFirst = []string{"one.example", "three.example"}, &last, []health.Route{last.Key()}, true
	expect(t, b, q, "a/k1", "priority") // nothing else is there, so the usual order holds
}

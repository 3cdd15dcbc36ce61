package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"rubicon/internal/app"
	"rubicon/test/stand"
)

// where is the channel and credential of a request's attempts, in order.
func where(s *stand.Gateway, got stand.Reply) string {
	var all []string
	for _, a := range s.Record(got.ID()).Attempts {
		all = append(all, a.Channel+"/"+a.Credential)
	}
	return strings.Join(all, " ")
}

// routed starts a gateway with three channels at upstreams that answer well
// unless the credential that comes is listed to fail with a status.
func routed(t *testing.T, channels string, failing *sync.Map) *stand.Gateway {
	t.Helper()
	up := func() *stand.Raw {
		return &stand.Raw{Handle: func(c *stand.Exchange) bool {
			key := strings.TrimPrefix(c.Request.Header.Get("Authorization"), "Bearer "+stand.Canary+"-")
			if status, fails := failing.Load(key); fails {
				return c.Whole(status.(int), "application/json", `{"error":{"message":"no, `+stand.Canary+`-`+key+`","type":"server_error","code":"server_error"}}`)
			}
			e := events["responses"]
			c.Stream()
			return c.Chunk(e.opening+e.output+e.ending) == nil && c.End()
		}}
	}
	yaml := "channels:\n"
	for _, name := range []string{"alpha", "beta", "gamma"} {
		yaml += fmt.Sprintf("  - {name: %[1]s, protocol: responses, base_url: \"{%[1]s}\", allow_private: true, credentials: [{name: k1, key: %[2]s-%[1]s-1}, {name: k2, key: %[2]s-%[1]s-2}]}\n", name, stand.Canary)
	}
	yaml += "models:\n  - name: r\n    price: {input: \"10\", output: \"50\"}\n    channels:\n" + channels
	random := rand.New(rand.NewPCG(1, 2))
	return stand.Start(t, stand.Options{Config: yaml, Peers: map[string]stand.Peer{"alpha": up(), "beta": up(), "gamma": up()},
		App: app.Options{Random: random.Float64}, Tune: patient})
}

const (
	equal  = "      - {channel: alpha, upstream_model: up}\n      - {channel: beta, upstream_model: up}\n      - {channel: gamma, upstream_model: up}\n"
	ranked = "      - {channel: beta, upstream_model: up, priority: 1}\n      - {channel: alpha, upstream_model: up, priority: 0}\n      - {channel: gamma, upstream_model: up, priority: 2}\n"
	shares = "      - {channel: alpha, upstream_model: up, weight: 90}\n      - {channel: beta, upstream_model: up, weight: 10}\n      - {channel: gamma, upstream_model: up, weight: 0}\n"
)

// One conversation stays on one route, by its cache key or its session; another
// customer's conversation of the same name goes its own way.
func TestAffinity(t *testing.T) {
	s := routed(t, equal, &sync.Map{})
	other := s.NewCustomer("10.00")
	key := func(name string) (string, http.Header) {
		return fmt.Sprintf(`{"model":"r","input":"Hi","store":false,"stream":true,"prompt_cache_key":%q}`, name), nil
	}
	session := func(name string) (string, http.Header) { return apis[0].stream("r"), http.Header{"Session_id": {name}} }
	for kind, ask := range map[string]func(string) (string, http.Header){"prompt_cache_key": key, "session": session} {
		t.Run(kind, func(t *testing.T) {
			routes, apart := map[string]bool{}, 0
			for n := range 12 {
				body, header := ask(fmt.Sprint("conversation ", n))
				mine := map[string]bool{}
				for range 4 {
					mine[where(s, s.Do(s.Default, "POST", "/v1/responses", strings.NewReader(body), header))] = true
				}
				if len(mine) != 1 {
					t.Errorf("conversation %d went to %v", n, mine)
				}
				theirs := where(s, s.Do(other, "POST", "/v1/responses", strings.NewReader(body), header))
				for at := range mine {
					routes[at] = true
					if at != theirs {
						apart++
					}
				}
			}
			if len(routes) < 3 || apart == 0 {
				t.Errorf("12 conversations on %v; %d of another customer elsewhere", routes, apart)
			}
		})
	}
}

// The lowest priority number goes first; the next one only when that is gone.
func TestPriority(t *testing.T) {
	s := routed(t, ranked, &sync.Map{})
	for _, want := range []string{"alpha", "beta", "gamma"} {
		for range 5 {
			if at := where(s, s.Post(s.Default, "/v1/responses", apis[0].stream("r"))); !strings.HasPrefix(at, want+"/") || strings.Contains(at, " ") {
				t.Errorf("went to %s, want %s", at, want)
			}
		}
		s.Operate("POST", "/admin/v1/channels/"+want+"/pause", nil, nil)
	}
	got := s.Post(s.Default, "/v1/responses", apis[0].stream("r"))
	checkFault(t, got, "responses", 503, "all_channels_failed")
	if d := s.Record(got.ID()).Decisions; len(d) != 1 || d[0].Chosen != "" || len(d[0].Candidates) != 3 {
		t.Errorf("decisions %+v", d)
	}
}

// Weight is a share; zero is none.
func TestWeight(t *testing.T) {
	s := routed(t, shares, &sync.Map{})
	count := map[string]int{}
	for range 200 {
		channel, _, _ := strings.Cut(where(s, s.Post(s.Default, "/v1/responses", apis[0].stream("r"))), "/")
		count[channel]++
	}
	if count["gamma"] != 0 || count["beta"] < 8 || count["beta"] > 40 || count["alpha"]+count["beta"] != 200 {
		t.Errorf("shares %v of 90, 10 and 0", count)
	}
}

// another is a request like no earlier one: a repeat of one that failed would
// stay away from the host where it did.
func another(n int) string {
	return strings.Replace(apis[0].stream("r"), "{", fmt.Sprintf(`{"metadata":{"n":"%d"},`, n), 1)
}

// A replay goes to another host before another credential; where there is no
// other host it goes to the other credential.
func TestSecondCredential(t *testing.T) {
	failing := &sync.Map{}
	for _, key := range []string{"alpha-1", "alpha-2", "beta-1"} {
		failing.Store(key, 500)
	}
	s := routed(t, ranked, failing)
	for i := range 10 {
		at := where(s, s.Post(s.Default, "/v1/responses", another(i)))
		if first, second, _ := strings.Cut(at, " "); !strings.HasPrefix(first, "alpha/") || !strings.HasPrefix(second, "beta/") {
			t.Errorf("went to %s", at)
		}
	}
	s.Operate("POST", "/admin/v1/channels/alpha/pause", nil, nil)
	s.Operate("POST", "/admin/v1/channels/gamma/pause", nil, nil)
	tried := map[string]bool{}
	for i := range 20 {
		got := s.Post(s.Default, "/v1/responses", another(20+i))
		at := where(s, got)
		tried[at] = true
		if got.Status != 200 || at != "beta/k2" && at != "beta/k1 beta/k2" {
			t.Errorf("status %d, went to %s", got.Status, at)
		}
	}
	if !tried["beta/k1 beta/k2"] {
		t.Errorf("never replayed: %v", tried)
	}
}

// A credential that upstream refuses is taken out of traffic, and the request
// that met it is told so; the next ones use the other.
func TestRefusedCredential(t *testing.T) {
	failing := &sync.Map{}
	failing.Store("alpha-1", 401)
	s := routed(t, "      - {channel: alpha, upstream_model: up}\n", failing)
	refused := 0
	for range 20 {
		got := s.Post(s.Default, "/v1/responses", apis[0].stream("r"))
		if got.Status != 200 {
			checkFault(t, got, "responses", 502, "upstream_auth")
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d requests met the refused credential", refused)
	}
	for _, c := range s.Channels() {
		for _, k := range c.Credentials {
			if want := map[string]string{"k1": "disabled", "k2": "active"}[k.Name]; k.State != want {
				t.Errorf("credential %s is %s", k.Name, k.State)
			}
		}
	}
}

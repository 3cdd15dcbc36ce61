// Package route orders the ways to serve one public model: the model's
// candidates and their health at this moment give a choice, and every choice
// says why not the others.
//
// It keeps no state and makes no calls; health comes in as a snapshot. It never
// looks beyond the candidates of the requested public model.
//
// Invariant: what is chosen was listed for the model, speaks the surface, has
// weight, is usable, holds the state the request names, and was not tried.
package route

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"rubicon/internal/books/journal"
	"rubicon/internal/config"
	"rubicon/internal/health"
)

// Route is a channel with one of its credentials, in its role for one model.
type Route struct {
	Candidate  *config.Candidate
	Credential *config.Credential // nil for a keyless channel
}

// CredentialName is "" for a keyless channel.
func (r Route) CredentialName() string {
	if r.Credential == nil {
		return ""
	}
	return r.Credential.Name
}

// Key names the route for health.
func (r Route) Key() health.Route {
	return health.Route{Channel: r.Candidate.Channel.Name, Credential: r.CredentialName(), UpstreamModel: r.Candidate.UpstreamModel}
}

// Origin is the upstream account behind the route.
func (r Route) Origin() string { return r.Candidate.Channel.OriginOf(r.CredentialName()) }

// Host is the host and port of the route's base URL.
func (r Route) Host() string { return hostOf(r.Candidate.Channel) }

// same reports whether two routes lead to one server with one key: what fails on
// the one fails on the other.
func (r Route) same(other Route) bool { return r.Host() == other.Host() && r.key().Equal(other.key()) }

func (r Route) key() (none config.Secret) {
	if r.Credential == nil {
		return none
	}
	return r.Credential.Key
}

// hostOf writes the same host the same way, however the configuration does.
func hostOf(c *config.Channel) string {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return c.BaseURL
	}
	usual := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return strings.TrimSuffix(strings.ToLower(u.Host), usual)
}

// Why a candidate was not available, beside the health states.
const (
	ExcludedSurface = "surface"     // speaks another API
	ExcludedWeight  = "weight_zero" // the operator gave it no weight
	ExcludedOrigin  = "origin"      // the request's state is kept elsewhere
	ExcludedTried   = "tried"       // this request was there already
	ExcludedSame    = "same_route"  // has the host and the key of a route where this request was
	ExcludedProbe   = "probe_busy"  // half-open, and another request is probing
	ExcludedFailed  = "failed_recently"
)

// Query is what a choice depends on beside the candidates.
type Query struct {
	Protocol  string         // the request's surface
	Origin    string         // state is kept there; "" anywhere
	Tried     []health.Route // routes this request has used
	Denied    []health.Route // routes that health refused a moment ago
	Last      *Route         // the attempt that failed; nil for the first choice
	HostFirst bool           // another host goes before priority (docs/contract.md#s3-next-route)
	Failed    []string       // hosts where an earlier request like this one failed a short time ago
	Affinity  string         // requests with the same value prefer the same route
	Random    func() float64 // in [0,1)
	Weight    func(channel string) (int, bool)
}

// option is one usable route.
type option struct {
	route  Route
	weight float64 // of its channel
	factor float64 // of its credential: what 429s have left
	health health.CredentialView
}

// Choose picks a route. views holds the health of model.Channels, by index.
// ok is false when no route is left; the decision then has no chosen channel.
func Choose(model *config.Model, views []health.View, q Query) (chosen Route, ok bool, d journal.Decision) {
	options, d := candidates(model, views, q)
	if len(options) == 0 {
		return Route{}, false, d
	}
	best, why, avoided := firstRank(options, q, triedHosts(model, q))
	for i := range d.Candidates {
		if c := &d.Candidates[i]; c.Excluded == "" && avoided && slices.Contains(q.Failed, hostOf(model.Channels[i].Channel)) {
			c.Excluded = ExcludedFailed
		}
	}
	chosen = pick(best, q)
	d.Chosen = chosen.Candidate.Channel.Name
	d.Reason = reason(options, why, q)
	return chosen, true, d
}

// candidates lists the routes that may be used, and the state of every channel.
func candidates(model *config.Model, views []health.View, q Query) (options []option, d journal.Decision) {
	tried := triedRoutes(model, q)
	d.Candidates = make([]journal.Candidate, len(model.Channels))
	for i := range model.Channels {
		c := &model.Channels[i]
		weight := c.Weight
		if q.Weight != nil {
			if w, set := q.Weight(c.Channel.Name); set {
				weight = w
			}
		}
		effective := float64(weight) * views[i].Factor
		open, why := usable(c, views[i], weight, q, tried)
		for _, o := range open {
			o.weight = effective
			options = append(options, o)
		}
		d.Candidates[i] = journal.Candidate{Channel: c.Channel.Name, State: views[i].State, Priority: c.Priority,
			Weight: float64(weight), EffectiveWeight: effective, Excluded: why}
	}
	return options, d
}

// usable lists a candidate's routes that may be used, or says why there is none.
func usable(c *config.Candidate, v health.View, weight int, q Query, tried []Route) (open []option, why string) {
	switch {
	case c.Channel.Protocol != q.Protocol:
		return nil, ExcludedSurface
	case weight <= 0:
		return nil, ExcludedWeight
	case !v.Usable:
		return nil, v.State
	}
	for _, cred := range v.Credentials {
		r := Route{Candidate: c, Credential: credential(c.Channel, cred.Name)}
		switch key := r.Key(); {
		case !cred.Usable:
			why = cmp.Or(why, cred.State)
		case q.Origin != "" && r.Origin() != q.Origin:
			why = cmp.Or(why, ExcludedOrigin)
		case slices.Contains(q.Tried, key):
			why = cmp.Or(why, ExcludedTried)
		case slices.ContainsFunc(tried, r.same):
			why = cmp.Or(why, ExcludedSame)
		case slices.Contains(q.Denied, key):
			why = cmp.Or(why, ExcludedProbe)
		default:
			open = append(open, option{route: r, factor: cred.Factor, health: cred})
		}
	}
	if len(open) > 0 {
		why = ""
	}
	return open, why
}

func credential(c *config.Channel, name string) *config.Credential {
	for i := range c.Credentials {
		if c.Credentials[i].Name == name {
			return &c.Credentials[i]
		}
	}
	return nil
}

// firstRank leaves the options of the first rank (docs/contract.md#s3-next-route): by
// priority, inside a priority another host first. Where HostFirst is set another
// host goes before priority, and so does one where no request like this one
// failed a short time ago (docs/contract.md#s3-own-repeat). why is the
// first of these that left something out.
func firstRank(options []option, q Query, tried []string) (best []option, why string, avoided bool) {
	step := func(name string, to func([]option) []option) {
		before := len(options)
		options = to(options)
		if len(options) < before {
			why = cmp.Or(why, name)
		}
	}
	otherHost := func(all []option) []option { return otherHosts(all, tried, q.Last.Host()) }
	if q.Last != nil && q.HostFirst {
		step(reasonOtherHost, otherHost)
	}
	before := len(options)
	step(reasonFailed, func(all []option) []option { return unlessNone(all, q.Failed) })
	avoided = len(options) < before
	step(reasonPriority, lowestPriority)
	if q.Last != nil {
		step(reasonOtherHost, otherHost)
	}
	return options, why, avoided
}

func lowestPriority(options []option) []option {
	lowest := slices.MinFunc(options, func(a, b option) int {
		return a.route.Candidate.Priority - b.route.Candidate.Priority
	}).route.Candidate.Priority
	return keep(options, func(o option) bool { return o.route.Candidate.Priority == lowest })
}

// otherHosts leaves out the hosts where this request failed already, else the
// last one, unless nothing else is there. A second credential of a host that
// failed first must not come before a third host.
func otherHosts(options []option, tried []string, last string) []option {
	if others := unlessNone(options, tried); len(others) < len(options) {
		return others
	}
	return unlessNone(options, []string{last})
}

// unlessNone leaves out those hosts, unless nothing else is there.
func unlessNone(options []option, hosts []string) []option {
	others := keep(options, func(o option) bool { return !slices.Contains(hosts, o.route.Host()) })
	if len(others) == 0 {
		return options
	}
	return others
}

// triedRoutes are the routes that this request has used, as far as they are
// still configured.
func triedRoutes(model *config.Model, q Query) (routes []Route) {
	for _, key := range q.Tried {
		for i := range model.Channels {
			c := &model.Channels[i]
			if c.Channel.Name == key.Channel && c.UpstreamModel == key.UpstreamModel {
				routes = append(routes, Route{c, credential(c.Channel, key.Credential)})
			}
		}
	}
	return routes
}

// triedHosts lists where this request was already.
func triedHosts(model *config.Model, q Query) (hosts []string) {
	for i := range model.Channels {
		c := model.Channels[i].Channel
		if slices.ContainsFunc(q.Tried, func(r health.Route) bool { return r.Channel == c.Name }) {
			hosts = append(hosts, hostOf(c))
		}
	}
	return hosts
}

func keep(options []option, want func(option) bool) []option {
	var out []option
	for _, o := range options {
		if want(o) {
			out = append(out, o)
		}
	}
	return out
}

// Why this one, in a word.
const (
	reasonOnlyRoute = "only_route"
	reasonFailed    = ExcludedFailed
	reasonOtherHost = "other_host"
	reasonPriority  = "priority"
	reasonAffinity  = "affinity"
	reasonWeight    = "weight"
	reasonFirstBack = "first_back" // all routes cool, and this one is back first
)

func reason(all []option, narrowed string, q Query) string {
	switch {
	case len(all) == 1:
		return reasonOnlyRoute
	case narrowed != "":
		return narrowed
	case q.Affinity != "":
		return reasonAffinity
	}
	return reasonWeight
}

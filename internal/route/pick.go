package route

import (
	"encoding/binary"
	"hash/fnv"
	"math"
)

// pick chooses among equals: a channel by weight, then one of its credentials.
// With an affinity both are a weighted rendezvous hash, so that the requests
// of one conversation find their provider's warm cache, and a channel that
// comes or goes moves only its share.
func pick(options []option, q Query) Route {
	channels := map[string]float64{}
	var order []string
	for _, o := range options {
		name := o.route.Candidate.Channel.Name + "\x00" + o.route.Candidate.UpstreamModel
		if _, seen := channels[name]; !seen {
			order = append(order, name)
		}
		channels[name] = o.weight
	}
	chosen := draw(order, func(name string) float64 { return channels[name] }, q)
	var routes []Route
	var names []string
	for _, o := range options {
		if o.route.Candidate.Channel.Name+"\x00"+o.route.Candidate.UpstreamModel == chosen {
			routes = append(routes, o.route)
			names = append(names, chosen+"\x00"+o.route.CredentialName())
		}
	}
	credential := draw(names, func(string) float64 { return 1 }, q)
	for i := range names {
		if names[i] == credential {
			return routes[i]
		}
	}
	return routes[0]
}

// draw takes one name by weight: the highest rendezvous score with an
// affinity, at random without.
func draw(names []string, weight func(string) float64, q Query) string {
	if len(names) == 1 {
		return names[0]
	}
	if q.Affinity != "" {
		best, score := names[0], math.Inf(-1)
		for _, n := range names {
			if s := rendezvous(q.Affinity, n, weight(n)); s > score {
				best, score = n, s
			}
		}
		return best
	}
	total := 0.0
	for _, n := range names {
		total += weight(n)
	}
	at := q.Random() * total
	for _, n := range names {
		if at -= weight(n); at < 0 {
			return n
		}
	}
	return names[len(names)-1]
}

// rendezvous is the score of weighted rendezvous hashing: −w / ln(h) with h
// uniform in (0,1) gives every name its share by weight.
func rendezvous(affinity, name string, weight float64) float64 {
	h := fnv.New64a()
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(affinity)))
	h.Write(length[:])
	h.Write([]byte(affinity))
	h.Write([]byte(name))
	// fnv alone spreads similar names badly over the high bits.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	u := (float64(x>>11) + 0.5) / (1 << 53)
	return -weight / math.Log(u)
}

package route

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
)

// pick chooses among equals: a channel by weight, then one of its credentials.
// With an affinity both are a weighted rendezvous hash, so that the requests
// of one conversation find the provider's cache, and a channel that is
// added or removed moves only its share.
func pick(options []option, q Query) Route {
	channel := func(o option) string { return o.route.Candidate.Channel.Name }
	var names []string // each channel once, in order
	for _, o := range options {
		if !slices.Contains(names, channel(o)) {
			names = append(names, channel(o))
		}
	}
	chosen := draw(names, q, func(name string) float64 {
		return options[slices.IndexFunc(options, func(o option) bool { return channel(o) == name })].weight
	})
	options = keep(options, func(o option) bool { return channel(o) == chosen })
	names = names[:0]
	for _, o := range options {
		names = append(names, chosen+"\x00"+o.route.CredentialName())
	}
	credential := draw(names, q, func(name string) float64 { return options[slices.Index(names, name)].factor })
	return options[slices.Index(names, credential)].route
}

// draw takes one name by weight: the highest rendezvous score with an
// affinity, at random without.
func draw(names []string, q Query, weight func(string) float64) string {
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

package translate

import "slices"

// PlaceCachePoints decides where cache points stand in OpenAI's formats: on
// text, images and files of the system and of the user. One elsewhere goes back
// to the nearest such place in front of it, so that what is cached is shorter and
// never wrong. The blocks of heading and turns are changed; what they hold is
// cloned first.
func PlaceCachePoints(heading []Block, turns []Turn, rep *Reporter) {
	p := placer{rep: rep}
	for i := range heading {
		p.block(&heading[i], true)
	}
	for i := range turns {
		t := &turns[i]
		for j := range t.Blocks {
			b := &t.Blocks[j]
			b.Inner = slices.Clone(b.Inner)
			for k := range b.Inner {
				p.block(&b.Inner[k], false)
			}
			p.block(b, t.Role != Assistant)
		}
	}
}

type placer struct {
	rep  *Reporter
	last *Block // the nearest place
}

func (p *placer) block(b *Block, takes bool) {
	takes = takes && (b.Kind == Text || b.Kind == Image || b.Kind == File)
	c := b.Cache
	switch {
	case c == nil:
	case !p.rep.Take(FeatureCachePoint, c.Path, c.TTL):
		b.Cache = nil
	case takes:
	case p.last == nil:
		b.Cache = nil
		p.rep.NoteBecause(Dropped, FeatureCachePoint, c.Path, c.TTL, "", "there is no place for it in front of it")
	default:
		b.Cache = nil
		if p.last.Cache == nil {
			p.last.Cache = c
		}
		p.rep.NoteBecause(Moved, FeatureCachePoint, c.Path, c.TTL, "", "it stands on the nearest part in front of it that takes one")
	}
	if takes {
		p.last = b
	}
}

// OpenAILifetime is a cache point's lifetime as OpenAI's formats have it: half
// an hour or half a day.
func OpenAILifetime(c *CachePoint, rep *Reporter) string {
	is := "12h"
	switch c.TTL {
	case "", "30m", "12h":
		return c.TTL
	case "5m":
		is = "30m"
	}
	rep.Note(Changed, FeatureCacheTTL, c.Path, c.TTL, is)
	return is
}

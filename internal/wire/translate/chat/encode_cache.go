package chat

import (
	"slices"

	"rubicon/internal/wire/translate"
)

// placeMarks decides where cache points stand: on text and images of the system
// and of the user. One elsewhere goes back to the nearest such place in front of
// it, so that what is cached is shorter and never wrong.
func (e *encoder) placeMarks() {
	var last *translate.Block // the nearest place
	for i := range e.heading {
		last = e.placeMark(&e.heading[i], last, true)
	}
	for i := range e.turns {
		t := &e.turns[i]
		for j := range t.Blocks {
			b := &t.Blocks[j]
			b.Inner = slices.Clone(b.Inner) // the request's own stays as it is
			for k := range b.Inner {
				last = e.placeMark(&b.Inner[k], last, false)
			}
			last = e.placeMark(b, last, t.Role != translate.Assistant)
		}
	}
}

func (e *encoder) placeMark(b, last *translate.Block, takes bool) *translate.Block {
	takes = takes && (b.Kind == translate.Text || b.Kind == translate.Image || b.Kind == translate.File)
	p := b.Cache
	switch {
	case p == nil:
	case !e.rep.Take(translate.FeatureCachePoint, p.Path, p.TTL):
		b.Cache = nil
	case takes:
	case last == nil:
		b.Cache = nil
		e.rep.NoteBecause(translate.Dropped, translate.FeatureCachePoint, p.Path, p.TTL, "", "there is no place for it in front of it")
	default:
		b.Cache = nil
		if last.Cache == nil {
			last.Cache = p
		}
		e.rep.NoteBecause(translate.Moved, translate.FeatureCachePoint, p.Path, p.TTL, "", "it stands on the nearest part in front of it that takes one")
	}
	if takes {
		return b
	}
	return last
}

// mark writes a cache point, in OpenAI's way.
func (e *encoder) mark(b *translate.Block) {
	if b.Cache == nil {
		return
	}
	e.w.object("prompt_cache_breakpoint")
	e.w.text("mode", "explicit")
	if ttl := e.ttl(b.Cache); ttl != "" {
		e.w.text("ttl", ttl)
	}
	e.w.shut('}')
}

// ttl is a lifetime that the format has: half an hour or half a day.
func (e *encoder) ttl(p *translate.CachePoint) string {
	is := "12h"
	switch p.TTL {
	case "", "30m", "12h":
		return p.TTL
	case "5m":
		is = "30m"
	}
	e.rep.Note(translate.Changed, translate.FeatureCacheTTL, p.Path, p.TTL, is)
	return is
}

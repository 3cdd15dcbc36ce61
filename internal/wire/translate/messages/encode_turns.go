package messages

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"rubicon/internal/wire/translate"
)

// arrange gives the turns as they are written: without what is dropped, system
// text in its place, results behind their calls.
func (e *encoder) arrange() []translate.Turn {
	var turns []translate.Turn
	for _, t := range e.r.Turns {
		if t.Phase != "" {
			e.rep.Take(translate.FeaturePhase, t.Path, t.Phase)
			t.Phase = ""
		}
		t.Blocks = e.filter(&t)
		if t.Role == translate.System && len(t.Blocks) > 0 {
			t = e.midSystem(t)
		}
		turns = append(turns, t)
	}
	turns = translate.Arrange(turns, e.rep)
	if translate.EndsWithReply(turns) && !e.native() {
		e.rep.Take(translate.FeaturePrefill, turns[len(turns)-1].Path, "")
	}
	return turns
}

// filter leaves out what says nothing and what has no place.
func (e *encoder) filter(t *translate.Turn) (kept []translate.Block) {
	for _, b := range t.Blocks {
		switch {
		case b.Kind == translate.Text && !e.says(&b):
			if n := len(kept); b.Cache != nil && n > 0 && kept[n-1].Cache == nil && kept[n-1].Kind != translate.Think {
				kept[n-1].Cache = b.Cache // the same place of the prompt
			}
			continue
		case b.Kind == translate.Think && !e.keepsThought(&b):
			continue
		case b.Kind == translate.Result && t.Role != translate.User:
			e.rep.ExcludeBecause(translate.FeaturePairs, b.Path, "a result belongs to a turn of the user", "send it as one")
			continue
		case b.Kind == translate.Call && t.Role != translate.Assistant:
			e.rep.ExcludeBecause(translate.FeaturePairs, b.Path, "a call belongs to a turn of the assistant", "send it as one")
			continue
		}
		kept = append(kept, b)
	}
	return kept
}

// says tells whether a text is more than white space, which is refused. The
// empty text needs no note.
func (e *encoder) says(b *translate.Block) bool {
	if strings.TrimFunc(b.Text, unicode.IsSpace) != "" {
		return true
	}
	if b.Text != "" {
		e.rep.Take(translate.FeatureEmptyText, b.Path, "")
	}
	return false
}

// keepsThought tells whether reasoning goes back to the vendor that signed it.
// Reasoning without a signature of this format never becomes a thinking block.
func (e *encoder) keepsThought(b *translate.Block) bool {
	switch {
	case b.Seal == nil:
		if b.Reasoned() != "" {
			e.rep.Take(translate.FeatureReasoning, b.Path, "")
		}
		return false
	case b.Seal.Kind != translate.Signature && b.Seal.Kind != translate.Redacted:
		e.rep.Take(translate.FeatureSeal, b.Path, "")
		return false
	}
	return true
}

// midSystem keeps system text in its place: as a turn of its own where the model
// takes one, else tagged in a turn of the user.
func (e *encoder) midSystem(t translate.Turn) translate.Turn {
	if e.rep.Take(translate.FeatureMidSystem, t.Path, "system_role") {
		return t
	}
	t.Role, t.Blocks = translate.User, slices.Clone(t.Blocks)
	for i := range t.Blocks {
		if b := &t.Blocks[i]; b.Kind == translate.Text {
			b.Text = translate.TagSystem(b.Text)
		}
	}
	return t
}

// maxCachePoints is how many cache points the format takes.
const maxCachePoints = 4

// keepCachePoints chooses the points that are written: the last four, in the
// order in which a prompt is cached.
func (e *encoder) keepCachePoints() {
	var points []*translate.CachePoint
	add := func(c *translate.CachePoint, f translate.Feature) {
		if c != nil && (e.native() || e.rep.Take(f, c.Path, "")) {
			points = append(points, c)
		}
	}
	for i := range e.offers.List {
		add(e.offers.List[i].Cache, translate.FeatureToolCache)
	}
	for i := range e.r.System {
		add(e.r.System[i].Cache, translate.FeatureCachePoint)
	}
	for _, t := range e.turns {
		for _, b := range t.Blocks {
			for i := range b.Inner {
				add(b.Inner[i].Cache, translate.FeatureCachePoint)
			}
			add(b.Cache, translate.FeatureCachePoint)
		}
	}
	if len(points) == 0 {
		points = e.automatic()
	}
	for len(points) > maxCachePoints {
		e.rep.Note(translate.Dropped, translate.FeatureCachePoints, points[0].Path, "", "")
		points = points[1:]
	}
	e.kept = map[*translate.CachePoint]bool{}
	for _, c := range points {
		e.kept[c] = true
	}
}

// automatic is what stands for the automatic caching of the other formats, whose
// clients set no points: one behind the last turn, once a conversation goes on
// or names a cache key. Nothing is lost by it, so nothing is told.
func (e *encoder) automatic() []*translate.CachePoint {
	goesOn := slices.ContainsFunc(e.turns, func(t translate.Turn) bool { return t.Role == translate.Assistant })
	if e.native() || e.f.Cache != "breakpoints" || !goesOn && e.r.Get(translate.FeatureCacheKey) == nil {
		return nil
	}
	for i := len(e.turns) - 1; i >= 0; i-- {
		for j := len(e.turns[i].Blocks) - 1; j >= 0; j-- {
			if b := &e.turns[i].Blocks[j]; b.Kind != translate.Think {
				b.Cache = &translate.CachePoint{Path: "messages[" + strconv.Itoa(i) + "]"}
				return []*translate.CachePoint{b.Cache}
			}
		}
	}
	return nil
}

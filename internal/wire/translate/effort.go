package translate

import (
	"cmp"
	"slices"
	"strconv"
)

// level is one effort: how it ranks, and the share of the output limit that its
// thinking may take where a model wants a budget.
type level struct {
	word    string
	rank    int
	permill int64
}

// levels are the known efforts, lowest first.
var levels = [...]level{
	{"none", 0, 0}, {"minimal", 1, 25}, {"low", 2, 150}, {"medium", 3, 425}, {"high", 4, 800}, {"xhigh", 5, 800}, {"max", 6, 800},
	// Some clients' own words for more than the providers have.
	{"ultra", 7, 800}, {"persistent", 7, 800},
}

// MinBudget is the smallest thinking budget that Messages takes.
const MinBudget = 1024

// usualOutput stands for the output limit where a request names none.
const usualOutput = 32000

func levelOf(word string) (level, bool) {
	for _, l := range levels {
		if l.word == word {
			return l, true
		}
	}
	n, err := strconv.ParseFloat(word, 64)
	if err != nil || n < 0 || n != n || n > 1e9 {
		return level{}, false
	}
	return numbered(n), true
}

// numbered reads an effort that is a number: a share up to 1, percent up to 100,
// tokens above. It becomes the level below, because a translation must not spend
// more than was asked for.
func numbered(n float64) level {
	switch {
	case n <= 1:
		n *= 1000
	case n <= 100:
		n *= 10
	default:
		n = n * 1000 / usualOutput
	}
	l := levels[0]
	for _, at := range levels[1:5] {
		if float64(at.permill) <= n {
			l = at
		}
	}
	return l
}

// KnownEffort tells whether an effort means something.
func KnownEffort(word string) bool { _, ok := levelOf(word); return ok }

// NearestEffort is the highest effort of a model's that is not above the one
// that was asked for; where all are above, the lowest.
func NearestEffort(word string, known []string) string {
	if slices.Contains(known, word) || len(known) == 0 {
		return word
	}
	want, _ := levelOf(word)
	lowest, best := "", ""
	lowestRank, bestRank := 100, -1
	for _, k := range known {
		l, ok := levelOf(k)
		if !ok {
			continue
		}
		if l.rank < lowestRank {
			lowest, lowestRank = k, l.rank
		}
		if l.rank <= want.rank && l.rank > bestRank {
			best, bestRank = k, l.rank
		}
	}
	return cmp.Or(best, lowest)
}

// BudgetOf is the thinking budget of an effort under an output limit. It is
// false where the limit leaves no room for one, and for none.
func BudgetOf(effort string, limit int64) (int64, bool) {
	l, ok := levelOf(effort)
	if !ok || l.permill == 0 {
		return 0, false
	}
	return FitBudget(limit/1000*l.permill+limit%1000*l.permill/1000, limit)
}

// FitBudget fits a budget between the smallest one and an output limit.
func FitBudget(budget, limit int64) (int64, bool) {
	if limit <= MinBudget {
		return 0, false
	}
	return min(max(budget, MinBudget), limit-1), true
}

// EffortOf is the effort that a budget stands for under an output limit (0: none
// was named): the nearest by the same shares.
func EffortOf(budget, limit int64) string {
	if budget <= 0 {
		return "none"
	}
	if limit <= 0 {
		limit = usualOutput
	}
	share := float64(budget) / float64(limit) * 1000
	for i, l := range levels[1:4] {
		if share < float64(l.permill+levels[i+2].permill)/2 {
			return l.word
		}
	}
	return "high"
}

// Asked is the effort that a request asks for in whatever way, with the path
// that says so; "" where it says nothing of it.
func (r *Request) Asked() (effort, path string) {
	t := &r.Reasoning
	switch {
	case t.Off:
		return "none", t.Path
	case t.Effort != "":
		return t.Effort, t.EffortPath
	case t.Budget > 0:
		return EffortOf(t.Budget, r.MaxOutput.Value), t.Path
	}
	return "", ""
}

// EffortFor is the effort as an upstream that takes efforts gets it: one of the
// model's own. What was changed is reported; "" is to be left out.
func EffortFor(r *Request, rep *Reporter, f Flags) string {
	asked, path := r.Asked()
	if asked == "" {
		return ""
	}
	if !KnownEffort(asked) {
		rep.Exclude(FeatureBadEffort, path)
		return ""
	}
	known := f.Efforts
	switch {
	case known == nil:
		known = []string{"low", "medium", "high"}
	case len(known) == 0:
		if asked != "none" {
			rep.NoteBecause(Dropped, FeatureEffort, path, asked, "", "the model does not think")
		}
		return ""
	}
	got := NearestEffort(asked, known)
	switch {
	case r.Reasoning.Budget > 0 && !r.Reasoning.Off && r.Reasoning.Effort == "":
		rep.NoteBecause(Changed, FeatureBudget, path, strconv.FormatInt(r.Reasoning.Budget, 10), got, "an effort stands for it there")
	case got != asked:
		rep.Note(Changed, FeatureEffort, path, asked, got)
	}
	return got
}

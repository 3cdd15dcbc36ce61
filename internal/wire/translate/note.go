package translate

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Verb is what became of a feature that did not travel as it was.
type Verb string

// The verbs.
const (
	Dropped   Verb = "dropped"
	Changed   Verb = "changed"
	Moved     Verb = "moved"
	Defaulted Verb = "defaulted"
	Emulated  Verb = "emulated"
	Wrapped   Verb = "wrapped"
)

// Note tells one thing that the upstream did not get as the client sent it.
type Note struct {
	Verb    Verb    `json:"verb"`
	Path    string  `json:"path"`
	Was     string  `json:"was"` // "" where the value is long or private
	Is      string  `json:"is"`
	Why     string  `json:"why"`
	Class   Class   `json:"class"`
	Feature Feature `json:"-"`
	// Quiet: it stands on the record and not in the header, and no strict client
	// minds it: nothing of the meaning was lost.
	Quiet bool `json:"-"`
}

// Exclusion is why a request cannot be translated to a format: something that
// the model must see, or that the answer must be, has no place there.
type Exclusion struct {
	Path    string  `json:"path"`
	Feature Feature `json:"feature"`
	Why     string  `json:"why"`
	Do      string  `json:"do"` // what the client can do about it
}

// Report is what a request encoder has to tell beside the body. Where Excluded
// is not empty there is no body.
type Report struct {
	Notes    []Note
	Excluded []Exclusion
}

// maxHeader bounds the header's value, in bytes.
const maxHeader = 1024

// Header is the value of the header rubicon-translation: the pair, then what is
// to be told, by verb and path.
func (r *Report) Header(from, to Format) string {
	notes := slices.DeleteFunc(slices.Clone(r.Notes), func(n Note) bool { return n.Quiet })
	slices.SortStableFunc(notes, func(a, b Note) int { return cmp.Or(cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Path, b.Path)) })
	var b strings.Builder
	b.WriteString(string(from) + ">" + string(to))
	last := Verb("")
	for i, n := range notes {
		piece := ","
		if n.Verb != last {
			piece = "; " + string(n.Verb) + "="
		}
		piece += n.brief()
		if more := "…+" + strconv.Itoa(len(notes)-i); b.Len()+len(piece)+len(more) > maxHeader {
			b.WriteString(more)
			break
		}
		b.WriteString(piece)
		last = n.Verb
	}
	return b.String()
}

// brief is a note in the header: its path, and what it was and is where these
// are short words.
func (n Note) brief() string {
	switch {
	case n.Was != "" && n.Is != "" && n.Verb == Changed:
		return plain(n.Path) + ":" + plain(n.Was) + ">" + plain(n.Is)
	case n.Verb == Defaulted:
		return plain(n.Path) + ":" + plain(n.Is)
	case n.Was != "":
		return plain(n.Path) + ":" + plain(n.Was)
	}
	return plain(n.Path)
}

// plain keeps what may stand in a header: names come from the client.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(",;=>", r) {
			return '_'
		}
		return r
	}, s)
	if len(s) > 64 {
		s = s[:64]
	}
	return s
}

package translate

import (
	"strings"
	"unicode"
)

// SplitStops divides a request's stop sequences into those that the upstream
// takes and those that the gateway must look for itself: all on Responses, what
// is too many, and white space on Messages.
func SplitStops(words []string, to Format, f Flags) (native, emulated []string) {
	for _, w := range words {
		switch {
		case w == "":
		case to == Responses, f.StopMax > 0 && len(native) >= f.StopMax, to == Messages && blank(w):
			emulated = append(emulated, w)
		default:
			native = append(native, w)
		}
	}
	return native, emulated
}

// PlanStops gives the stop sequences that travel and reports the others.
func PlanStops(r *Request, to Format, f Flags, rep *Reporter) []string {
	native, emulated := SplitStops(r.Stop.Words, to, f)
	if len(emulated) > 0 {
		rep.NoteBecause(Emulated, FeatureStop, r.Stop.Path, "", "", "the gateway ends the answer at the first one, because the upstream does not take them all")
	}
	return native
}

func blank(s string) bool { return strings.TrimFunc(s, unicode.IsSpace) == "" }

// StopCutter ends an answer at the first stop sequence in its visible text, as
// an upstream would that knew them. It keeps back only text that a sequence may
// begin with, of one text block at a time.
type StopCutter struct {
	words   []string
	held    string
	index   int // the text block that is open, -1 none
	matched string
	done    bool // the stop was given
}

// NewStopCutter looks for words; with none it changes nothing.
func NewStopCutter(words []string) *StopCutter { return &StopCutter{words: words, index: -1} }

// Matched tells whether a sequence was found: the upstream need not be read on.
func (c *StopCutter) Matched() bool { return c.matched != "" }

// Apply appends what becomes of one event. Behind a match only usage and the
// end are left.
func (c *StopCutter) Apply(dst []Event, e Event) []Event {
	if len(c.words) == 0 {
		return append(dst, e)
	}
	if c.Matched() {
		return c.behind(dst, e)
	}
	switch {
	case e.Kind == Open && e.Block.Kind == Text:
		dst = c.flush(dst) // of a text that is still open beside it
		c.index = e.Index
	case e.Kind == Delta && e.Part == PartText && e.Index == c.index:
		return c.text(dst, e)
	case e.Kind == Close && e.Index == c.index, e.Kind == Failed:
		dst = c.flush(dst)
		c.index = -1
	}
	return append(dst, e)
}

// End gives the stop of an answer that was cut, unless it was given.
func (c *StopCutter) End(dst []Event) []Event {
	if !c.Matched() || c.done {
		return dst
	}
	c.done = true
	return append(dst, Event{Kind: Stop, Stop: StopReason{Word: StopSeq, Original: string(StopSeq), Sequence: c.matched}})
}

func (c *StopCutter) behind(dst []Event, e Event) []Event {
	switch e.Kind {
	case UsageNow, Beat:
		return append(dst, e)
	case Stop, Failed: // what upstream did behind the cut is not the answer's
		return c.End(dst)
	}
	return dst
}

func (c *StopCutter) text(dst []Event, e Event) []Event {
	text := c.held + e.Text
	at, word := first(text, c.words)
	if word == "" {
		keep := overlap(text, c.words)
		c.held = text[len(text)-keep:]
		if e.Text = text[:len(text)-keep]; e.Text != "" {
			dst = append(dst, e)
		}
		return dst
	}
	c.matched, c.held = word, ""
	if e.Text = text[:at]; e.Text != "" {
		dst = append(dst, e)
	}
	return append(dst, Event{Kind: Close, Index: e.Index})
}

func (c *StopCutter) flush(dst []Event) []Event {
	if c.held != "" {
		dst = append(dst, Event{Kind: Delta, Index: c.index, Part: PartText, Text: c.held})
		c.held = ""
	}
	return dst
}

// first finds the sequence that is complete first.
func first(text string, words []string) (at int, word string) {
	end := len(text) + 1
	for _, w := range words {
		if i := strings.Index(text, w); i >= 0 && i+len(w) < end {
			at, word, end = i, w, i+len(w)
		}
	}
	return at, word
}

// overlap is the length of the longest end of text that a sequence begins with.
func overlap(text string, words []string) (n int) {
	for _, w := range words {
		for k := min(len(w)-1, len(text)); k > n; k-- {
			if strings.HasSuffix(text, w[:k]) {
				n = k
			}
		}
	}
	return n
}

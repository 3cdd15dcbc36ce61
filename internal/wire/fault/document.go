package fault

import "rubicon/internal/wire/jsonscan"

// Place is a place in a document that tells a failure: what is taken out of its
// strings and the names of its members, and what place the members are.
type Place struct {
	takes   takes
	members map[string]*Place
	rest    *Place // of members that are not listed; nil: the place itself
}

type takes uint8

const (
	everything takes = iota // what telling lists, and what is known of the route
	known                   // what is known of the route
	nothing
)

// The places of documents. They are never written to.
//
// Every string of a failure is the provider's word, whatever the name of its
// member and however deep it stands. What the model wrote, what the client sent,
// and the ids of the request are not: URLs and ids in them are nobody's secret,
// but nothing that is known of the route passes there either.
var (
	words   = &Place{takes: everything}
	echo    = &Place{takes: known}
	choices = &Place{takes: known, members: map[string]*Place{"error": words}, rest: echo}

	// InAnswer is an answer of Responses that failed.
	InAnswer = &Place{members: map[string]*Place{"output": echo, "instructions": echo, "input": echo, "tools": echo, "tool_choice": echo,
		"text": echo, "prompt": echo, "id": echo, "model": echo, "previous_response_id": echo, "conversation": echo, "user": echo,
		"safety_identifier": echo, "prompt_cache_key": echo}, rest: words}

	// InFailure is an event that tells a failure, an error body, and an answer of
	// Chat Completions that failed.
	InFailure = &Place{members: map[string]*Place{"response": InAnswer, "choices": choices, "id": echo, "model": echo, "request_id": echo,
		"response_id": echo, "item_id": echo}, rest: words}

	// InIncomplete is an answer of Responses that ended early, or the event that
	// holds it: all else in it is an answer like others.
	InIncomplete = &Place{takes: nothing, members: map[string]*Place{"response": early, "incomplete_details": words, "error": words}, rest: untouched}
	early        = &Place{takes: nothing, members: map[string]*Place{"incomplete_details": words, "error": words}, rest: untouched}
	untouched    = &Place{takes: nothing}

	// InEcho is a value of upstream's that an ending of ours repeats.
	InEcho = echo
)

func (p *Place) member(name string) *Place {
	if m := p.members[name]; m != nil {
		return m
	}
	if p.rest != nil {
		return p.rest
	}
	return p
}

// JSON takes out of a document, which begins at a place, what no client may
// see; all other bytes stay. It gives nil when there is nothing to take out.
func (s Secrets) JSON(doc []byte, at *Place) []byte {
	if !jsonscan.Valid(doc) {
		if clean := s.Scrub(string(doc)); clean != string(doc) {
			return []byte(clean)
		}
		return nil
	}
	w := walk{secrets: s, doc: doc, levels: []level{{place: at}}}
	for i := 0; i < len(doc); {
		i = w.token(i)
	}
	if w.out == nil {
		return nil
	}
	return append(w.out, doc[w.copied:]...)
}

// walk goes once over the tokens of a valid document, however deep it nests.
type walk struct {
	secrets Secrets
	doc     []byte
	out     []byte // what was rewritten, nil as long as nothing was
	copied  int    // how much of doc is in out
	levels  []level
}

// level is an array or an object that is open, or the document.
type level struct {
	place  *Place // of the elements, or of the object
	object bool
	value  *Place // of the member whose value comes; nil: a name comes
}

// token takes one token in and gives the offset behind it.
func (w *walk) token(i int) int {
	top := &w.levels[len(w.levels)-1]
	switch w.doc[i] {
	case '{':
		w.levels = append(w.levels, level{place: top.inside(), object: true})
	case '[':
		w.levels = append(w.levels, level{place: top.inside()})
	case '}', ']':
		w.levels = w.levels[:len(w.levels)-1]
	case ',':
		top.value = nil
	case '"':
		return w.text(top, i)
	}
	return i + 1
}

// inside is the place of a value that stands in the level.
func (l *level) inside() *Place {
	if l.object {
		return l.value
	}
	return l.place
}

// text takes in a string: a value, or the name of a member.
func (w *walk) text(top *level, i int) int {
	end := closing(w.doc, i)
	if !top.object || top.value != nil {
		w.rewrite(i, end, top.inside().takes)
		return end
	}
	name, _ := jsonscan.Text(w.doc[i:end])
	top.value = top.place.member(name)
	w.rewrite(i, end, top.place.takes)
	return end
}

// rewrite replaces a string that holds what is to be taken out.
func (w *walk) rewrite(from, to int, t takes) {
	if t == nothing {
		return
	}
	said, _ := jsonscan.Text(w.doc[from:to])
	clean := w.secrets.Take(said)
	if t == everything {
		clean = Scrub(clean)
	}
	if clean == said {
		return
	}
	w.out = append(w.out, w.doc[w.copied:from]...)
	w.out = jsonscan.AppendString(w.out, clean)
	w.copied = to
}

// closing is the offset behind the string that opens at i.
func closing(doc []byte, i int) int {
	for i++; doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return i + 1
}

package responses

// textCounter remembers whose text was counted, so that none counts twice. Items are
// told apart by their place in the output: some providers change an item's id
// from event to event.
type textCounter struct {
	counted      map[int64]bool
	last         int64 // the item of the last piece
	any          bool  // something was counted
	placed       bool  // last is set
	withoutIndex bool  // something without a place was counted: it may have been any item's
}

// piece notes that a piece of an item's text was counted.
func (t *textCounter) piece(index int64, indexed bool) {
	t.any = true
	switch {
	case !indexed:
		t.withoutIndex = true
	case !t.placed || t.last != index:
		if t.counted == nil {
			t.counted = make(map[int64]bool)
		}
		t.counted[index] = true
		t.last, t.placed = index, true
	}
}

// whole reports whether the text of a finished item is still to be counted, and
// takes it for counted from now on.
func (t *textCounter) whole(index int64, indexed bool) bool {
	if t.withoutIndex || t.counted[index] || !indexed && t.any {
		return false
	}
	t.piece(index, indexed)
	return true
}

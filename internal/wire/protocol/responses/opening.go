package responses

import "rubicon/internal/wire/jsonscan"

// opens reports whether an event opens what is still empty: an item or a part
// that says no more than that work began. Providers send it before the model
// has made anything, and an overload may still follow. A member that nobody
// knows and that has something in it makes the opening output.
func (e *envelope) opens(k kind) bool {
	switch k.reads {
	case openItem:
		return emptyItem(e.item)
	case openPart:
		return emptyPart(e.part)
	}
	return false
}

// emptyItem: a reasoning item without summary, content and sealed content, or a
// message without content.
func emptyItem(raw []byte) bool {
	named := false
	m := jsonscan.Object(raw)
	for m.Next() {
		v := m.Value()
		switch string(m.Key()) {
		case "type":
			if !jsonscan.Equal(v, "reasoning") && !jsonscan.Equal(v, "message") {
				return false
			}
			named = true
		case "id", "object", "status", "role", "phase": // about the item, and nothing of it
		case "content", "summary":
			if !emptyParts(v) {
				return false
			}
		default:
			if !jsonscan.Empty(v) {
				return false
			}
		}
	}
	return named
}

// emptyParts: nothing, or parts that are empty themselves.
func emptyParts(raw []byte) bool {
	if jsonscan.KindOf(raw) != jsonscan.KindArray {
		return jsonscan.Empty(raw)
	}
	el := jsonscan.Array(raw)
	for el.Next() {
		if !emptyPart(el.Value()) {
			return false
		}
	}
	return true
}

// emptyPart: an object that names its type and has nothing else in it.
func emptyPart(raw []byte) bool {
	named := false
	m := jsonscan.Object(raw)
	for m.Next() {
		if string(m.Key()) == "type" {
			named = true
		} else if !jsonscan.Empty(m.Value()) {
			return false
		}
	}
	return named
}

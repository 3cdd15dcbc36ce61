// Package terminal makes text fit to be printed where a person reads it.
//
// It is for words that others chose: names, ids, what a provider or a gateway
// answered. It is not for layout.
//
// Invariant: nothing that came through Clean moves a cursor, changes a colour or
// ends a line.
package terminal

import "strings"

// Clean shows each control character, C1 included, as a dot.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r <= 0x9f {
			return '·'
		}
		return r
	}, text)
}

package translate

import "strings"

// Reasoned is the visible text of reasoning: in full where it is known, else the
// paragraphs of its summary.
func (b *Block) Reasoned() string {
	if b.Text != "" {
		return b.Text
	}
	return strings.Join(b.Summary, "\n\n")
}

package main

import (
	"rubicon/internal/wire/translate"
)

func translationPage() string {
	var rows [][]string
	for _, r := range translate.Table() {
		row := []string{r.Name, code(r.Class)}
		lost := false
		for _, f := range translate.Formats() {
			cell := meansOf(r.To[f])
			lost = lost || cell != "carried"
			row = append(row, cell)
		}
		if lost {
			rows = append(rows, row)
		}
	}
	return generated + `# Translation between wire formats

` + "`rubicon translate --from messages --to chat < body.json`" + ` translates the body of a request offline and shows what becomes of it: the translated body on standard output, and a note for each thing that the other format does not get as it was sent. A request whose content or demands have no place there is not translated; the command names each of them, with what to do. The gateway itself sends a request to channels that speak the client's own format.

Each feature of a request has one class. *Content* is what the model must see, a *demand* is what the answer must be: both are carried, emulated exactly, or they exclude the format. An *offer* is what the model may use, a *preference* is how the client would like it: both are carried, changed or dropped, and told. *State* lives at an upstream account and excludes.

## What a format does not take as it is

What every format carries is left out. "With" names the feature flag of the upstream's model; the word behind it holds where the model lacks it. An empty cell follows rules of its own.

` + table([]string{"feature", "class", "to Responses", "to Chat Completions", "to Messages"}, rows)
}

// meansOf is a cell of the table.
func meansOf(m translate.Means) string {
	switch m.How {
	case translate.NotSpoken:
		return ""
	case translate.ByFlag:
		return "with " + code(m.Flag) + ", else " + meansOf(translate.Means{How: m.Else, Why: m.Why})
	case translate.Carried:
		return "carried"
	}
	return string(m.How) + ": " + m.Why
}

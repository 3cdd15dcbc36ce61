package sim

import (
	"strings"
)

// Entry is one ready-made script of the catalogue. It does the same at every call: a gateway that should recover
// needs a second channel whose upstream model is "ok".
type Entry struct {
	Name        string   // model name, e.g. "row-1", "row-3-html"
	Row         string   // row of the table docs/contract.md#s3, e.g. "3a"; empty for good answers
	Protocols   []string // where it applies: responses, chat, messages
	About       string   // what happens, one line
	Source      string   // the steps as they are written in a script file
	Script      Script   // empty when Dead
	Unreachable bool     // nothing to play: the channel must point to an address where nobody listens (DeadAddr)
}

// Catalog gives the ready-made scripts: good answers and each row of the table docs/contract.md#s3 that an upstream can
// cause. Rows that hang on the request, the client or the budgets have none of their own.
func Catalog() []Entry {
	entries := []Entry{}
	for _, row := range catalogRows {
		e := Entry{Name: row.name, Row: row.row, About: row.about, Source: row.steps, Unreachable: row.steps == ""}
		e.Protocols = strings.Fields(row.on)
		if row.on == "" {
			e.Protocols = []string{"responses", "chat", "messages"}
		}
		if !e.Unreachable {
			s, err := LoadScript([]byte("[" + row.steps + "]"))
			if err != nil {
				panic("sim: catalogue: " + row.name + ": " + err.Error()) // a test loads every row
			}
			e.Script = s
		}
		entries = append(entries, e)
	}
	return append(entries, bulky()...)
}

// CatalogScripts gives the catalogue as Options.Scripts.
func CatalogScripts() map[string]Script {
	scripts := map[string]Script{}
	for _, e := range Catalog() {
		if !e.Unreachable {
			scripts[e.Name] = e.Script
		}
	}
	return scripts
}

// bulky are the entries whose steps are too many to write down.
func bulky() []Entry {
	all := []string{"responses", "chat", "messages"}
	pad := jsonText(obj("response", obj("instructions", strings.Repeat("x", 64<<10))))
	held := []Step{Created()}
	for range 40 {
		s := InProgress()
		s.Set = pad
		held = append(held, s)
	}
	endless := []Step{Created()}
	for range 400 {
		endless = append(endless, InProgress(), Wait(tick))
	}
	talk := []Step{Created(), Item("message"), Part()}
	for range 120 {
		talk = append(talk, Text("word "), Wait(tick/10))
	}
	return []Entry{
		{Name: "row-14-held", Row: "14", Protocols: []string{"responses"}, About: "lifecycle events of 2.5 MiB, then an answer",
			Script: Play(append(held, Text("late"), Completed(defaultUsage()))...)},
		{Name: "row-18a-total", Row: "18a", Protocols: []string{"responses"}, About: "lifecycle events every 10 s for over an hour",
			Script: Play(append(endless, Hang())...)},
		{Name: "row-15", Row: "15", Protocols: all, About: "a word a second for two minutes: time for the client to leave",
			Script: Play(append(talk, ItemDone(), Completed(defaultUsage()))...)},
	}
}

package sim

// Entry is one ready-made script of the catalogue.
type Entry struct {
	Name      string   // model name, e.g. "row-1", "row-3-html"
	Row       string   // row of the contract's table, e.g. "3a"; empty for plain answers
	Protocols []string // where it applies: responses, chat, messages
	About     string   // what happens, one line
	Script    Script
}

// Catalog gives the ready-made scripts: plain answers and each row of the contract's replay table.
func Catalog() []Entry { return nil }

// CatalogScripts gives the catalogue as Options.Scripts.
func CatalogScripts() map[string]Script { return nil }

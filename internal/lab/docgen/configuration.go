package main

import (
	"fmt"
	"strings"

	"rubicon/internal/config"
)

func configurationPage() string {
	return generated + `# Configuration

Every option of ` + "`rubicon.yaml`" + `, in the order of the file. ` + "`rubicon init`" + ` writes a commented file to start from, ` + "`rubicon check`" + ` tells everything that is wrong with one.

- The file is strict: an unknown key, a key given twice and anything after the document are errors. What is left out has its default.
- ` + "`${NAME}`" + ` is an environment variable and ` + "`${file:/path}`" + ` the content of a file. One that is not there is an error. Inside ` + "`{…}`" + ` they need quotes.
- A changed file or a SIGHUP reloads it ([reload.md](../reload.md)). Where a note says "fixed at the start" the gateway must be restarted; everything else changes while it runs.
- Durations are written like ` + "`500ms`, `60s`, `10m`, `90d`" + `; sizes like ` + "`32MiB`" + `, ` + "`16MB`" + ` or a number of bytes.
- In a path ` + "`[]`" + ` is each item of a list, ` + "`NAME`" + ` a key of your choice.

` + optionSections(config.Options())
}

// sections of the page; options without one above them come first.
func optionSections(all []config.Option) string {
	var names []string
	rows := map[string][][]string{}
	for _, o := range all {
		section := "general"
		if i := strings.IndexAny(o.Path, ".["); i >= 0 {
			section = o.Path[:i]
		}
		if rows[section] == nil {
			names = append(names, section)
		}
		rows[section] = append(rows[section], optionRow(o))
	}
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "## %s\n\n", name)
		b.WriteString(table([]string{"option", "value", "default", "what it does", "notes"}, rows[name]))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func optionRow(o config.Option) []string {
	def := o.Default
	if def != "" && !strings.Contains(def, " ") && def != "required" && def != "none" && def != "any" {
		def = code(def)
	}
	// The top of the page says how durations and sizes are written.
	kind := strings.NewReplacer(" like 500ms, 60s, 10m or 90d", "", " like 32MiB, 16MB or a number of bytes", "").Replace(o.Kind)
	return []string{fmt.Sprintf(`<a id="%s"></a>%s`, o.Path, code(o.Path)), kind, def, o.About, strings.Join(o.Notes, "; ")}
}

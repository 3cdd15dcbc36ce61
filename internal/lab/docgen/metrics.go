package main

import (
	"strings"

	"rubicon/internal/api/telemetry"
)

func metricsPage() string {
	var rows [][]string
	for _, m := range telemetry.Table() {
		rows = append(rows, []string{code(m.Name), m.Type, code(strings.Join(m.Labels, ", ")), m.Help})
	}
	return generated + `# Metrics

` + "`GET /metrics`" + ` on the admin listener, with the admin token. Beside these there are the usual metrics of Go and of the process.

Labels are names of the configuration and words of the program; a model that is not configured counts as ` + "`other`" + `. No customer, key or id is a label.

` + table([]string{"metric", "type", "labels", "what"}, rows) + `Amounts in USD are for graphs; the ledger counts whole nano-USD.
`
}

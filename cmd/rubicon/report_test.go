package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rubicon/internal/api/report"
)

func TestReport(t *testing.T) {
	t.Chdir(t.TempDir())
	g := newGateway(t)
	month := time.Now().UTC().Format(report.Layout)
	cus := find(t, `cus_\w+`, g.must(t, "customer", "create", "Anna"))
	g.must(t, "credit", "give", cus, "10.00", "--reason", "paid")
	if got := g.must(t, "report", "--month", month); !strings.HasPrefix(got, "month,customer,model,channel,requests,reported_input,") || strings.Count(got, "\n") != 1 {
		t.Errorf("credit is no revenue: %s", got)
	}
	var sums report.Statement
	if err := json.Unmarshal([]byte(g.must(t, "report", "--month", month, "--json")), &sums); err != nil || sums.Month != month || sums.Rows == nil {
		t.Errorf("%+v, %v", sums, err)
	}
	g.cli(t, "report").oneLine(t, exitUsage, "--month")
	g.cli(t, "report", "--month", "July").oneLine(t, exitUsage, "--month must be like")
}

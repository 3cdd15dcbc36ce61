package e2e

import (
	"strings"
	"testing"
	"time"

	"rubicon/internal/api/report"
	"rubicon/internal/books/ledger"
	"rubicon/internal/books/versions"
	"rubicon/internal/money"
	"rubicon/test/stand"
)

// TestMonthlyReport: what is reported of requests that went well, that were
// replayed, cut and refused is what the ledger's accounts say.
func TestMonthlyReport(t *testing.T) {
	t.Parallel()
	alpha := &stand.Raw{Handle: func(c *stand.Exchange) bool {
		switch c.N % 3 {
		case 0:
			return c.Whole(500, "application/json", `{"error":{"message":"no","type":"server_error","code":"server_error"}}`)
		case 1:
			c.Stream()
			_ = c.Chunk(events["responses"].opening + events["responses"].output)
			return c.Cut(true)
		}
		c.Stream()
		_ = c.Chunk(events["responses"].opening + events["responses"].output + events["responses"].ending)
		return c.End()
	}}
	beta := steady()
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha", "beta"), Peers: map[string]stand.Peer{"alpha": alpha, "beta": beta}, Tune: patient})
	other := s.NewCustomer("5")
	for range 6 {
		s.Post(s.Default, apis[0].path, apis[0].stream("r"))
		s.Post(other, apis[1].path, apis[1].unstreamed("c"))
	}
	s.Post(s.Default, apis[0].path, apis[0].stream("nobody"))
	month := time.Now().UTC().Format(report.Layout)
	var got report.Statement
	s.Operate("GET", "/admin/v1/report?month="+month, nil, &got)
	want := map[string]money.Nano{}
	for cursor := ""; ; {
		var list struct {
			Transactions []ledger.Transaction
			Next         string
		}
		s.Operate("GET", "/admin/v1/ledger/transactions?limit=7&cursor="+cursor, nil, &list)
		for _, tx := range list.Transactions {
			for _, p := range tx.Postings {
				kind, _, _ := strings.Cut(p.Account, ":")
				want[kind] += p.Amount
			}
		}
		if cursor = list.Next; cursor == "" {
			break
		}
	}
	if got.Total.Revenue != want["revenue"] || got.Total.Cost != want["cost"] || got.Total.Absorbed != want["absorbed"] || want["absorbed"] == 0 {
		t.Errorf("reported %+v, the accounts say %v", got.Total, want)
	}
	if got.Total.AbsorbedByReason["replay_upstream_5xx"] == 0 || got.Total.Usage["estimated"] == nil || got.Total.Usage["reported"].Output == 0 {
		t.Errorf("reported %+v", got.Total)
	}
	channels := map[string]bool{}
	for _, row := range got.Rows {
		channels[row.Channel] = true
	}
	if len(channels) < 3 || channels[""] {
		t.Errorf("channels %v", channels)
	}
	// Each charge names a price list that can be read.
	for _, r := range s.Records() {
		if r.Charge == 0 {
			continue
		}
		var list versions.PriceList
		s.Operate("GET", "/admin/v1/prices/"+r.PriceVersion, nil, &list)
		if list.List.Input.String() != "10.000000000" || list.List.Version() != r.PriceVersion {
			t.Errorf("the list of %s: %+v", r.RequestID, list)
		}
		for _, tx := range s.Transactions(r.RequestID) {
			if tx.Kind == ledger.KindSettle && !strings.Contains(string(tx.Meta), r.PriceVersion) {
				t.Errorf("the charge's meta: %s", tx.Meta)
			}
		}
	}
}

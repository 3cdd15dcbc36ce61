package ledger

import (
	"fmt"
	"strings"
	"testing"

	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
)

// TestQueriesUseTheirIndexes keeps the ledger from being read from end to end
// where it grows for ever.
func TestQueriesUseTheirIndexes(t *testing.T) {
	db := storetest.Open(t)
	for name, c := range map[string]struct {
		filter  Filter
		indexes []string
	}{
		"of a request":            {Filter{RequestID: "r"}, []string{"one_hold", "one_resolution", "one_cost", "adjusts_by_request", "reversals_by_request"}},
		"the settle of a request": {Filter{RequestID: "r", Kind: KindSettle}, []string{"one_resolution"}},
		"of a customer":           {Filter{Customer: "c"}, []string{"transactions_by_customer (customer=?)"}},
		"of a customer, page 2":   {Filter{Customer: "c", Cursor: "tx_1"}, []string{"transactions_by_customer (customer=? AND id<?)"}},
		"all, page 2":             {Filter{Cursor: "tx_1"}, []string{"PRIMARY KEY (id<?)"}},
		"top-ups":                 {Filter{Kind: KindTopUp}, []string{"rare_topup"}},
		"adjustments":             {Filter{Kind: KindAdjust, Cursor: "tx_1"}, []string{"rare_adjust (id<?)"}},
		"reversals":               {Filter{Kind: KindReverse}, []string{"rare_reverse"}},
	} {
		where, _, err := c.filter.where()
		if err != nil {
			t.Fatal(err)
		}
		wantPlan(t, db, name, fmt.Sprintf(selectTransactions, where), append(c.indexes, "p USING PRIMARY KEY (tx=?)"))
	}
	wantPlan(t, db, "any hold", selectAnyHold, []string{"one_hold"})
	wantPlan(t, db, "idempotency", selectIdempotent, []string{"one_idempotent"})
	wantPlan(t, db, "reversal", selectReversal, []string{"one_reversal"})
	wantPlan(t, db, "refunds", fmt.Sprintf(selectRefunds, "?, ?"), []string{"reversals_by_request"})
}

func wantPlan(t *testing.T, db *store.DB, name, query string, indexes []string) {
	t.Helper()
	plan := storetest.Plan(t, db, query)
	if storetest.Kind() == storetest.PostgreSQL {
		// Which index it takes depends on what is in the tables.
		if strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s reads a table from end to end:\n%s", name, plan)
		}
		return
	}
	for _, index := range indexes {
		if !strings.Contains(plan, index) {
			t.Errorf("%s does not use %s:\n%s", name, index, plan)
		}
	}
}

// Verify looks at each row once: no rule searches a table without an index for
// every row of another.
func TestRulesUseTheirIndexes(t *testing.T) {
	db := storetest.Open(t)
	for _, r := range rules {
		plan := storetest.Plan(t, db, r.query)
		if storetest.Kind() == storetest.PostgreSQL {
			continue // it hashes whole tables, once each
		}
		if strings.Contains(plan, "AUTOMATIC") || strings.Count(plan, "SCAN") > 1 {
			t.Errorf("%s:\n%s", r.broken, plan)
		}
	}
}

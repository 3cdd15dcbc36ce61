package ledger

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"rubicon/internal/store"
)

// TestQueriesUseTheirIndexes keeps the ledger from being read from end to end
// where it grows for ever.
func TestQueriesUseTheirIndexes(t *testing.T) {
	db := openPlan(t)
	for name, c := range map[string]struct {
		filter  Filter
		indexes []string
	}{
		"of a request":            {Filter{RequestID: "r"}, []string{"one_hold", "one_resolution", "one_cost", "reversals_by_request"}},
		"the settle of a request": {Filter{RequestID: "r", Kind: KindSettle}, []string{"one_resolution"}},
		"of a customer":           {Filter{Customer: "c"}, []string{"transactions_by_customer (customer=?)"}},
		"of a customer, page 2":   {Filter{Customer: "c", Cursor: "x"}, []string{"transactions_by_customer (customer=? AND id<?)"}},
		"all, page 2":             {Filter{Cursor: "x"}, []string{"PRIMARY KEY (id<?)"}},
		"top-ups":                 {Filter{Kind: KindTopUp}, []string{"rare_topup"}},
		"adjustments":             {Filter{Kind: KindAdjust, Cursor: "x"}, []string{"rare_adjust (id<?)"}},
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
}

func openPlan(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "plan.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

func wantPlan(t *testing.T, db *store.DB, name, query string, indexes []string) {
	t.Helper()
	args := make([]any, strings.Count(query, "?"))
	for i := range args {
		args[i] = "1"
	}
	var plan strings.Builder
	err := db.Read(t.Context(), func(q *store.Query) error {
		return q.Each("EXPLAIN QUERY PLAN "+query, args, func(row store.Rows) error {
			var (
				id, parent, unused int
				detail             string
			)
			err := row.Scan(&id, &parent, &unused, &detail)
			plan.WriteString(detail + "\n")
			return err
		})
	})
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, index := range indexes {
		if !strings.Contains(plan.String(), index) {
			t.Errorf("%s does not use %s:\n%s", name, index, plan.String())
		}
	}
}

// Verify looks at each row once: no rule searches a table without an index for
// every row of another.
func TestRulesUseTheirIndexes(t *testing.T) {
	db := openPlan(t)
	for _, r := range rules {
		var plan string
		err := db.Read(t.Context(), func(q *store.Query) error {
			return q.Each("EXPLAIN QUERY PLAN "+r.query, nil, func(row store.Rows) error {
				var (
					id, parent, unused int
					detail             string
				)
				err := row.Scan(&id, &parent, &unused, &detail)
				plan += detail + "\n"
				return err
			})
		})
		if err != nil || strings.Contains(plan, "AUTOMATIC") || strings.Count(plan, "SCAN") > 1 {
			t.Errorf("%s: %v\n%s", r.broken, err, plan)
		}
	}
}

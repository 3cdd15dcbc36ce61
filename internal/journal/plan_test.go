package journal

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rubicon/internal/store"
)

// TestListsUseTheirIndexes keeps a page from costing more as records pile up.
func TestListsUseTheirIndexes(t *testing.T) {
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "plan.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		filter Filter
		index  string
	}{
		"all":                    {Filter{}, "requests_by_time"},
		"all, page 2":            {Filter{Cursor: "1.x"}, "requests_by_time"},
		"since":                  {Filter{Since: time.Unix(1, 0)}, "requests_by_time"},
		"of a customer":          {Filter{Customer: "c"}, "requests_by_customer (customer=?)"},
		"of a customer, page 2":  {Filter{Customer: "c", Cursor: "1.x"}, "requests_by_customer (customer=?"},
		"of a response":          {Filter{ResponseID: "r"}, "requests_by_response"},
		"of a customer's answer": {Filter{ResponseID: "r", Customer: "c"}, "requests_by_response"},
	} {
		where, args, err := c.filter.where()
		if err != nil {
			t.Fatal(err)
		}
		var plan string
		err = db.Read(t.Context(), func(q *store.Query) error {
			query := "EXPLAIN QUERY PLAN " + selectFinal + where + page
			return q.Each(query, append(args, 10), func(row store.Rows) error {
				var (
					id, parent, unused int
					detail             string
				)
				err := row.Scan(&id, &parent, &unused, &detail)
				plan += detail + "\n"
				return err
			})
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(plan, c.index) || c.filter.ResponseID == "" && strings.Contains(plan, "B-TREE") {
			t.Errorf("%s: %s", name, plan)
		}
	}
}

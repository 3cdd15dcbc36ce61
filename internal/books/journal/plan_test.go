package journal

import (
	"strings"
	"testing"
	"time"

	"rubicon/internal/store/storetest"
)

// TestListsUseTheirIndexes keeps a page from costing more as records pile up.
func TestListsUseTheirIndexes(t *testing.T) {
	db := storetest.Open(t)
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
		where, _, err := c.filter.where()
		if err != nil {
			t.Fatal(err)
		}
		plan := storetest.Plan(t, db, selectFinal+where+page)
		if storetest.Kind() == storetest.PostgreSQL {
			// Which index it takes depends on what is in the table.
			if strings.Contains(plan, "Seq Scan") {
				t.Errorf("%s reads the table from end to end: %s", name, plan)
			}
			continue
		}
		if !strings.Contains(plan, c.index) || c.filter.ResponseID == "" && strings.Contains(plan, "B-TREE") {
			t.Errorf("%s: %s", name, plan)
		}
	}
}

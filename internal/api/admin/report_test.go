package admin

import (
	"strings"
	"testing"
)

func TestReportWantsAMonth(t *testing.T) {
	b := newBench(t)
	for query, want := range map[string]int{"": 400, "?month=2026": 400, "?month=2026-13": 400, "?month=2026-07&x=1": 400, "?month=2026-07": 200} {
		if got := b.do("GET", "/admin/v1/report"+query, ""); got.Code != want {
			t.Errorf("%q: status %d: %s", query, got.Code, got.Body)
		}
	}
	if got := b.do("GET", "/admin/v1/report?month=2026-07", "").Body.String(); !strings.Contains(got, `"rows":[]`) || !strings.Contains(got, `"margin":"0.000000000"`) {
		t.Errorf("an empty month: %s", got)
	}
	if got := b.do("GET", "/admin/v1/prices/none", ""); got.Code != 404 {
		t.Errorf("an unknown price list: status %d", got.Code)
	}
}

package admin

import (
	"testing"

	"rubicon/internal/lab/docgen/pagetest"
)

// The page of the admin API has every route, and no other.
func TestPage(t *testing.T) {
	var calls []string
	for _, r := range routes() {
		calls = append(calls, r.method+" "+r.path)
	}
	pagetest.Calls(t, "../../../docs/reference/admin-api.md", calls, "conflict", "method_not_allowed")
}

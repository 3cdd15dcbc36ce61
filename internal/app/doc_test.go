package app

import (
	"testing"

	"rubicon/internal/api/httpapi"
	"rubicon/internal/lab/docgen/pagetest"
)

// The page of the client API has every call, and no other.
func TestClientPage(t *testing.T) {
	pagetest.Calls(t, "../../docs/reference/client-api.md", httpapi.Patterns(surfaces()))
}

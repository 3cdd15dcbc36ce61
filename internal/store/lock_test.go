package store

import (
	"strings"
	"testing"
)

// TestOneProcessServesAFile: two writers of one SQLite file would resolve each
// other's requests.
func TestOneProcessServesAFile(t *testing.T) {
	url := file(t)
	first, err := Open(t.Context(), url, Options{Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), url, Options{Exclusive: true}); err == nil || !strings.Contains(err.Error(), "another rubicon serves this database") {
		t.Errorf("a second one: %v", err)
	}
	tool, err := Open(t.Context(), url, Options{})
	if err != nil {
		t.Errorf("a tool beside it: %v", err)
	} else if err := tool.Close(); err != nil {
		t.Error(err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	again, err := Open(t.Context(), url, Options{Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

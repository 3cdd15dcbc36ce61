package main

import (
	"strings"
	"testing"
)

// Every JSON member of the record has a row with words on it, and no words are
// left over.
func TestEveryMemberIsOnThePage(t *testing.T) {
	page, seen := recordPage(), map[string]bool{}
	for _, m := range recordMembers() {
		seen[m.path] = true
		if !strings.HasSuffix(recordWords[m.path].means, ".") {
			t.Errorf("record_words.go has no sentence for %s", m.path)
		}
		if strings.Count(page, `<a id="`+m.path+`"></a>`) != 1 {
			t.Errorf("%s has no row, or several", m.path)
		}
	}
	for path := range recordWords {
		if !seen[path] {
			t.Errorf("record_words.go explains %s, which no record has", path)
		}
	}
}

// Who sees what is read off the record that a customer gets.
func TestOperatorsMembers(t *testing.T) {
	hidden := operatorsOnly()
	for path, want := range map[string]bool{"attempts[].credential": true, "attempts[].cost": true, "attempts[].upstream_request_id": true,
		"attempts[].channel": false, "charge": false, "finished_at": false, "client_request_id": false, "decisions[].reason": false, "usage.tools": false} {
		if hidden[path] != want {
			t.Errorf("%s: hidden from customers is %v", path, hidden[path])
		}
	}
}

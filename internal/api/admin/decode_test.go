package admin

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/books/account"
)

// What decode takes, encoding/json reads the same.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"name":"k"}`, `{"name":"k","models":["a","b"],"rpm":1,"budget":{"amount":"1.5","period":"day"}}`,
		`{"name":null}`, `{"Name":"x"}`, `{"name":"a","name":"b"}`, `{"expires_at":"2030-01-01T00:00:00Z"}`, `{"rpm":1e2}`, `[]`, `{`, `{"":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var got, want account.KeySpec
		if decode(body, &got) != nil {
			return
		}
		if err := json.Unmarshal(body, &want); err != nil {
			t.Fatalf("took what encoding/json refuses: %v", err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("differs from encoding/json (-want +got):\n%s", diff)
		}
	})
}

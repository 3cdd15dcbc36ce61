package demo

import (
	"strings"
	"testing"
)

// The show fails by itself when the gateway does not do what it shows; here it
// must also say it.
func TestShow(t *testing.T) {
	var out strings.Builder
	if err := Run(t.Context(), Options{Out: &out, Once: true, Version: "test"}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"replay_failed_event", "output_delivered", "stream_read_error", "The ledger adds up"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the show does not mention %q:\n%s", want, out.String())
		}
	}
	for _, secret := range []string{"alpha-key", "beta-key"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("the show prints the credential %q", secret)
		}
	}
}

package demo

import (
	"context"
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

// stopping is where the show is printed to; it interrupts the show at a word.
type stopping struct {
	strings.Builder
	at   string
	stop context.CancelFunc
}

func (s *stopping) Write(b []byte) (int, error) {
	if strings.Contains(string(b), s.at) {
		s.stop()
	}
	return s.Builder.Write(b)
}

// An interruption is the usual end, wherever it comes; it is a failure only for
// those who asked for the whole show.
func TestInterrupted(t *testing.T) {
	for _, c := range []struct {
		name, at string
		once     bool
		fails    bool
	}{
		{name: "in the show", at: "Two scripted providers"},
		{name: "in a scene", at: "What the client saw"},
		{name: "afterwards", at: "stays up until Ctrl-C"},
		{name: "in the show, once", at: "Two scripted providers", once: true, fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			out := &stopping{at: c.at, stop: stop}
			err := Run(ctx, Options{Out: out, Once: c.once, Version: "test"})
			if (err != nil) != c.fails || ctx.Err() == nil {
				t.Errorf("%v after\n%s", err, out.String())
			}
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := Run(ctx, Options{Out: &strings.Builder{}}); err != nil {
		t.Errorf("before it began: %v", err)
	}
}

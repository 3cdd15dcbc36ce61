package recorded_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rubicon/internal/wire/protocol/recorded"
)

// spy is a test that notes how it was ended.
type spy struct {
	testing.TB
	how, said string
}

func (s *spy) Helper() {}

func (s *spy) Skipf(format string, args ...any)  { s.end("skip", format, args) }
func (s *spy) Fatalf(format string, args ...any) { s.end("fail", format, args) }

func (s *spy) end(how, format string, args []any) {
	s.how, s.said = how, fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// Recordings that are not there skip a test with the reason, and fail it where
// they are required; what is there is read either way.
func TestMissing(t *testing.T) {
	cases := []struct {
		name, ci, require string
		there             bool
		want              string
	}{
		{name: "a fresh clone", want: "skip"},
		{name: "CI is false", ci: "false", want: "skip"},
		{name: "CI", ci: "true", want: "fail"},
		{name: "required", require: "1", want: "fail"},
		{name: "there", there: true},
		{name: "there and required", there: true, ci: "true", require: "1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("CI", c.ci)
			t.Setenv("RUBICON_REQUIRE_TRANSCRIPTS", c.require)
			clone(t, c.there)
			s, n := &spy{TB: t}, 0
			done := make(chan struct{})
			go func() {
				defer close(done)
				n = len(recorded.Load(s, "chat"))
			}()
			<-done
			if s.how != c.want || (n == 1) != c.there {
				t.Errorf("%q (%s), %d exchanges", s.how, s.said, n)
			}
			if s.how != "" && (!strings.Contains(s.said, "no recorded chat traffic in ../shared/transcripts") || strings.Contains(s.said, "\n")) {
				t.Errorf("said %q", s.said)
			}
		})
	}
}

// clone goes to a folder that looks like a clone of this repository, with or
// without recordings beside it.
func clone(t *testing.T, recordings bool) {
	t.Helper()
	above := t.TempDir()
	module, beside := filepath.Join(above, "clone"), filepath.Join(above, "shared", "transcripts", "chat")
	write := func(dir, name, text string) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(module, "go.mod", "module clone\n")
	if recordings {
		write(beside, "one.json", `{"protocol":"chat","status":200,"body":"{}"}`)
	}
	t.Chdir(module)
}

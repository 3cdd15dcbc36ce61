package protocol_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/protocol"
)

func TestSeal(t *testing.T) {
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-2, example B.1
	if got := protocol.Seal("abc"); got != abc {
		t.Errorf("got %s", got)
	}
}

func TestRememberOnceAndNotForever(t *testing.T) {
	var s protocol.Observed
	s.Remember(protocol.KindAudio, "a")
	s.Remember(protocol.KindAudio, "a")
	s.Remember(protocol.KindSealed, "a")
	if len(s.State) != 2 {
		t.Errorf("got %v", s.State)
	}
	for i := range 5000 {
		s.Remember(protocol.KindAudio, strconv.Itoa(i))
	}
	if len(s.State) != 4096 {
		t.Errorf("kept %d", len(s.State))
	}
}

func TestCall(t *testing.T) {
	var s protocol.Observed
	s.Call("web_search", 0)
	if s.Hosted != nil {
		t.Errorf("nothing was called: %v", s.Hosted)
	}
	s.Call("web_search", 2)
	s.Call("web_search", 1)
	s.Call(strings.Repeat("x", 65), 1)
	if d := cmp.Diff(map[string]int64{"web_search": 2}, s.Hosted); d != "" {
		t.Error(d)
	}
	for i := range 100 {
		s.Call(strconv.Itoa(i), 1)
	}
	s.Call("web_search", 3)
	if len(s.Hosted) != 64 || s.Hosted["web_search"] != 3 {
		t.Errorf("kept %d", len(s.Hosted))
	}
}

func TestCount(t *testing.T) {
	for raw, want := range map[string]int64{
		"0": 0, "12": 12, "1e3": 1000, "-4": -4, "9223372036854775807": 1 << 40, "-9223372036854775808": -1 << 40,
		`"12"`: 12, `" 12 "`: 12, `"-4"`: -4, `"1e3"`: 1000,
		"1.5": -1, "1e99": -1, `"1.5"`: -1, `""`: -1, `"many"`: -1, `"null"`: -1, `"12 13"`: -1, `"\"12\""`: -1,
		"true": -1, "false": -1, "[]": -1, "[12]": -1, "{}": -1,
	} {
		if got, ok := protocol.Count([]byte(raw)); !ok || got != want {
			t.Errorf("%s: got %d, %v; want %d", raw, got, ok, want)
		}
	}
	for _, raw := range []string{"", "null"} {
		if _, ok := protocol.Count([]byte(raw)); ok {
			t.Errorf("%q is a count", raw)
		}
	}
}

func TestDelay(t *testing.T) {
	for object, want := range map[string]time.Duration{
		`{"retry_after":2}`:      2 * time.Second,
		`{"retry_after":0.5}`:    500 * time.Millisecond,
		`{"retry_after":" 3 "}`:  3 * time.Second,
		`{"retry_after":1e300}`:  24 * time.Hour,
		`{"retry_after":-1}`:     0,
		`{"retry_after":null}`:   0,
		`{"retry_after":"soon"}`: 0,
		`{"retry_after":"NaN"}`:  0,
		`{}`:                     0,
		`"retry_after"`:          0,
		``:                       0,
	} {
		if got := protocol.Delay([]byte(object)); got != want {
			t.Errorf("%s: got %v, want %v", object, got, want)
		}
	}
}

package sse

import "testing"

func TestQuiet(t *testing.T) {
	for _, c := range []struct {
		raw     string
		comment bool
		want    string
	}{
		{": x\n\n", true, ": x\n"},
		{"\n\n: x\n: y\n\n", true, ": x\n: y\n"},
		{": x\n", true, ": x\n"},
		{"\n\ndata: x\n\n", false, "data: x\n\n"},
		{"data: x\n\n", false, "data: x\n\n"},
		{"", true, ""},
	} {
		if got := string(Quiet([]byte(c.raw), c.comment)); got != c.want {
			t.Errorf("%q: %q, want %q", c.raw, got, c.want)
		}
	}
}

package stand

import (
	"net"
	"strings"
	"testing"
)

// The watch finds what it looks for wherever writes part it.
func TestWatch(t *testing.T) {
	const text = "before sk-canary-123 after"
	for at := range len(text) {
		w := NewWatch("a client", []string{Canary})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		in, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		out, err := (&watchedListener{Listener: l, watch: w}).Accept()
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range []string{text[:at], text[at:]} {
			if _, err := out.Write([]byte(piece)); err != nil {
				t.Fatal(err)
			}
		}
		if leaks := w.Leaks(); len(leaks) == 0 || !strings.Contains(leaks[0], Canary) {
			t.Errorf("parted after %d bytes: found %q", at, leaks)
		}
		in.Close()
		out.Close()
		l.Close()
	}
}

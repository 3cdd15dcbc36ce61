package lock

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"rubicon/lock/difference"
	"rubicon/lock/form"
)

// recordings are the files of that folder. A recording over WebSocket is written
// as what differs from its sibling over HTTP, so that one cannot be read, or
// written, without the other.
type recordings struct {
	mu    sync.Mutex
	fresh map[string][]byte // with -update: compact JSON, by name
}

func pathOf(name string) string { return filepath.Join("recordings", name+".json") }

// siblingOf is the name of the recording over HTTP; "" for one that is none over
// WebSocket.
func siblingOf(name string) string {
	sibling, _ := strings.CutSuffix(name, ".ws")
	if sibling == name {
		return ""
	}
	return sibling
}

// kept is a recording as compact JSON, written out.
func kept(name string) ([]byte, error) {
	data, err := os.ReadFile(pathOf(name))
	if err != nil {
		return nil, err
	}
	var sibling []byte
	if other := siblingOf(name); other != "" {
		if sibling, err = kept(other); err != nil {
			return nil, err
		}
	}
	return form.Standard().Expand(data, sibling)
}

// compare holds a recording against the one that is kept, or takes it in for
// the end, when all are written.
func (r *recordings) compare(t *testing.T, name string, got []byte) {
	t.Helper()
	if got == nil {
		return // it could not be played; that was reported
	}
	if *update {
		if t.Failed() {
			t.Logf("not recorded: %s", name)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fresh[name] = got
		return
	}
	want, err := kept(name)
	if err != nil {
		t.Errorf("no recording: look at the run with -update, then read what was written (%v)", err)
		return
	}
	if !bytes.Equal(want, got) {
		t.Errorf("the behaviour is not the recorded one (- recorded, + now):\n%s", strings.Join(difference.Of(shown(t, want), shown(t, got)), "\n"))
	}
}

// shown is a recording as a person reads it.
func shown(t *testing.T, compact []byte) []byte {
	t.Helper()
	text, err := form.Write(compact, nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// write puts what was recorded anew into the folder.
func (r *recordings) write(t *testing.T) {
	t.Helper()
	for name, got := range r.fresh {
		var sibling []byte
		if other := siblingOf(name); other != "" {
			var err error
			if sibling = r.fresh[other]; sibling == nil {
				if sibling, err = kept(other); err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
			}
		}
		text, err := form.Write(got, sibling)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := os.WriteFile(pathOf(name), text, 0o644); err != nil {
			t.Error(err)
		}
	}
}

// TestKept: what is kept is in the form of recordings, so nobody edited it by
// hand, and every usual object is of use.
func TestKept(t *testing.T) {
	files, err := filepath.Glob(pathOf("*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var all bytes.Buffer
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
		got, err := kept(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var sibling []byte
		if other := siblingOf(name); other != "" {
			if sibling, err = kept(other); err != nil {
				t.Fatal(err)
			}
		}
		if again, err := form.Write(got, sibling); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s is not in the form of recordings: go test ./lock -update (%v)", f, err)
		}
	}
	for _, name := range form.Standard().Names() {
		if !bytes.Contains(all.Bytes(), []byte(`"like": "`+name+`"`)) {
			t.Errorf("no recording has anything like the usual %s", name)
		}
	}
}

package spool

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// flips are bytes that another one can turn into: each of its bits, and what
// means something in the file.
func flips(was byte) []byte {
	out := []byte{'\n', ' ', 0}
	for bit := range 8 {
		out = append(out, was^1<<bit)
	}
	return slices.DeleteFunc(out, func(b byte) bool { return b == was })
}

// TestAnyByteIsDamaged: whatever byte of a file a disk changes, in one that a
// dead process left or under a living one, every other entry comes out, in
// order; what does not is kept, and somebody is told once.
func TestAnyByteIsDamaged(t *testing.T) {
	want := []string{`{"n":1}`, `{"n":"00000000 {}"}`, `{}`, `{"n":4}`}
	var whole []byte
	var owner []int // of each byte, by its entry
	for i, e := range want {
		line := frame([]byte(e))
		whole = append(whole, line...)
		owner = append(owner, slices.Repeat([]int{i}, len(line))...)
	}
	for at := range whole {
		for i, b := range flips(whole[at]) {
			file := bytes.Clone(whole)
			file[at] = b
			checkSplit(t, file, want, owner[at])
			if i == at%8 { // a disk is slow
				t.Run(fmt.Sprintf("byte %d is %q", at, b), func(t *testing.T) {
					damaged(t, file, at%2 == 0, want, owner[at])
				})
			}
		}
	}
}

// checkSplit wants everything but the entry that was hit.
func checkSplit(t *testing.T, file []byte, want []string, hit int) {
	t.Helper()
	var got []string
	for line := range bytes.Lines(file) {
		entries, _ := split(line)
		for _, e := range entries {
			got = append(got, string(e))
		}
	}
	if !slices.Equal(got, want) && !slices.Equal(got, slices.Delete(slices.Clone(want), hit, hit+1)) {
		t.Errorf("of %q came %q", file, got)
	}
}

func damaged(t *testing.T, file []byte, live bool, want []string, hit int) {
	dir := t.TempDir()
	told := 0
	o := Options{Damaged: func(d Damage) {
		if told++; d.Err != nil || d.Bytes == 0 || d.File != "db.node.spool" || d.Kept != "db.node.spool.damaged" {
			t.Errorf("told %+v", d)
		}
	}}
	s := opened(t, dir, file, live, o)
	for range 2 { // one that cannot be carried out makes it be read again
		_ = s.Process(func([][]byte) (int, error) { return 0, os.ErrDeadlineExceeded })
	}
	got := drain(t, s)
	must(t, s.Append([]byte("new")))
	if more := drain(t, s); !slices.Equal(more, []string{"new"}) {
		t.Errorf("afterwards: %q", more)
	}
	must(t, s.Close())
	aside, _ := os.ReadFile(filepath.Join(dir, "db.node.spool.damaged"))
	lost := slices.Delete(slices.Clone(want), hit, hit+1)
	switch {
	case slices.Equal(got, want): // its line feed, or the case of a digit
		if told != 0 || aside != nil {
			t.Errorf("nothing is lost, and somebody was told of %q", aside)
		}
	case !slices.Equal(got, lost):
		t.Errorf("got %q, want %q", got, lost)
	case told == 0 && hit != len(want)-1, told > 2, told > 0 && len(aside) == 0:
		t.Errorf("told %d times, kept %q", told, aside)
	}
	if _, err := os.Stat(filepath.Join(dir, "db.node.spool")); err == nil {
		t.Error("the file stays")
	}
}

// opened is a spool with that in its file.
func opened(t *testing.T, dir string, file []byte, live bool, o Options) *Spool {
	t.Helper()
	path := filepath.Join(dir, "db.node.spool")
	if !live {
		must(t, os.WriteFile(path, file, 0o600))
		left, err := Leftovers(dir, "db.", o)
		must(t, err)
		return left[0].Spool
	}
	s, err := Create(dir, "db.node", o)
	must(t, err)
	must(t, os.WriteFile(path, file, 0o600))
	s.end, s.filed = int64(len(file)), 4
	return s
}

// TestDamageThatCannotBeKept leaves the spool's file where it is.
func TestDamageThatCannotBeKept(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "db.node.spool.damaged"), 0o700))
	var told Damage
	s := opened(t, dir, append([]byte("broken\n"), frame([]byte("whole"))...), false, Options{Damaged: func(d Damage) { told = d }})
	if got := drain(t, s); !slices.Equal(got, []string{"whole"}) || told.Err == nil {
		t.Errorf("got %q, told %+v", got, told)
	}
	must(t, s.Close())
	if _, err := os.Stat(filepath.Join(dir, "db.node.spool")); err != nil {
		t.Error(err)
	}
}

// FuzzSplit: everything is an entry or broken, and what is an entry was framed.
func FuzzSplit(f *testing.F) {
	f.Add([]byte("00000000 \n"))
	joined := append(frame([]byte(`{"a":1}`)), frame([]byte(`{"b":2}`))...)
	joined[bytes.IndexByte(joined, '\n')] = 'x'
	f.Add(joined)
	f.Fuzz(func(t *testing.T, line []byte) {
		entries, broken := split(line)
		length := 0
		for _, e := range entries {
			length += len(e) + sumLength + 1
			if framed := frame(e); !bytes.Contains(bytes.ToLower(line), bytes.ToLower(framed[:len(framed)-1])) {
				t.Errorf("%q is read in %q", e, line)
			}
		}
		for _, b := range broken {
			length += len(b)
		}
		if length != len(line) {
			t.Errorf("%d of %d bytes of %q", length, len(line), line)
		}
	})
}

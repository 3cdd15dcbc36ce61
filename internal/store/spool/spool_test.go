package spool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// one takes entries one by one.
func one(take func(entry []byte) error) func([][]byte) (int, error) {
	return func(entries [][]byte) (int, error) {
		for i, e := range entries {
			if err := take(e); err != nil {
				return i, err
			}
		}
		return len(entries), nil
	}
}

func drain(t *testing.T, s *Spool) (got []string) {
	t.Helper()
	must(t, s.Process(one(func(e []byte) error { got = append(got, string(e)); return nil })))
	if n, since := s.Waiting(); n != 0 || !since.IsZero() {
		t.Errorf("%d wait after draining, since %v", n, since)
	}
	return got
}

func TestEntriesComeOutInOrder(t *testing.T) {
	for name, s := range map[string]*Spool{"file": create(t, t.TempDir()), "memory": Memory()} {
		var want []string
		for i := range 5 {
			entry := fmt.Sprintf(`{"n":%d}`, i)
			want = append(want, entry)
			must(t, s.Append([]byte(entry)))
		}
		if n, since := s.Waiting(); n != 5 || since.IsZero() {
			t.Errorf("%s: %d wait, since %v", name, n, since)
		}
		// One that cannot be carried out stays, with those behind it.
		refused := errors.New("no")
		var got []string
		err := s.Process(one(func(e []byte) error {
			if len(got) == 2 {
				return refused
			}
			got = append(got, string(e))
			return nil
		}))
		if !errors.Is(err, refused) {
			t.Errorf("%s: %v", name, err)
		}
		must(t, s.Append([]byte(`"late"`)))
		got = append(got, drain(t, s)...)
		if diff := cmp.Diff(append(want, `"late"`), got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		must(t, s.Append([]byte("again")))
		if got := drain(t, s); !slices.Equal(got, []string{"again"}) {
			t.Errorf("%s: %q", name, got)
		}
		must(t, s.Close())
	}
}

func create(t *testing.T, dir string) *Spool {
	t.Helper()
	s, err := Create(dir, "db.node", Options{Sync: true})
	must(t, err)
	return s
}

// TestWhatADeadProcessLeft: whole entries are found, whatever the process was
// writing when it died.
func TestWhatADeadProcessLeft(t *testing.T) {
	whole := append(frame([]byte("one")), frame([]byte("two"))...)
	third := frame([]byte("three"))
	for cut := range third {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "db.node.spool"), slices.Concat(whole, third[:cut]), 0o600))
		left, err := Leftovers(dir, "db.", Options{})
		must(t, err)
		if len(left) != 1 || left[0].Name != "db.node" {
			t.Fatalf("cut at %d: found %v", cut, left)
		}
		must(t, left[0].Append([]byte("four")))
		if got := drain(t, left[0].Spool); !slices.Equal(got, []string{"one", "two", "four"}) {
			t.Errorf("cut at %d: %q", cut, got)
		}
		must(t, left[0].Close())
		if files, _ := os.ReadDir(dir); len(files) != 0 {
			t.Errorf("cut at %d: %v stays", cut, files)
		}
	}
}

func TestALivingProcessKeepsItsSpool(t *testing.T) {
	dir := t.TempDir()
	s := create(t, dir)
	must(t, s.Append([]byte("mine")))
	left, err := Leftovers(dir, "", Options{})
	must(t, err)
	if len(left) != 0 {
		t.Errorf("took over %v", left)
	}
	must(t, s.Close()) // with an entry in it
	if left, err = Leftovers(dir, "other.", Options{}); err != nil || len(left) != 0 {
		t.Errorf("another database's: %v, %v", left, err)
	}
	if left, err = Leftovers(dir, "db.", Options{}); err != nil || len(left) != 1 {
		t.Fatalf("%v, %v", left, err)
	}
	if got := drain(t, left[0].Spool); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("got %q", got)
	}
	must(t, left[0].Close())
}

// TestAFullDisk: what cannot be written is refused, or waits in memory where
// nobody relies on it, and does not hide what was written.
func TestAFullDisk(t *testing.T) {
	s := create(t, t.TempDir())
	must(t, s.Append([]byte("on disk")))
	whole := s.file
	full, err := os.Open("/dev/null") // not open for writing
	must(t, err)
	s.file = full
	if err := s.Append([]byte("refused")); !errors.Is(err, ErrNotWritten) {
		t.Errorf("got %v", err)
	}
	must(t, s.Keep([]byte("in memory")))
	if err := s.Spare([]byte("spare")); !errors.Is(err, ErrNotWritten) {
		t.Errorf("a spare entry: %v", err)
	}
	s.file = whole
	must(t, full.Close())
	must(t, s.Append([]byte("on disk too")))
	if got := drain(t, s); !slices.Equal(got, []string{"on disk", "on disk too", "in memory"}) {
		t.Errorf("got %q", got)
	}
	must(t, s.Close())
}

// TestSpareEntriesLeaveRoom: however many of them come, others are taken; and
// there is room for them again once the spool was empty.
func TestSpareEntriesLeaveRoom(t *testing.T) {
	spare := bytes.Repeat([]byte("s"), spareRoom/8)
	for name, s := range map[string]*Spool{"file": create(t, t.TempDir()), "memory": Memory()} {
		for i := range 10 {
			if err := s.Spare(spare); (err != nil) != (i >= 8) || err != nil && !errors.Is(err, ErrFull) {
				t.Errorf("%s: spare entry %d: %v", name, i, err)
			}
			must(t, s.Append(fmt.Appendf(nil, "end %d", i)))
		}
		if got := drain(t, s); len(got) != 18 {
			t.Errorf("%s: %d came out", name, len(got))
		}
		must(t, s.Spare(spare))
		must(t, s.Close())
	}
}

// TestSpareEntriesLeaveRoomInMemory, where places count, not bytes.
func TestSpareEntriesLeaveRoomInMemory(t *testing.T) {
	s := Memory()
	for s.Spare([]byte("s")) == nil {
	}
	for i := range maxMemory / 2 {
		if err := s.Append([]byte("an end")); err != nil {
			t.Fatalf("the end %d: %v", i, err)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	s := create(t, t.TempDir())
	var wg sync.WaitGroup
	seen := map[string]int{}
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if err := s.Append(fmt.Appendf(nil, "%d-%d", w, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 200 {
			_ = s.Process(one(func(e []byte) error { seen[string(e)]++; return nil }))
		}
	})
	wg.Wait()
	must(t, s.Process(one(func(e []byte) error { seen[string(e)]++; return nil })))
	if len(seen) != 400 {
		t.Errorf("%d of 400 came out", len(seen))
	}
	for e, n := range seen {
		if n != 1 {
			t.Errorf("%s came out %d times", e, n)
		}
	}
	must(t, s.Close())
}

func FuzzUnframe(f *testing.F) {
	f.Add([]byte("00000000 \n"))
	f.Add(frame([]byte(`{"a":1}`)))
	f.Fuzz(func(t *testing.T, line []byte) {
		entry, ok := unframe(line)
		if ok && !bytes.Contains(entry, []byte("\n")) && !bytes.EqualFold(frame(entry), line) {
			t.Errorf("%q is read as %q", line, entry)
		}
	})
}

package watch

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// Of two writes in one tick of the file system's clock only the size tells.
	if err := os.Chtimes(name, time.Time{}, time.Now().Add(time.Duration(len(text))*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
}

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		main, key, real := filepath.Join(dir, "main"), filepath.Join(dir, "key"), filepath.Join(dir, "real")
		write(t, main, "one")
		write(t, real, "secret")
		if err := os.Symlink(real, key); err != nil {
			t.Fatal(err)
		}
		files := []string{main, key}
		var changes atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			Run(ctx, func() []string { return files }, func() { changes.Add(1) })
		}()
		expect := func(what string, n int64) {
			t.Helper()
			time.Sleep(3 * Every)
			synctest.Wait()
			if got := changes.Load(); got != n {
				t.Errorf("%s: %d changes, want %d", what, got, n)
			}
		}
		expect("nothing", 0)
		write(t, main, "two")
		expect("a change", 1)
		expect("told once", 1)

		write(t, real, "other secret")
		expect("behind a symbolic link", 2)

		write(t, filepath.Join(dir, "new"), "renamed over it")
		if err := os.Rename(filepath.Join(dir, "new"), main); err != nil {
			t.Fatal(err)
		}
		expect("replaced", 3)

		for i := range 5 { // a slow writer
			write(t, main, "growing"[:i+1])
			time.Sleep(Every)
		}
		synctest.Wait()
		if got := changes.Load(); got != 3 {
			t.Errorf("read while it was written: %d", got)
		}
		expect("written", 4)

		if err := os.Remove(main); err != nil {
			t.Fatal(err)
		}
		expect("gone", 5)
		cancel()
		<-done
	})
}

package store

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// The log of a writer that is never idle, and whose rows are large, is begun
// anew every now and then all the same.
func TestTheLogStaysShort(t *testing.T) {
	const rows, size = 240, 1 << 20
	file := filepath.Join(t.TempDir(), "x.db")
	d, err := dialectFor("sqlite:"+file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d.volume = 16 << 20
	db, err := openDialect(t.Context(), d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.Write(t.Context(), func(tx *Tx) error {
		_, err := tx.Exec("CREATE TABLE blobs (id INTEGER PRIMARY KEY, body BLOB)")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var next, most atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			body := make([]byte, size)
			for n := next.Add(1); n <= rows; n = next.Add(1) {
				err := db.Write(t.Context(), func(tx *Tx) error {
					if n%2 == 0 {
						tx.Insert(InsertInto{Table: "blobs", Columns: "id, body"}, n, body)
						return nil
					}
					_, err := tx.Exec("INSERT INTO blobs (id, body) VALUES (?, ?)", n, body)
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
				if info, err := os.Stat(file + "-wal"); err == nil && info.Size() > most.Load() {
					most.Store(info.Size())
				}
			}
		})
	}
	wg.Wait()
	if got := most.Load(); got > rows*size/2 {
		t.Errorf("the log reached %d MiB", got>>20)
	}
	var n int
	if err := db.Read(t.Context(), func(q *Query) error { return q.QueryRow("SELECT count(*) FROM blobs", nil, &n) }); err != nil || n != rows {
		t.Errorf("%d rows, %v", n, err)
	}
}

package cluster

import (
	"slices"

	"rubicon/internal/store"
)

// fence is which nodes have a row in one database transaction. The rows stay
// until it ends: whoever wants to remove one waits, and sees afterwards what the
// transaction wrote under its name.
type fence struct {
	asked []string
	alive map[string]bool
}

type fenceKey struct{}

func fenceOf(tx *store.Tx) *fence {
	return tx.Pending(fenceKey{}, func() store.Pending { return &fence{alive: map[string]bool{}} }).(*fence)
}

// Load reads the rows.
func (f *fence) Load(tx *store.Tx) {
	tx.Preload(selectAlive, f.asked, func(row store.Rows) error {
		var id string
		err := row.Scan(&id)
		f.alive[id] = true
		return err
	})
}

// Flush has nothing to write.
func (f *fence) Flush(*store.Tx) error { return nil }

// Expect announces to store.Write that the operation will Check a node.
func Expect(id string) func(tx *store.Tx) {
	return func(tx *store.Tx) {
		if f := fenceOf(tx); !slices.Contains(f.asked, id) {
			f.asked = append(f.asked, id)
		}
	}
}

// Check refuses work that begins under a node whose lease was lost, with ErrLeaseLost.
// Expect must have announced the node.
func Check(tx *store.Tx, id string) error {
	if !fenceOf(tx).alive[id] {
		return ErrLeaseLost
	}
	return nil
}

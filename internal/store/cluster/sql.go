package cluster

import "rubicon/internal/store"

const (
	insertIdentity = `INSERT INTO store_identity (only_row, id) VALUES (1, ?) ON CONFLICT (only_row) DO NOTHING`
	selectIdentity = `SELECT id FROM store_identity`

	insertNode  = `INSERT INTO nodes (id, host, started_at, beat) VALUES (?, ?, ?, 0)`
	renew       = `UPDATE nodes SET beat = beat + 1 WHERE id = ?`
	selectBeats = `SELECT id, beat FROM nodes`
	deleteNode  = `DELETE FROM nodes WHERE id = ?`
	deleteAll   = `DELETE FROM nodes`
	// Only if it did not beat meanwhile.
	deleteSilent = `DELETE FROM nodes WHERE id = ? AND beat = ?`
)

var selectAlive = store.SelectIn{Columns: "id", Table: "nodes", Column: "id", Keep: true}

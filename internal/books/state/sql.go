package state

import "rubicon/internal/store"

const (
	// %s is a list of parameters.
	selectEntries = `SELECT id_hash, origin, channel, store_off, tokens FROM state_ids
		WHERE expires_at > ? AND id_hash IN (%s)`

	deleteEntry = `DELETE FROM state_ids WHERE id_hash = ?`

	deleteExpired = `DELETE FROM state_ids WHERE id_hash IN (
		SELECT id_hash FROM state_ids WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`
)

var upsertEntry = store.InsertInto{
	Table:   "state_ids",
	Last:    true,
	Columns: "id_hash, origin, channel, store_off, tokens, expires_at",
	Conflict: `ON CONFLICT (id_hash) DO UPDATE SET origin = excluded.origin, channel = excluded.channel,
		store_off = excluded.store_off, tokens = excluded.tokens, expires_at = excluded.expires_at`,
}

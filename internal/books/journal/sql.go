package journal

import "rubicon/internal/store"

const (
	finalColumns = `request_id, customer, key_id, client_request_id, node, surface, public_model, outcome, response_id,` +
		` started_at, finished_at, charge, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,` +
		` usage_source, body`

	runningColumns = `request_id, customer, key_id, client_request_id, node, surface, public_model, response_id,` +
		` started_at, billing, body`

	selectFinal = `SELECT ` + finalColumns + ` FROM requests`

	selectRunning = `SELECT ` + runningColumns + `, output_events, delivered_bytes, note, noted_at FROM running_requests`

	selectNodes = `SELECT DISTINCT node FROM running_requests`

	page = ` ORDER BY started_at DESC, request_id DESC LIMIT ?`

	// A note that was read earlier and arrives later does not undo a newer one.
	updateProgress = `UPDATE running_requests SET output_events = ?, delivered_bytes = ?, note = ?, noted_at = ?
		WHERE request_id = ? AND output_events <= ?`

	deleteOld = `DELETE FROM requests WHERE request_id IN (
		SELECT request_id FROM requests WHERE started_at < ? ORDER BY started_at LIMIT ?)`
)

var (
	insertRunning = store.InsertInto{Table: "running_requests", Columns: runningColumns}
	deleteRunning = store.DeleteFrom{Table: "running_requests", Column: "request_id"}

	// The second end of a request changes nothing.
	insertFinal = store.InsertInto{
		Table: "requests", Columns: finalColumns, Conflict: `ON CONFLICT (request_id) DO NOTHING`,
	}
)

package journal

import "rubicon/internal/store"

const columns = `request_id, customer, key_id, client_request_id, node, surface, public_model, outcome, response_id,` +
	` started_at, finished_at, charge, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,` +
	` usage_source, billing, body`

const (
	selectRequest = `SELECT ` + columns + ` FROM requests WHERE request_id = ?`

	// %s is the condition.
	selectRequests = `SELECT ` + columns + ` FROM requests WHERE %s ORDER BY started_at DESC, request_id DESC LIMIT ?`

	selectRunning = `SELECT ` + columns + `, COALESCE(p.output_events, 0), COALESCE(p.delivered_bytes, 0),
			COALESCE(p.note, ''), COALESCE(p.noted_at, 0)
		FROM (SELECT * FROM requests WHERE outcome = 'running') r
		LEFT JOIN progress p USING (request_id)
		ORDER BY r.started_at, request_id`

	upsertProgress = `INSERT INTO progress (request_id, output_events, delivered_bytes, note, noted_at)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (request_id) DO UPDATE SET output_events = excluded.output_events,
			delivered_bytes = excluded.delivered_bytes, note = excluded.note, noted_at = excluded.noted_at`

	deleteOld = `DELETE FROM requests WHERE request_id IN (
		SELECT request_id FROM requests WHERE started_at < ? AND outcome <> 'running' ORDER BY started_at LIMIT ?)`

	// Finish leaves progress alone, because most requests have none.
	deleteStaleProgress = `DELETE FROM progress WHERE NOT EXISTS (
		SELECT 1 FROM requests r WHERE r.request_id = progress.request_id AND r.outcome = 'running')`
)

var (
	insertRequest = store.InsertInto{Table: "requests", Columns: columns}

	// The row is there since Begin; what Begin alone knows stays (node,
	// billing, started_at), and a final record stays altogether.
	finishRequest = store.InsertInto{
		Table: "requests", Columns: columns,
		Conflict: `ON CONFLICT (request_id) DO UPDATE SET
			public_model = excluded.public_model, outcome = excluded.outcome, response_id = excluded.response_id,
			finished_at = excluded.finished_at, charge = excluded.charge, input_tokens = excluded.input_tokens,
			cached_input_tokens = excluded.cached_input_tokens, cache_write_tokens = excluded.cache_write_tokens,
			output_tokens = excluded.output_tokens, usage_source = excluded.usage_source, body = excluded.body
			WHERE requests.outcome = 'running'`,
	}
)

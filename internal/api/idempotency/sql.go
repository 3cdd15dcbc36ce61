package idempotency

const (
	insertClaim = `INSERT INTO idempotency_answers (customer, idempotency_key, digest, request_id, node, state, expires_at)
		VALUES (?, ?, ?, ?, ?, 'running', ?) ON CONFLICT (customer, idempotency_key) DO NOTHING`
	// One that is past its time is nobody's any more.
	renewClaim = `UPDATE idempotency_answers SET digest = ?, request_id = ?, node = ?, state = 'running', expires_at = ?,
			status = 0, header = '', size = 0, body = NULL
		WHERE customer = ? AND idempotency_key = ? AND expires_at <= ?`
	selectAnswer = `SELECT digest, request_id, node, state, status, header, body FROM idempotency_answers
		WHERE customer = ? AND idempotency_key = ?`
	countAnswers = `SELECT COUNT(*) FROM idempotency_answers WHERE customer = ? AND idempotency_key = ? AND expires_at > ?`

	keepAnswer = `UPDATE idempotency_answers SET state = 'kept', status = ?, header = ?, size = ?, body = ?
		WHERE customer = ? AND idempotency_key = ? AND request_id = ?`
	markNotKept = `UPDATE idempotency_answers SET state = 'lost', size = 0, body = NULL
		WHERE customer = ? AND idempotency_key = ? AND request_id = ?`
	deleteClaim = `DELETE FROM idempotency_answers WHERE customer = ? AND idempotency_key = ? AND request_id = ?`

	// What a node left running: what was charged must not be charged again. Of a
	// request that is still on record as running, the end may wait for its turn.
	deleteUnchargedClaims = `DELETE FROM idempotency_answers WHERE state = 'running' AND node = ? AND NOT EXISTS (
		SELECT 1 FROM requests q WHERE q.request_id = idempotency_answers.request_id AND q.charge > 0)` + requestEnded
	markChargedNotKept = `UPDATE idempotency_answers SET state = 'lost' WHERE state = 'running' AND node = ?` + requestEnded
	requestEnded       = ` AND NOT EXISTS (SELECT 1 FROM running_requests r WHERE r.request_id = idempotency_answers.request_id)`
	selectNodes        = `SELECT DISTINCT node FROM idempotency_answers WHERE state = 'running'`
	oneKey             = ` AND customer = ? AND idempotency_key = ?`

	deleteExpired = `DELETE FROM idempotency_answers WHERE (customer, idempotency_key) IN (
		SELECT customer, idempotency_key FROM idempotency_answers WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`
	sumStored    = `SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM idempotency_answers`
	oldestStored = `SELECT customer, idempotency_key, request_id, size FROM idempotency_answers WHERE size > 0
		ORDER BY expires_at LIMIT ?`
)

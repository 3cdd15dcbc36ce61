-- The keys of requests that carried an Idempotency-Key, per customer, with
-- their answers: deleted after a day. Times are Unix milliseconds.

CREATE TABLE idempotency_answers (
	customer TEXT NOT NULL,
	idempotency_key TEXT NOT NULL,
	digest BYTEA NOT NULL, -- SHA-256 of path and body
	request_id TEXT NOT NULL,
	node TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('running', 'kept', 'lost')),
	expires_at BIGINT NOT NULL,
	status BIGINT NOT NULL DEFAULT 0,
	header TEXT NOT NULL DEFAULT '', -- JSON
	size BIGINT NOT NULL DEFAULT 0, -- of the body; before it, so that sums need not read it
	body BYTEA,
	PRIMARY KEY (customer, idempotency_key)
);
CREATE INDEX idempotency_answers_by_expiry ON idempotency_answers (expires_at);
CREATE INDEX idempotency_answers_running ON idempotency_answers (node) WHERE state = 'running';

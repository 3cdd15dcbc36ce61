-- The journal: one row per request. What is filtered or summed has a column,
-- the rest is JSON. Times are Unix milliseconds, 0 for not yet.

CREATE TABLE requests (
	request_id TEXT NOT NULL PRIMARY KEY,
	customer TEXT NOT NULL,
	key_id TEXT NOT NULL,
	client_request_id TEXT NOT NULL,
	node TEXT NOT NULL,
	surface TEXT NOT NULL,
	public_model TEXT NOT NULL,
	outcome TEXT NOT NULL CHECK (outcome <> 'running'),
	response_id TEXT NOT NULL,
	started_at BIGINT NOT NULL,
	finished_at BIGINT NOT NULL,
	charge BIGINT NOT NULL,
	input_tokens BIGINT NOT NULL,
	cached_input_tokens BIGINT NOT NULL,
	cache_write_tokens BIGINT NOT NULL,
	output_tokens BIGINT NOT NULL,
	usage_source TEXT NOT NULL,
	body TEXT NOT NULL
);
CREATE INDEX requests_by_time ON requests (started_at, request_id);
CREATE INDEX requests_by_customer ON requests (customer, started_at, request_id);
CREATE INDEX requests_by_response ON requests (response_id) WHERE response_id <> '';

-- The requests that run now, apart from the others: a final record is written
-- once and never rewritten, and recovery after a crash reads a small table.
CREATE TABLE running_requests (
	request_id TEXT NOT NULL PRIMARY KEY,
	customer TEXT NOT NULL,
	key_id TEXT NOT NULL,
	client_request_id TEXT NOT NULL,
	node TEXT NOT NULL,
	surface TEXT NOT NULL,
	public_model TEXT NOT NULL,
	response_id TEXT NOT NULL,
	started_at BIGINT NOT NULL,
	billing TEXT NOT NULL,
	body TEXT NOT NULL,
	-- What had been delivered when it was last noted.
	output_events BIGINT NOT NULL DEFAULT 0,
	delivered_bytes BIGINT NOT NULL DEFAULT 0,
	note TEXT NOT NULL DEFAULT '',
	noted_at BIGINT NOT NULL DEFAULT 0
) /*!sqlite WITHOUT ROWID */;

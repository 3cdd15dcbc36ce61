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
	outcome TEXT NOT NULL,
	response_id TEXT NOT NULL,
	started_at BIGINT NOT NULL,
	finished_at BIGINT NOT NULL,
	charge BIGINT NOT NULL,
	input_tokens BIGINT NOT NULL,
	cached_input_tokens BIGINT NOT NULL,
	cache_write_tokens BIGINT NOT NULL,
	output_tokens BIGINT NOT NULL,
	usage_source TEXT NOT NULL,
	billing TEXT NOT NULL,
	body TEXT NOT NULL
);
CREATE INDEX requests_by_time ON requests (started_at, request_id);
CREATE INDEX requests_by_customer ON requests (customer, started_at, request_id);
CREATE INDEX requests_by_response ON requests (response_id) WHERE response_id <> '';
CREATE INDEX requests_running ON requests (started_at, request_id) WHERE outcome = 'running';

-- What had been delivered of a running request, for recovery after a crash.
CREATE TABLE progress (
	request_id TEXT NOT NULL PRIMARY KEY,
	output_events BIGINT NOT NULL,
	delivered_bytes BIGINT NOT NULL,
	note TEXT NOT NULL,
	noted_at BIGINT NOT NULL
) /*!sqlite WITHOUT ROWID */;

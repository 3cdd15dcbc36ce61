-- The gateway processes that serve from this database.

CREATE TABLE nodes (
	id TEXT NOT NULL PRIMARY KEY, -- new with every start
	host TEXT NOT NULL,
	started_at BIGINT NOT NULL,
	beat BIGINT NOT NULL -- rises while the process lives
);

-- Tells one database from another.
CREATE TABLE store_identity (
	only_row BIGINT NOT NULL PRIMARY KEY CHECK (only_row = 1),
	id TEXT NOT NULL
);

-- Adjustments that belong to a request: what was learned of it too late.
CREATE INDEX adjusts_by_request ON transactions (request_id) WHERE kind = 'adjust' AND request_id <> '';

/*!postgres
-- Where the writer of each process finds out, after it lost its connection
-- during a COMMIT, whether that was carried out.
CREATE TABLE commit_marks (
	writer TEXT NOT NULL PRIMARY KEY,
	number BIGINT NOT NULL,
	at BIGINT NOT NULL
) WITH (fillfactor = 50);
*/

-- The gateway processes that serve from this database.

CREATE TABLE nodes (
	id TEXT NOT NULL PRIMARY KEY, -- new with every start
	host TEXT NOT NULL,
	started_at BIGINT NOT NULL,
	beat BIGINT NOT NULL -- raised at every renewal of the lease
);

-- The identity of this database.
CREATE TABLE store_identity (
	only_row BIGINT NOT NULL PRIMARY KEY CHECK (only_row = 1),
	id TEXT NOT NULL
);

-- Adjustments that belong to a request: corrections that arrived after the take-over.
CREATE INDEX adjusts_by_request ON transactions (request_id) WHERE kind = 'adjust' AND request_id <> '';

/*!postgres
-- After a connection is lost during COMMIT, the writer reads here whether that
-- commit happened.
CREATE TABLE commit_marks (
	writer TEXT NOT NULL PRIMARY KEY,
	number BIGINT NOT NULL,
	at BIGINT NOT NULL
) WITH (fillfactor = 50);
*/

-- Every price list that was ever in force. Charges name their version.

CREATE TABLE prices (
	version TEXT NOT NULL PRIMARY KEY, -- a hash of the list
	list TEXT NOT NULL, -- JSON
	first_used_at BIGINT NOT NULL -- Unix milliseconds
);

-- What each node knows of its channels, and what operators ordered: a snapshot
-- as JSON.

CREATE TABLE health (
	node TEXT NOT NULL PRIMARY KEY,
	at BIGINT NOT NULL,
	body TEXT NOT NULL
);

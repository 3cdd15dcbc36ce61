-- Each node's snapshot of the health of its channels, as JSON.

CREATE TABLE health (
	node TEXT NOT NULL PRIMARY KEY,
	at BIGINT NOT NULL,
	body TEXT NOT NULL
);

-- What operators ordered about channels, in order, for every node that serves
-- from this database. Never deleted: who did what, when and why.

CREATE TABLE channel_orders (
	number BIGINT NOT NULL PRIMARY KEY,
	at BIGINT NOT NULL, -- Unix milliseconds
	node TEXT NOT NULL, -- the process that was told
	body TEXT NOT NULL -- JSON
);

-- The last number. The transaction that raises it blocks the others until its
-- order is committed, so that no node sees a later order first.
CREATE TABLE channel_orders_last (
	only_row BIGINT NOT NULL PRIMARY KEY CHECK (only_row = 1),
	number BIGINT NOT NULL
);
INSERT INTO channel_orders_last (only_row, number) VALUES (1, 0);

-- The last order that a node's snapshot of its health knows of.
ALTER TABLE health ADD COLUMN orders BIGINT NOT NULL DEFAULT 0;

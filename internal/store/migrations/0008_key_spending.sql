-- What keys have spent, for their budgets: one row for each day (of UTC, from
-- 1970) and one, day 0, for ever. A cache like the balances, written with the
-- transactions that it sums.

CREATE TABLE key_spending (
	key_id TEXT NOT NULL,
	day BIGINT NOT NULL,
	amount BIGINT NOT NULL,
	PRIMARY KEY (key_id, day)
) /*!sqlite WITHOUT ROWID */;

INSERT INTO key_spending (key_id, day, amount)
	SELECT key_id, finished_at / 86400000, CAST(SUM(charge) AS BIGINT) FROM requests
	WHERE charge <> 0 GROUP BY key_id, finished_at / 86400000;
INSERT INTO key_spending (key_id, day, amount)
	SELECT key_id, 0, CAST(SUM(amount) AS BIGINT) FROM key_spending GROUP BY key_id;

-- The key of a hold that a budget counts, else empty.
ALTER TABLE open_holds ADD COLUMN key_id TEXT NOT NULL DEFAULT '';
CREATE INDEX open_holds_by_key ON open_holds (key_id) WHERE key_id <> '';

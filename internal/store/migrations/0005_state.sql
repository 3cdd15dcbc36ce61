-- Which upstream account an id belongs to, per customer.

CREATE TABLE state_ids (
	id_hash BYTEA NOT NULL PRIMARY KEY, -- of customer, kind and id
	origin TEXT NOT NULL,
	channel TEXT NOT NULL,
	store_off BOOLEAN NOT NULL,
	tokens BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
) /*!sqlite WITHOUT ROWID */;
CREATE INDEX state_ids_by_expiry ON state_ids (expires_at);

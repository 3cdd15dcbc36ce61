-- Customers and their keys. Times are Unix milliseconds, 0 for never.

CREATE TABLE customers (
	id TEXT NOT NULL PRIMARY KEY,
	name TEXT NOT NULL,
	suspended BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL
);

CREATE TABLE api_keys (
	id TEXT NOT NULL PRIMARY KEY,
	customer TEXT NOT NULL REFERENCES customers (id),
	name TEXT NOT NULL,
	secret_hash BYTEA NOT NULL UNIQUE, -- SHA-256
	models TEXT NOT NULL, -- a JSON list, empty for all
	rpm BIGINT NOT NULL,
	tpm BIGINT NOT NULL,
	concurrency BIGINT NOT NULL,
	delivery TEXT NOT NULL,
	budget_amount BIGINT NOT NULL, -- nano-USD
	budget_period TEXT NOT NULL, -- empty: no budget
	expires_at BIGINT NOT NULL,
	revoked BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL
);
CREATE INDEX api_keys_by_customer ON api_keys (customer, id);

-- Counts the changes to both tables, so that other nodes notice them.
CREATE TABLE accounts_version (
	only_row BIGINT NOT NULL PRIMARY KEY CHECK (only_row = 1),
	version BIGINT NOT NULL
);
INSERT INTO accounts_version (only_row, version) VALUES (1, 0);

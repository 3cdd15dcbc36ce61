-- The ledger. Amounts are nano-USD, times are Unix milliseconds.

CREATE TABLE transactions (
	id TEXT NOT NULL PRIMARY KEY,
	kind TEXT NOT NULL CHECK (kind IN ('topup', 'hold', 'settle', 'release', 'cost', 'adjust', 'reverse')),
	request_id TEXT NOT NULL,
	customer TEXT NOT NULL,
	at BIGINT NOT NULL,
	-- What the transaction is about: held, charged, released, credited … The
	-- postings are the truth, and verify compares.
	amount BIGINT NOT NULL,
	model TEXT NOT NULL,
	attempt BIGINT NOT NULL DEFAULT 0,
	reason TEXT NOT NULL DEFAULT '',
	actor TEXT NOT NULL DEFAULT '',
	meta TEXT NOT NULL DEFAULT '{}',
	reverses TEXT NOT NULL DEFAULT '',
	idempotency_key TEXT NOT NULL DEFAULT '',
	idempotency_body TEXT NOT NULL DEFAULT '',
	CHECK (request_id <> '' OR kind IN ('topup', 'adjust', 'reverse')),
	CHECK ((kind = 'reverse') = (reverses <> ''))
) /*!sqlite WITHOUT ROWID */;

-- One hold per request, one end of it, one cost per attempt, one reversal per
-- transaction: whatever the code does. Between them they also find the
-- transactions of a request.
CREATE UNIQUE INDEX one_hold ON transactions (request_id) WHERE kind = 'hold';
CREATE UNIQUE INDEX one_resolution ON transactions (request_id) WHERE kind IN ('settle', 'release');
CREATE UNIQUE INDEX one_cost ON transactions (request_id, attempt) WHERE kind = 'cost';
CREATE UNIQUE INDEX one_reversal ON transactions (reverses) WHERE kind = 'reverse';
CREATE UNIQUE INDEX one_idempotent ON transactions (customer, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX reversals_by_request ON transactions (request_id) WHERE kind = 'reverse';

CREATE INDEX transactions_by_customer ON transactions (customer, id);
-- The kinds that people look for and that are rare among the others.
CREATE INDEX rare_topup ON transactions (id) WHERE kind = 'topup';
CREATE INDEX rare_adjust ON transactions (id) WHERE kind = 'adjust';
CREATE INDEX rare_reverse ON transactions (id) WHERE kind = 'reverse';

CREATE TABLE postings (
	tx TEXT NOT NULL,
	n BIGINT NOT NULL,
	account TEXT NOT NULL,
	amount BIGINT NOT NULL,
	PRIMARY KEY (tx, n)
) /*!sqlite WITHOUT ROWID */;

-- The running balance: a cache of the postings, written with them.
CREATE TABLE balances (
	customer TEXT NOT NULL PRIMARY KEY,
	available BIGINT NOT NULL,
	held BIGINT NOT NULL CHECK (held >= 0)
) /*!sqlite WITHOUT ROWID */ /*!postgres WITH (fillfactor = 50) */;

-- The holds that are not resolved: a cache of the transactions too, so that a
-- start after a crash need not read the whole ledger.
CREATE TABLE open_holds (
	request_id TEXT NOT NULL PRIMARY KEY,
	customer TEXT NOT NULL,
	model TEXT NOT NULL,
	amount BIGINT NOT NULL CHECK (amount >= 0),
	at BIGINT NOT NULL
) /*!sqlite WITHOUT ROWID */;

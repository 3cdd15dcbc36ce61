package ledger

import "rubicon/internal/store"

const (
	selectBalance = `SELECT available, held FROM balances WHERE customer = ?`

	selectOpenHold = `SELECT customer, model, amount, key_id FROM open_holds WHERE request_id = ?`
	selectAnyHold  = `SELECT 1 FROM transactions WHERE request_id = ? AND kind = 'hold'`
	listOpenHolds  = `SELECT request_id, customer, model, amount, at FROM open_holds ORDER BY at, request_id`

	selectSpentSince = `SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM key_spending WHERE key_id = ? AND day >= ?`
	selectSpentEver  = `SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM key_spending WHERE key_id = ? AND day = 0`
	selectHeldOfKey  = `SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM open_holds WHERE key_id = ? AND key_id <> ''`
	deleteSpending   = `DELETE FROM key_spending WHERE day > 0 AND day < ?`

	selectIdempotent = `SELECT id, idempotency_body FROM transactions
		WHERE customer = ? AND idempotency_key = ? AND idempotency_key <> ''`
	selectReversal = `SELECT id FROM transactions WHERE reverses = ? AND kind = 'reverse'`

	// Only of settlements: the reversal of an adjustment is not a refund.
	selectRefunds = `SELECT r.request_id, r.amount, r.at, r.reason FROM transactions r
		WHERE r.kind = 'reverse' AND r.request_id IN (%s)
		AND EXISTS (SELECT 1 FROM transactions s WHERE s.id = r.reverses AND s.kind = 'settle')`

	// With its postings, one row for each. %s is the condition.
	selectTransactions = `SELECT t.id, t.kind, t.request_id, t.customer, t.at, t.amount, t.model, t.attempt,
			t.reason, t.actor, t.meta, t.reverses, COALESCE(p.account, ''), COALESCE(p.amount, 0)
		FROM (SELECT * FROM transactions WHERE %s ORDER BY id DESC LIMIT ?) t
		LEFT JOIN postings p ON p.tx = t.id ORDER BY t.id DESC, p.n`

	// One branch for each of the unique indexes that find a request's
	// transactions; together they are all that name one.
	ofRequest = `id IN (
		SELECT id FROM transactions WHERE request_id = ? AND kind = 'hold'
		UNION ALL SELECT id FROM transactions WHERE request_id = ? AND kind IN ('settle', 'release')
		UNION ALL SELECT id FROM transactions WHERE request_id = ? AND kind = 'cost'
		UNION ALL SELECT id FROM transactions WHERE request_id = ? AND kind = 'adjust' AND request_id <> ''
		UNION ALL SELECT id FROM transactions WHERE request_id = ? AND kind = 'reverse')`

	// Holds without a running request. Hold and running request are written in one
	// transaction and end in one, so such a hold is a leftover.
	listHoldsWithoutRecord = `SELECT request_id FROM open_holds x WHERE NOT EXISTS (
		SELECT 1 FROM running_requests r WHERE r.request_id = x.request_id) ORDER BY request_id`
)

// Statements that are sent for many requests at once. Those that every request
// needs leave out columns that would only repeat their default, because binding
// text is a large part of their cost.
var (
	selectBalances  = store.SelectIn{Columns: "customer, available, held", Table: "balances", Column: "customer"}
	selectOpenHolds = store.SelectIn{Columns: "request_id, customer, model, amount, key_id", Table: "open_holds", Column: "request_id"}

	addToBalance  = store.AddTo{Table: "balances", Column: "customer", Columns: "available, held"}
	insertBalance = store.InsertInto{Table: "balances", Columns: "customer, available, held",
		Conflict: `ON CONFLICT (customer) DO UPDATE SET
			available = balances.available + excluded.available, held = balances.held + excluded.held`}

	insertForRequest = store.InsertInto{
		Table:   "transactions",
		Columns: "id, kind, request_id, customer, at, amount, model, attempt, meta",
	}
	insertTransaction = store.InsertInto{
		Table: "transactions",
		Columns: insertForRequest.Columns +
			", reason, actor, reverses, idempotency_key, idempotency_body",
	}
	insertPosting  = store.InsertInto{Table: "postings", Columns: "tx, n, account, amount"}
	insertOpenHold = store.InsertInto{Table: "open_holds", Columns: "request_id, customer, model, amount, at"}
	// Only holds that a budget counts name their key: for the others the index
	// needs no entry.
	insertHoldOfKey = store.InsertInto{Table: "open_holds", Columns: insertOpenHold.Columns + ", key_id"}
	addSpending     = store.InsertInto{
		Table: "key_spending", Columns: "key_id, day, amount",
		Conflict: `ON CONFLICT (key_id, day) DO UPDATE SET amount = key_spending.amount + excluded.amount`,
	}
	deleteOpenHold = store.DeleteFrom{Table: "open_holds", Column: "request_id"}
)

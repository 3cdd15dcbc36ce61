package ledger

const (
	// One row for each posting, and one for a transaction without any.
	selectAudited = `SELECT t.id, t.kind, t.customer, t.model, t.amount, COALESCE(h.amount, 0),
			COALESCE(o.kind, ''), COALESCE(o.customer, ''), COALESCE(o.model, ''), COALESCE(o.amount, 0),
			CASE WHEN p.tx IS NULL THEN 0 ELSE 1 END, COALESCE(p.account, ''), COALESCE(p.amount, 0)
		FROM transactions t
		LEFT JOIN transactions h ON t.kind IN ('settle', 'release') AND h.request_id = t.request_id AND h.kind = 'hold'
		LEFT JOIN transactions o ON t.reverses <> '' AND o.id = t.reverses
		LEFT JOIN postings p ON p.tx = t.id
		ORDER BY t.id, p.n`

	selectAllBalances = `SELECT customer, available, held FROM balances`
	selectHeld        = `SELECT customer, CAST(SUM(amount) AS BIGINT) FROM open_holds GROUP BY customer`
)

// rule is something that must not be found. Its query gives subject and detail.
type rule struct {
	broken string
	query  string
}

// rules are the checks across transactions, and against the journal. Records
// of old requests are deleted, so a missing one proves nothing.
var rules = []rule{
	{"posting without a transaction", `SELECT 'transaction ' || p.tx, p.account FROM postings p
		WHERE NOT EXISTS (SELECT 1 FROM transactions t WHERE t.id = p.tx)`},
	{"more than one hold", `SELECT 'request ' || request_id, '' FROM transactions
		WHERE kind = 'hold' GROUP BY request_id HAVING COUNT(*) > 1`},
	{"more than one settle or release", `SELECT 'request ' || request_id, '' FROM transactions
		WHERE kind IN ('settle', 'release') GROUP BY request_id HAVING COUNT(*) > 1`},
	{"more than one cost of an attempt", `SELECT 'request ' || request_id, CAST(attempt AS TEXT) FROM transactions
		WHERE kind = 'cost' GROUP BY request_id, attempt HAVING COUNT(*) > 1`},
	{"reversed more than once", `SELECT 'transaction ' || reverses, '' FROM transactions
		WHERE kind = 'reverse' GROUP BY reverses HAVING COUNT(*) > 1`},
	{"settled or released without a hold of the same customer and model", `SELECT 'request ' || r.request_id, r.kind
		FROM transactions r LEFT JOIN transactions h ON h.request_id = r.request_id AND h.kind = 'hold'
		WHERE r.kind IN ('settle', 'release') AND (h.id IS NULL OR h.customer <> r.customer OR h.model <> r.model)`},
	{"released with another amount than was held", `SELECT 'request ' || r.request_id, r.id
		FROM transactions r JOIN transactions h ON h.request_id = r.request_id AND h.kind = 'hold'
		WHERE r.kind = 'release' AND r.amount <> h.amount`},
	{"reverses nothing that can be reversed, or as another customer", `SELECT 'transaction ' || r.id, r.reverses
		FROM transactions r LEFT JOIN transactions o ON o.id = r.reverses
		WHERE r.kind = 'reverse' AND (o.id IS NULL OR o.kind NOT IN ('topup', 'settle', 'adjust')
			OR o.customer <> r.customer OR o.amount <> r.amount OR o.request_id <> r.request_id)`},
	{"open hold is not on the list of open holds", `SELECT 'request ' || h.request_id, ''
		FROM transactions h WHERE h.kind = 'hold'
		AND NOT EXISTS (SELECT 1 FROM open_holds x WHERE x.request_id = h.request_id
			AND x.amount = h.amount AND x.customer = h.customer AND x.model = h.model)
		AND NOT EXISTS (SELECT 1 FROM transactions r WHERE r.request_id = h.request_id AND r.kind IN ('settle', 'release'))`},
	{"on the list of open holds without an open hold", `SELECT 'request ' || x.request_id, ''
		FROM open_holds x WHERE NOT EXISTS (SELECT 1 FROM transactions h WHERE h.request_id = x.request_id AND h.kind = 'hold')
		OR EXISTS (SELECT 1 FROM transactions r WHERE r.request_id = x.request_id AND r.kind IN ('settle', 'release'))`},

	{"finished with its hold open", `SELECT 'request ' || x.request_id, q.outcome
		FROM open_holds x JOIN requests q ON q.request_id = x.request_id`},
	{"hold open, but the request does not run", `SELECT 'request ' || x.request_id, ''
		FROM open_holds x WHERE NOT EXISTS (SELECT 1 FROM running_requests q WHERE q.request_id = x.request_id)
		AND NOT EXISTS (SELECT 1 FROM requests q WHERE q.request_id = x.request_id)`},
	{"running with its hold resolved", `SELECT 'request ' || q.request_id, ''
		FROM running_requests q WHERE EXISTS (SELECT 1 FROM transactions r
			WHERE r.request_id = q.request_id AND r.kind IN ('settle', 'release'))`},
	{"both running and finished", `SELECT 'request ' || q.request_id, f.outcome
		FROM running_requests q JOIN requests f ON f.request_id = q.request_id`},
	{"the record has another charge than the ledger", `SELECT 'request ' || q.request_id,
			'record ' || CAST(q.charge AS TEXT) || ', ledger ' || CAST(COALESCE(s.amount, 0) AS TEXT)
		FROM requests q LEFT JOIN transactions s ON s.request_id = q.request_id AND s.kind = 'settle'
			AND s.kind IN ('settle', 'release') -- says again what the index is for; without it every settle is looked at
		WHERE q.charge <> COALESCE(s.amount, 0)`},
	{"the key has spent less than its requests were charged", `SELECT 'key ' || q.key_id,
			'records ' || CAST(SUM(q.charge) AS TEXT)
		FROM requests q WHERE q.key_id <> '' AND q.charge <> 0 GROUP BY q.key_id
		HAVING SUM(q.charge) > COALESCE((SELECT s.amount FROM key_spending s WHERE s.key_id = q.key_id AND s.day = 0), 0)`},
	{"the key has spent more on single days than ever", `SELECT 'key ' || d.key_id, CAST(SUM(d.amount) AS TEXT)
		FROM key_spending d WHERE d.day > 0 GROUP BY d.key_id
		HAVING SUM(d.amount) > COALESCE((SELECT s.amount FROM key_spending s WHERE s.key_id = d.key_id AND s.day = 0), 0)`},
	{"the record names another customer than the ledger", `SELECT 'request ' || q.request_id, q.customer
		FROM requests q JOIN transactions h ON h.request_id = q.request_id AND h.kind = 'hold'
		WHERE q.customer <> h.customer`},
}

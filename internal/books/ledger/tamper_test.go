package ledger_test

import (
	"strings"
	"testing"

	"rubicon/internal/books/ledger"
	"rubicon/internal/store/storetest"
)

// everything is a ledger with something of everything.
func everything(t *testing.T) *fixture {
	f := open(t)
	top := f.topUp(t, "cus_1", 1000)
	must(t, f.begin(t.Context(), "req_settled", "cus_1", 100))
	must(t, f.settle(t.Context(), "req_settled", "cus_1", 40))
	must(t, f.cost(t.Context(), ledger.CostArgs{Request: "req_settled", Channel: "main", Amount: 30, Attempt: 1}))
	must(t, f.begin(t.Context(), "req_released", "cus_1", 100))
	must(t, f.release(t.Context(), "req_released", "cus_1"))
	must(t, f.begin(t.Context(), "req_open", "cus_1", 100))
	_, err := f.Reverse(t.Context(), top.ID, "r", "a")
	must(t, err)
	_, err = f.Adjust(t.Context(), ledger.AdjustArgs{Customer: "cus_1", Amount: 5, Reason: "r", Actor: "a"})
	must(t, err)
	f.wantVerified(t, 9)
	return f
}

const insert = `INSERT INTO transactions (id, kind, request_id, customer, at, amount, model, attempt, reverses,
	idempotency_key) VALUES `

func TestTheDatabaseRefuses(t *testing.T) {
	f := everything(t)
	for name, text := range map[string]string{
		"changing a transaction": `UPDATE transactions SET amount = amount + 1`,
		"deleting a transaction": `DELETE FROM transactions WHERE kind = 'hold'`,
		"changing a posting":     `UPDATE postings SET amount = 0`,
		"deleting a posting":     `DELETE FROM postings`,
		"replacing a posting": `PRAGMA recursive_triggers = 1;
			INSERT OR REPLACE INTO postings SELECT tx, n, account, 0 FROM postings`,
		"a second hold":            insert + `('x', 'hold', 'req_settled', 'cus_1', 0, 1, 'm', 0, '', '')`,
		"a settle after a settle":  insert + `('x', 'settle', 'req_settled', 'cus_1', 0, 1, 'm', 0, '', '')`,
		"a release after a settle": insert + `('x', 'release', 'req_settled', 'cus_1', 0, 1, 'm', 0, '', '')`,
		"a settle after a release": insert + `('x', 'settle', 'req_released', 'cus_1', 0, 1, 'm', 0, '', '')`,
		"a second cost":            insert + `('x', 'cost', 'req_settled', 'cus_1', 0, 1, '', 1, '', '')`,
		"a second reversal": insert +
			`('x', 'reverse', '', 'cus_1', 0, 1, '', 0, (SELECT reverses FROM transactions WHERE kind = 'reverse'), '')`,
		"a reversal of nothing":    insert + `('x', 'reverse', '', 'cus_1', 0, 1, '', 0, '', '')`,
		"an unknown kind":          insert + `('x', 'gift', '', 'cus_1', 0, 1, '', 0, '', '')`,
		"a hold without a request": insert + `('x', 'hold', '', 'cus_1', 0, 1, 'm', 0, '', '')`,
		"an idempotency key again": insert + `('x', 'topup', '', 'c', 0, 1, '', 0, '', 'k'), ('y', 'topup', '', 'c', 0, 1, '', 0, '', 'k')`,
		"negative held money":      `UPDATE balances SET held = -1`,
		"a final record as running": `INSERT INTO requests SELECT 'x', customer, key_id, client_request_id, node, surface, public_model,
			'running', response_id, started_at, finished_at, charge, input_tokens, cached_input_tokens, cache_write_tokens,
			output_tokens, usage_source, body FROM requests LIMIT 1`,
	} {
		if strings.HasPrefix(text, "PRAGMA") && storetest.Kind() != storetest.SQLite {
			continue // these are words of SQLite's
		}
		if err := storetest.Raw(t, f.url, text); err == nil {
			t.Errorf("%s: accepted", name)
		} else if !strings.Contains(err.Error(), "onstraint") && !strings.Contains(err.Error(), "never") {
			t.Errorf("%s: refused for another reason: %v", name, err)
		}
	}
	f.wantVerified(t, 9)
}

// dropTriggers lets the tests below do what the database refuses.
func dropTriggers() string {
	var b strings.Builder
	for _, table := range []string{"transactions", "postings"} {
		for _, what := range []string{"_never_change", "_never_go"} {
			b.WriteString("DROP TRIGGER " + table + what)
			if storetest.Kind() == storetest.PostgreSQL {
				b.WriteString(" ON " + table)
			}
			b.WriteString("; ")
		}
	}
	return b.String()
}

func TestVerifyFinds(t *testing.T) {
	of := func(kind string) string { return `(SELECT id FROM transactions WHERE kind = '` + kind + `' LIMIT 1)` }
	post := func(kind, amount string) string {
		return `UPDATE postings SET amount = ` + amount + ` WHERE tx = ` + of(kind)
	}
	for name, c := range map[string]struct{ text, want string }{
		"an unbalanced transaction":    {`UPDATE postings SET amount = amount + 1 WHERE n = 0 AND tx = ` + of("cost"), "postings sum to 0.000000001"},
		"a missing posting":            {`DELETE FROM postings WHERE n = 1 AND tx = ` + of("cost"), "fewer than two postings"},
		"a transaction without any":    {`DELETE FROM postings WHERE tx = ` + of("topup"), "fewer than two postings"},
		"an unknown account":           {`UPDATE postings SET account = 'pocket' WHERE n = 1 AND tx = ` + of("cost"), `unknown account "pocket"`},
		"a bad customer account":       {`UPDATE postings SET account = 'customer:x:pocket' WHERE n = 1 AND tx = ` + of("topup"), "unknown account"},
		"an orphan posting":            {`INSERT INTO postings VALUES ('tx_none', 0, 'world', 5)`, "posting without a transaction"},
		"an edited balance":            {`UPDATE balances SET available = available + 1`, "the balance is"},
		"a balance out of nothing":     {`INSERT INTO balances VALUES ('cus_2', 7, 0)`, "account customer:cus_2:available"},
		"a missing balance":            {`DELETE FROM balances`, "the balance is 0.000000000"},
		"a hold of another size":       {post("hold", `amount * 2`), "hold of"},
		"a topup of another size":      {post("topup", `amount * 2`), "topup of"},
		"a cost of another size":       {post("cost", `amount * 2`), "cost of"},
		"a release of another size":    {post("release", `amount * 2`), "release of"},
		"a reversal that keeps some":   {post("reverse", `amount / 2`), "reverse of"},
		"an adjust of another size":    {post("adjust", `amount * 2`), "adjust of"},
		"a settle of another charge":   {`UPDATE transactions SET amount = 41 WHERE kind = 'settle'`, "settle of"},
		"a reversal of another amount": {`UPDATE transactions SET amount = 1 WHERE kind = 'reverse'`, "reverses nothing"},
		"a reversal of a hold":         {`UPDATE transactions SET reverses = ` + of("hold") + ` WHERE kind = 'reverse'`, "reverses nothing"},
		"a settle without a hold":      {`DELETE FROM transactions WHERE kind = 'hold' AND request_id = 'req_settled'`, "without a hold"},
		"two holds": {`DROP INDEX one_hold; ` + insert +
			`('x', 'hold', 'req_open', 'cus_1', 0, 1, 'm', 0, '', '')`, "more than one hold"},
		"two ends": {`DROP INDEX one_resolution; ` + insert +
			`('x', 'release', 'req_settled', 'cus_1', 0, 1, 'm', 0, '', '')`, "more than one settle or release"},
		"two costs": {`DROP INDEX one_cost; ` + insert +
			`('x', 'cost', 'req_settled', 'cus_1', 0, 1, '', 1, '', '')`, "more than one cost"},
		"two reversals": {`DROP INDEX one_reversal; ` + insert +
			`('x', 'reverse', '', 'cus_1', 0, 1000, '', 0, (SELECT reverses FROM transactions WHERE kind = 'reverse'), '')`, "reversed more than once"},
		"an open hold off the list":   {`DELETE FROM open_holds`, "not on the list of open holds"},
		"a closed hold on the list":   {`INSERT INTO open_holds VALUES ('req_settled', 'cus_1', 'm', 0, 0, '')`, "on the list of open holds without"},
		"a listed hold of other size": {`UPDATE open_holds SET amount = 7`, "the sum of open holds is"},
		"a hold that nobody runs":     {`DELETE FROM running_requests`, "the request does not run"},
		"an end without a hold open": {`INSERT INTO requests SELECT 'req_open', customer, key_id, client_request_id, node, surface, public_model,
			'failed', response_id, started_at, finished_at, 0, 0, 0, 0, 0, usage_source, body FROM requests LIMIT 1`, "finished with its hold open"},
		"a request that runs on":  {`UPDATE running_requests SET request_id = 'req_settled'`, "running with its hold resolved"},
		"a record of more charge": {`UPDATE requests SET charge = charge + 1 WHERE request_id = 'req_settled'`, "record 41, ledger 40"},
		"a charge never settled":  {`UPDATE requests SET charge = 1 WHERE request_id = 'req_released'`, "record 1, ledger 0"},
		"a record of another":     {`UPDATE requests SET customer = 'cus_2'`, "another customer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := everything(t)
			must(t, storetest.Raw(t, f.url, dropTriggers()+c.text))
			report, err := f.Verify(t.Context())
			must(t, err)
			if all := strings.Join(report.Differences, "\n"); report.OK || !strings.Contains(all, c.want) {
				t.Errorf("want %q in:\n%s", c.want, all)
			}
		})
	}
}

func TestVerifyIsBounded(t *testing.T) {
	f := open(t)
	text := `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
		INSERT INTO postings SELECT 'tx_' || i, 0, 'world', 0 FROM n`
	must(t, storetest.Raw(t, f.url, text))
	report, err := f.Verify(t.Context())
	must(t, err)
	if n := len(report.Differences); n != 1001 || report.Differences[1000] != "… and more" {
		t.Errorf("%d differences", n)
	}
}

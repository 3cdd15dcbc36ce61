package app

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"rubicon/internal/store"
)

// TestTheLedgerIsVerifiedDaily: a difference is told once, by whoever finds it
// first, and its end too.
func TestTheLedgerIsVerifiedDaily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, id := limitedWorld(t, good, "", map[string]any{})
		off := func(by int) {
			t.Helper()
			err := w.app.db.Write(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec("UPDATE balances SET available = available + ? WHERE customer = ?", by, id)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		told := func(want ...string) {
			t.Helper()
			time.Sleep(time.Second) // until the alert is in the table
			_, out := w.admin("GET", "/admin/v1/alerts", nil)
			var got []string
			for _, x := range out["alerts"].([]any) {
				x := x.(map[string]any)
				got = append(got, fmt.Sprint(x["kind"], " ", x["state"]))
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("alerts %v, want %v", got, want)
			}
		}
		time.Sleep(verifyFirst)
		told()
		off(+7)
		time.Sleep(verifyEvery)
		told("ledger_difference firing")
		if _, out := w.admin("GET", "/admin/v1/ledger/verify", nil); out["ok"] != false {
			t.Errorf("%v", out)
		}
		time.Sleep(verifyEvery)
		told("ledger_difference firing")
		off(-7)
		if _, out := w.admin("GET", "/admin/v1/ledger/verify", nil); out["ok"] != true {
			t.Errorf("%v", out)
		}
		told("ledger_agrees resolved", "ledger_difference resolved")
	})
}

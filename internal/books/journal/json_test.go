package journal_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/books/journal"
)

func TestTheJSONOfARecord(t *testing.T) {
	text, err := json.Marshal(full())
	must(t, err)
	want := `{"request_id":"req_1","customer":"cus_1","key":"key_1","client_request_id":"mine-1","surface":"responses.ws","stream":true,` +
		`"public_model":"openai/x","upstream_model":"x-2026","response_id":"resp_1","outcome":"partial",` +
		`"error":{"code":"stream_read_error","type":"server_error"},"after_output":true,` +
		`"usage":{"input":10,"cached_input":20,"cache_write":30,"output":5,"tools":{"web_search":2},"source":"reported","flags":["overrun"]},` +
		`"charge":"0.000350000","lines":[{"class":"input","units":10,"price":"10","amount":"0.000100000"}],"price_version":"p1",` +
		`"started_at":"2026-03-01T11:00:00.123Z","finished_at":"2026-03-01T11:00:00.203Z",` +
		`"times_ms":{"queue":1,"charge_hold":2,"event_hold":30,"first_event":40,"first_output":41,"total":80},` +
		`"delivered":{"events":7,"bytes":700},` +
		`"attempts":[{"n":1,"channel":"main","credential":"k1","upstream_model":"x-2026","status":200,"outcome":"failed",` +
		`"failure":"failed_event","code":"server_is_overloaded","may_have_executed":true,"verdict":"replay","reason":"replay_failed_event",` +
		`"events":2,"bytes":512,"cost":"0.000075000","upstream_request_id":"up_1","started_at":"2026-03-01T11:00:00.123Z","first_event_ms":12,"ms":40}],` +
		`"decisions":[{"n":1,"chosen":"main","candidates":[` +
		`{"channel":"main","state":"closed","priority":1,"weight":100,"effective_weight":50,"excluded":""},` +
		`{"channel":"eu","state":"open","priority":0,"weight":0,"effective_weight":0,"excluded":"open"}]},` +
		`{"n":2,"chosen":"","reason":"no_channel_left","candidates":[]}],"notes":["atomic_over_bound"]}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyListsAreLists(t *testing.T) {
	for name, r := range map[string]journal.Record{
		"the operator's": {},
		"the customer's": journal.Record{}.ForCustomer(func(string) string { return "" }),
	} {
		text, err := json.Marshal(r)
		must(t, err)
		for _, want := range []string{`"error":null`, `"tools":{}`, `"flags":[]`, `"attempts":[]`, `"decisions":[]`, `"source":"none"`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %s in %s", name, want, text)
			}
		}
	}
	r := journal.Record{Decisions: []journal.Decision{{}}}
	text, err := json.Marshal(r)
	must(t, err)
	if !strings.Contains(string(text), `"candidates":[]`) || r.Decisions[0].Candidates != nil {
		t.Errorf("got %s", text)
	}
}

func TestForCustomer(t *testing.T) {
	r := full()
	text, err := json.Marshal(r.ForCustomer(func(channel string) string { return "alias-of-" + channel }))
	must(t, err)
	for _, secret := range []string{`"credential"`, `"cost"`, `"upstream_request_id"`, "k1", "up_1", `"main"`, `"eu"`} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is in %s", secret, text)
		}
	}
	var got map[string]any
	must(t, json.Unmarshal(text, &got))
	attempt := got["attempts"].([]any)[0].(map[string]any)
	decisions := got["decisions"].([]any)
	first := decisions[0].(map[string]any)
	candidate := first["candidates"].([]any)[1].(map[string]any)
	last := decisions[1].(map[string]any)
	values := []any{attempt["channel"], attempt["upstream_model"], first["chosen"], candidate["channel"], last["chosen"], got["charge"]}
	want := []any{"alias-of-main", "x-2026", "alias-of-main", "alias-of-eu", "", "0.000350000"}
	if diff := cmp.Diff(want, values); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(full(), r); diff != "" {
		t.Errorf("the record itself changed: %s", diff)
	}
}

package scenario

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"rubicon/internal/api/admin"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/lab/sim"
	"rubicon/internal/money"
)

// observed is all that came of a scenario.
type observed struct {
	s        *Scenario
	twin     bool // over WebSocket instead of HTTP
	t0       time.Time
	requests []observedRequest
	calls    []observedCall
	admin    []AdminCall
	money    []ledger.Transaction
	balances map[string]money.Nano // sums of postings, by account
	verify   ledger.Report
	channels []json.RawMessage
	alerts   []json.RawMessage // oldest first
	states   []admin.Channel
	health   []logged
	errors   []string
	secrets  []string // nothing of these may reach a client
	aliases  []string // pairs: id, name
}

// observedRequest is one call of a client with what is on record about it.
type observedRequest struct {
	*exchange
	record *journal.Record
	raw    json.RawMessage
	money  []ledger.Transaction
}

// observedCall is one upstream call.
type observedCall struct {
	channel string
	sim.Call
}

// gather reads what is on record, through the admin API.
func (st *installation) gather() (*observed, error) {
	v := &observed{s: st.s, t0: st.t0, admin: st.admin, health: st.journal.health, errors: st.journal.errors, balances: map[string]money.Nano{}}
	records, raws, err := st.records()
	if err != nil {
		return nil, err
	}
	st.nameCalls(records)
	all, err := st.transactions()
	if err != nil {
		return nil, err
	}
	for _, x := range st.calls {
		r := observedRequest{exchange: x}
		if i := slices.IndexFunc(records, func(rec journal.Record) bool { return rec.RequestID == x.id }); i >= 0 {
			r.record, r.raw = &records[i], raws[i]
		}
		r.money = belonging(all, cmp.Or(x.id, noCustomer))
		v.requests = append(v.requests, r)
	}
	v.money = belonging(all, "")
	for _, tx := range all {
		for _, p := range tx.Postings {
			v.balances[p.Account] += p.Amount
		}
	}
	if err := st.ask("GET", "/admin/v1/ledger/verify", nil, &v.verify); err != nil {
		return nil, err
	}
	var list struct{ Channels []json.RawMessage }
	if err := st.ask("GET", "/admin/v1/channels", nil, &list); err != nil {
		return nil, err
	}
	v.channels = list.Channels
	for _, raw := range list.Channels {
		var c admin.Channel
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, err
		}
		v.states = append(v.states, c)
	}
	var alerts struct{ Alerts []json.RawMessage }
	if err := st.ask("GET", "/admin/v1/alerts", nil, &alerts); err != nil {
		return nil, err
	}
	slices.Reverse(alerts.Alerts)
	v.alerts = alerts.Alerts
	v.calls = st.upstreamCalls()
	st.aliases(v, all)
	return v, nil
}

// noCustomer is the id of a call that has none.
const noCustomer = "-"

func belonging(all []ledger.Transaction, request string) (out []ledger.Transaction) {
	if request == noCustomer {
		return nil
	}
	for _, tx := range all {
		if tx.RequestID == request {
			out = append(out, tx)
		}
	}
	return out
}

// nameCalls finds the ids of calls whose client was not told: WebSocket turns,
// whose frames do not say, and those who left before the status line. A call's
// record began while it ran, and records are in order.
func (st *installation) nameCalls(records []journal.Record) {
	told := map[string]bool{}
	for _, x := range st.calls {
		if x.over() {
			x.readID()
			told[x.id] = true
		}
	}
	for _, x := range st.calls {
		if !x.over() || x.id != "" {
			continue
		}
		for _, r := range records {
			at := r.StartedAt
			during := at.Equal(x.sent) || at.After(x.sent) && at.Before(x.endedAt)
			if !told[r.RequestID] && during {
				x.id, told[r.RequestID] = r.RequestID, true
				break
			}
		}
	}
}

// readID reads the id in an error frame.
func (x *exchange) readID() {
	var v struct {
		RequestID string `json:"request_id"`
	}
	if x.id == "" && json.Unmarshal(x.errorShown(), &v) == nil {
		x.id = v.RequestID
	}
}

// over tells whether the call has ended; before that its fields are not to be read.
func (x *exchange) over() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// upstreamCalls gives what the providers received, in order.
func (st *installation) upstreamCalls() (out []observedCall) {
	for _, p := range st.providers {
		for _, c := range p.sim.Calls("") {
			channel := strings.TrimPrefix(c.Model, modelOf(""))
			if !contains(p.channels, channel) {
				channel = p.channels[0]
			}
			out = append(out, observedCall{channel, c})
		}
	}
	slices.SortStableFunc(out, func(a, b observedCall) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.channel, b.channel))
	})
	return out
}

// aliases are the names under which ids stand in the recording.
func (st *installation) aliases(v *observed, all []ledger.Transaction) {
	name := func(id, as string) {
		if id != "" {
			v.aliases = append(v.aliases, id, as)
		}
	}
	for _, c := range st.customers {
		name(c.id, "cus_"+c.name)
		name(c.key, "key_"+c.name)
	}
	for _, x := range st.calls {
		name(x.id, "req_"+x.req.Name)
	}
	n := 0
	number := func(list []ledger.Transaction) {
		for _, tx := range list {
			n++
			name(tx.ID, "tx_"+itoa(n))
		}
	}
	number(v.money)
	for _, r := range v.requests {
		number(r.money)
	}
	v.secrets = st.secrets()
}

// secrets are what no client may ever read.
func (st *installation) secrets() (out []string) {
	out = append(out, adminToken)
	for i := range st.cfg.Channels {
		c := &st.cfg.Channels[i]
		if u, err := url.Parse(c.BaseURL); err == nil {
			out = append(out, u.Host)
		}
		for _, k := range c.Credentials {
			out = append(out, k.Key.Reveal())
		}
	}
	return out
}

// responseID is the id of the response that the client read.
func (x *exchange) responseID() string {
	var v struct {
		ID       string
		Response struct{ ID string }
	}
	for i := range x.events {
		if json.Unmarshal([]byte(x.events[i].data), &v) == nil && v.Response.ID != "" {
			return v.Response.ID
		}
	}
	_ = json.Unmarshal(x.whole, &v)
	return v.ID
}

// kept are the headers that a recording shows: all but those that tell nothing.
func kept(h http.Header, leaveOut ...string) map[string]string {
	out := map[string]string{}
	for name, values := range h {
		if name = strings.ToLower(name); !slices.Contains(leaveOut, name) {
			out[name] = strings.Join(values, ", ")
		}
	}
	return out
}

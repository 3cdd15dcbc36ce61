package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
)

// AdminCall is a step of the operator and its answer.
type AdminCall struct {
	At     string          `json:"at"`
	Call   string          `json:"call"`
	Body   json.RawMessage `json:"body,omitempty"`
	Status int             `json:"status"`
	Answer json.RawMessage `json:"answer"`
}

// call speaks to the admin API.
func (st *installation) call(method, path string, body any) (int, []byte, error) {
	var in io.Reader
	if body != nil {
		text, err := plainJSON(body)
		if err != nil {
			return 0, nil, err
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(st.ctx, method, "http://"+adminAddr+path, in)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	tr := &http.Transport{DialContext: st.net.Dial, DisableKeepAlives: true}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return 0, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// ask is call for answers that must be good.
func (st *installation) ask(method, path string, body, into any) error {
	status, answer, err := st.call(method, path, body)
	if err != nil {
		return err
	}
	if status/100 != 2 {
		return fmt.Errorf("%s %s: status %d: %s", method, path, status, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// operate is an admin step.
func (st *installation) operate(a *Admin) error {
	method, path, _ := strings.Cut(st.resolveReferences(a.Call), " ")
	var body any
	if a.Body != nil {
		body = a.Body
	} else if method != http.MethodGet {
		body = object{}
	}
	at := st.now()
	status, answer, err := st.call(method, path, body)
	if err != nil {
		return err
	}
	if status != a.Status && (a.Status != 0 || status/100 != 2) {
		return fmt.Errorf("%s: status %d: %s", a.Call, status, answer)
	}
	said, err := plainJSON(body)
	st.admin = append(st.admin, AdminCall{At: at, Call: a.Call, Body: said, Status: status, Answer: asJSON(strings.TrimSuffix(string(answer), "\n"))})
	return err
}

// makeCustomers makes the customers with a key and their credit.
func (st *installation) makeCustomers() error {
	for _, name := range slices.Sorted(maps.Keys(st.s.Customers)) {
		c := &customer{name: name}
		var made struct{ ID, Key string }
		if err := st.ask("POST", "/admin/v1/customers", object{{"name", name}}, &made); err != nil {
			return err
		}
		c.id = made.ID
		path := "/admin/v1/customers/" + c.id
		if err := st.ask("POST", path+"/keys", append(object{{"name", name}}, st.s.Customers[name].Key...), &made); err != nil {
			return err
		}
		c.key, c.secret = made.ID, made.Key
		st.customers[name] = c
		if amount := st.s.Customers[name].Credit; amount != "" && amount != "0" {
			if err := st.ask("POST", path+"/credits", object{{"amount", amount}, {"reason", "lock"}}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// transactions gives the whole ledger, oldest first.
func (st *installation) transactions() ([]ledger.Transaction, error) {
	var page struct{ Transactions []ledger.Transaction }
	err := st.ask("GET", "/admin/v1/ledger/transactions?limit=1000", nil, &page)
	slices.Reverse(page.Transactions)
	return page.Transactions, err
}

func (st *installation) transactionOf(request, kind string) (string, error) {
	all, err := st.transactions()
	for _, tx := range all {
		if tx.RequestID == request && string(tx.Kind) == kind {
			return tx.ID, err
		}
	}
	return "", fmt.Errorf("no %s of that request", kind)
}

// records gives all requests on record, oldest first.
func (st *installation) records() ([]journal.Record, []json.RawMessage, error) {
	var page struct{ Requests []json.RawMessage }
	if err := st.ask("GET", "/admin/v1/requests?limit=1000", nil, &page); err != nil {
		return nil, nil, err
	}
	slices.Reverse(page.Requests)
	out := make([]journal.Record, len(page.Requests))
	for i, raw := range page.Requests {
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			return nil, nil, err
		}
	}
	return out, page.Requests, nil
}

// nameSoFar finds the ids of the calls that have been made.
func (st *installation) nameSoFar() error {
	records, _, err := st.records()
	if err == nil {
		st.nameCalls(records)
	}
	return err
}

package stand

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"rubicon/internal/api/admin"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
)

// Customer is a customer with a key.
type Customer struct{ ID, Key, KeyID string }

// NewCustomer makes a customer with credit ("" for none) and a key.
func (s *Gateway) NewCustomer(credit string) Customer {
	s.tb.Helper()
	var made struct{ ID, Key string }
	s.Operate("POST", "/admin/v1/customers", map[string]any{"name": "stand"}, &made)
	c := Customer{ID: made.ID}
	s.Operate("POST", "/admin/v1/customers/"+c.ID+"/keys", map[string]any{"name": "stand"}, &made)
	c.Key, c.KeyID = made.Key, made.ID
	if credit != "" {
		s.Operate("POST", "/admin/v1/customers/"+c.ID+"/credits", map[string]any{"amount": credit, "reason": "test"}, nil)
	}
	s.customers = append(s.customers, c)
	return c
}

// Balance of a customer.
func (s *Gateway) Balance(c Customer) (b admin.Balance) {
	s.tb.Helper()
	s.Operate("GET", "/admin/v1/customers/"+c.ID+"/balance", nil, &b)
	return b
}

// Freed tells that nothing of the customer's is held; not so while the gateway
// cannot tell, because its database is only just back.
func (s *Gateway) Freed(c Customer) bool {
	s.tb.Helper()
	var b admin.Balance
	return s.call("GET", "/admin/v1/customers/"+c.ID+"/balance", nil, &b)/100 == 2 && b.Held == 0
}

// Verify recomputes the ledger and fails the test on any difference.
func (s *Gateway) Verify() (r ledger.Report) {
	s.tb.Helper()
	s.Operate("GET", "/admin/v1/ledger/verify", nil, &r)
	if !r.OK {
		s.tb.Errorf("the ledger does not add up: %q", r.Differences)
	}
	return r
}

// Record waits for the final record of a request; it must be there within a
// second of the end.
func (s *Gateway) Record(id string) (r journal.Record) {
	s.tb.Helper()
	if !WaitFor(5*time.Second, func() bool {
		status := s.call("GET", "/admin/v1/requests/"+id, nil, &r)
		return status == http.StatusOK && r.Outcome != journal.OutcomeRunning
	}) {
		s.tb.Fatalf("no final record of %s: %+v", id, r)
	}
	return r
}

// Records gives all records, by id.
func (s *Gateway) Records() map[string]journal.Record {
	s.tb.Helper()
	all := map[string]journal.Record{}
	for cursor := ""; ; {
		var page admin.RequestList
		s.Operate("GET", "/admin/v1/requests?limit=1000&cursor="+cursor, nil, &page)
		for _, r := range page.Requests {
			all[r.RequestID] = r
		}
		if cursor = page.Next; cursor == "" {
			return all
		}
	}
}

// Transactions of a request, oldest first.
func (s *Gateway) Transactions(id string) []ledger.Transaction {
	s.tb.Helper()
	var list admin.TransactionList
	s.Operate("GET", "/admin/v1/ledger/transactions?limit=1000&request_id="+id, nil, &list)
	for i, j := 0, len(list.Transactions)-1; i < j; i, j = i+1, j-1 {
		list.Transactions[i], list.Transactions[j] = list.Transactions[j], list.Transactions[i]
	}
	return list.Transactions
}

// Kinds of a request's transactions, oldest first.
func (s *Gateway) Kinds(id string) []string {
	s.tb.Helper()
	var kinds []string
	for _, t := range s.Transactions(id) {
		kinds = append(kinds, string(t.Kind))
	}
	return kinds
}

// Channels is how the channels stand.
func (s *Gateway) Channels() []admin.Channel {
	s.tb.Helper()
	var list admin.ChannelList
	s.Operate("GET", "/admin/v1/channels", nil, &list)
	return list.Channels
}

// Operate makes a call of the admin API that must succeed.
func (s *Gateway) Operate(method, path string, in, out any) {
	s.tb.Helper()
	if status := s.call(method, path, in, out); status/100 != 2 {
		s.tb.Fatalf("%s %s: status %d", method, path, status)
	}
}

// call gives the status, and decodes into out if it is a good one.
func (s *Gateway) call(method, path string, in, out any) int {
	s.tb.Helper()
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			s.tb.Fatal(err)
		}
		body = bytes.NewReader(raw)
	}
	status, raw, err := s.operate(method, path, body)
	if err == nil && status/100 == 2 && out != nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		s.tb.Fatalf("%s %s: %v", method, path, err)
	}
	return status
}

func (s *Gateway) operate(method, path string, body io.Reader) (int, []byte, error) {
	req, err := http.NewRequest(method, s.Admin+path, body)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+Token)
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		err = fmt.Errorf("reading the answer: %w", err)
	}
	return resp.StatusCode, raw, err
}

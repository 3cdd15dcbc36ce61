package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/wire/sse"
)

// seen is what a client saw of one stream.
type seen struct {
	requestID string
	lines     []string
	last      string // the last event's type
}

var web = &http.Client{Timeout: 30 * time.Second}

// ask streams one request, as an application would.
func ask(ctx context.Context, addr, key, model string) (seen, error) {
	body, err := json.Marshal(map[string]any{"model": model, "input": "What was cast at the Rubicon?", "stream": true, "max_output_tokens": 200})
	if err != nil {
		return seen{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/v1/responses", bytes.NewReader(body))
	if err != nil {
		return seen{}, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	start := time.Now()
	resp, err := web.Do(req)
	if err != nil {
		return seen{}, err
	}
	defer resp.Body.Close()
	s := seen{requestID: resp.Header.Get("X-Request-Id")}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		return s, fmt.Errorf("status %d: %s", resp.StatusCode, text)
	}
	dec := sse.NewDecoder(resp.Body, 1<<20)
	for {
		f, err := dec.Next()
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		if f.HasData {
			s.note(f, time.Since(start))
		}
	}
}

// note keeps one event in a line.
func (s *seen) note(f sse.Frame, at time.Duration) {
	var ev struct {
		Type  string
		Delta string
		Error *struct {
			Code        string
			AfterOutput bool `json:"after_output"`
			Retryable   bool
		}
	}
	_ = json.Unmarshal(f.Data, &ev)
	s.last = ev.Type
	line := fmt.Sprintf("%5d ms  %s", at.Milliseconds(), ev.Type)
	if ev.Delta != "" {
		line += fmt.Sprintf("  %q", ev.Delta)
	}
	if ev.Error != nil {
		line += fmt.Sprintf("  code %s, after_output %t, retryable %t", ev.Error.Code, ev.Error.AfterOutput, ev.Error.Retryable)
	}
	s.lines = append(s.lines, line)
}

// operator talks to the admin API.
type operator struct{ base, token string }

func (o *operator) post(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return o.call(ctx, http.MethodPost, path, bytes.NewReader(body), out)
}

func (o *operator) call(ctx context.Context, method, path string, body io.Reader, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, o.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+o.token)
	resp, err := web.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: status %d: %s", method, path, resp.StatusCode, raw)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}

func (o *operator) balance(ctx context.Context, customer string) (string, error) {
	var b struct{ Available string }
	err := o.call(ctx, http.MethodGet, "/admin/v1/customers/"+customer+"/balance", nil, &b)
	return b.Available, err
}

// record reads the final record of a request and its transactions.
func (o *operator) record(ctx context.Context, id string) (r journal.Record, list []ledger.Transaction, err error) {
	if err := o.call(ctx, http.MethodGet, "/admin/v1/requests/"+id, nil, &r); err != nil {
		return r, nil, err
	}
	var t struct{ Transactions []ledger.Transaction }
	err = o.call(ctx, http.MethodGet, "/admin/v1/ledger/transactions?request_id="+id, nil, &t)
	slices.Reverse(t.Transactions) // the API lists newest first
	return r, t.Transactions, err
}

func (o *operator) verify(ctx context.Context) (ok bool, transactions int, err error) {
	var v struct {
		OK           bool
		Transactions int
	}
	err = o.call(ctx, http.MethodGet, "/admin/v1/ledger/verify", nil, &v)
	return v.OK, v.Transactions, err
}

func indent(text string) string {
	return "   " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n   ")
}

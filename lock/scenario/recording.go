package scenario

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"rubicon/internal/books/ledger"
	"rubicon/lock/form"
)

// The recording's shape. Everything is in the order in which it happened or
// stands in the scenario; maps are written with sorted keys.
type (
	recordingOf struct {
		Scenario string      `json:"scenario"`
		Requests []requestOf `json:"requests"`
		Upstream []callOf    `json:"upstream"`
		Admin    []AdminCall `json:"admin,omitempty"`
		Money    moneyOf     `json:"money"`
		Health   healthOf    `json:"health"`
		Logged   []string    `json:"logged,omitempty"`
	}
	requestOf struct {
		Request  string            `json:"request"`
		Customer string            `json:"customer"`
		Call     string            `json:"call"`
		Sent     string            `json:"sent"`
		Status   int               `json:"status,omitempty"`
		Headers  map[string]string `json:"headers,omitempty"`
		Events   []eventOf         `json:"events,omitempty"`
		Body     json.RawMessage   `json:"body,omitempty"`
		Ended    string            `json:"ended"`
		EndedAt  string            `json:"ended_at"`
		Closed   string            `json:"closed,omitempty"`
		Money    []transactionOf   `json:"money,omitempty"`
		Record   json.RawMessage   `json:"record,omitempty"`
	}
	eventOf struct {
		At      string          `json:"at"`
		Event   string          `json:"event,omitempty"`
		Comment string          `json:"comment,omitempty"`
		Rest    string          `json:"rest,omitempty"`
		Data    json.RawMessage `json:"data,omitempty"`
	}
	callOf struct {
		At      string            `json:"at"`
		Channel string            `json:"channel"`
		N       int               `json:"n"`
		Call    string            `json:"call"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body,omitempty"`
		Ended   string            `json:"ended"`
	}
	transactionOf struct {
		ID       string          `json:"id"`
		At       string          `json:"at"`
		Kind     ledger.Kind     `json:"kind"`
		Postings []string        `json:"postings"`
		Reason   string          `json:"reason,omitempty"`
		Actor    string          `json:"actor,omitempty"`
		Attempt  int             `json:"attempt,omitempty"`
		Reverses string          `json:"reverses,omitempty"`
		Meta     json.RawMessage `json:"meta,omitempty"`
	}
	moneyOf struct {
		Transactions []transactionOf   `json:"transactions"`
		Balances     map[string]string `json:"balances"`
		Verified     bool              `json:"verified"`
	}
	healthOf struct {
		Events   []momentOf        `json:"events,omitempty"`
		Alerts   []json.RawMessage `json:"alerts,omitempty"`
		Channels []json.RawMessage `json:"channels"`
	}
	momentOf struct {
		At   string `json:"at"`
		What string `json:"what"`
	}
)

// recording writes down what was seen, as compact JSON.
func (v *observed) recording() ([]byte, error) {
	out := recordingOf{Scenario: v.s.Name, Admin: v.admin, Upstream: []callOf{},
		Money:  moneyOf{Transactions: v.entries(v.money), Balances: map[string]string{}, Verified: v.verify.OK},
		Health: healthOf{Events: v.moments(v.health), Alerts: v.alerts, Channels: v.channels}, Logged: v.errors}
	for i := range v.requests {
		out.Requests = append(out.Requests, v.request(&v.requests[i]))
	}
	for i := range v.calls {
		out.Upstream = append(out.Upstream, v.call(&v.calls[i]))
	}
	for account, sum := range v.balances {
		out.Money.Balances[account] = sum.String()
	}
	text, err := plainJSON(out)
	if err != nil {
		return nil, err
	}
	return v.aliased(text), nil
}

func (v *observed) request(r *observedRequest) requestOf {
	out := requestOf{Request: r.req.Name, Customer: r.req.Customer, Call: r.path, Sent: v.at(r.sent), Status: r.status,
		Headers: kept(r.header, "date", "content-length"), Ended: r.ended, EndedAt: v.at(r.endedAt), Closed: r.closed, Money: v.entries(r.money), Record: readAhead.ReplaceAll(r.raw, []byte("${1}null"))}
	for i := range r.events {
		e := &r.events[i]
		out.Events = append(out.Events, eventOf{At: v.at(e.at), Event: e.name, Comment: e.comment, Rest: e.rest, Data: asJSON(e.data)})
	}
	out.Body = asJSON(string(r.whole))
	return out
}

func (v *observed) call(c *observedCall) callOf {
	target := c.Method + " " + c.Path
	if c.Query != "" {
		target += "?" + c.Query
	}
	out := callOf{At: v.at(c.At), Channel: c.channel, N: c.N, Call: target, Body: asJSON(c.Body),
		Headers: kept(c.Header, "content-length", "accept-encoding")}
	switch {
	case !c.CallerLeft.IsZero():
		out.Ended = "left at " + v.at(c.CallerLeft)
	case !c.Done.IsZero():
		out.Ended = "done at " + v.at(c.Done)
	default:
		out.Ended = "still open"
	}
	return out
}

func (v *observed) entries(list []ledger.Transaction) []transactionOf {
	out := make([]transactionOf, 0, len(list))
	for _, tx := range list {
		e := transactionOf{ID: tx.ID, At: v.at(tx.At), Kind: tx.Kind, Reason: tx.Reason, Actor: tx.Actor, Attempt: tx.Attempt, Reverses: tx.Reverses, Meta: tx.Meta}
		for _, p := range tx.Postings {
			e.Postings = append(e.Postings, p.Account+" "+p.Amount.String())
		}
		out = append(out, e)
	}
	return out
}

func (v *observed) moments(list []logged) (out []momentOf) {
	for _, l := range list {
		out = append(out, momentOf{v.at(l.at), l.text})
	}
	return out
}

func (v *observed) at(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Sub(v.t0).String()
}

func (st *installation) now() string { return time.Since(st.t0).String() }

func itoa(n int) string { return strconv.Itoa(n) }

const (
	longText = 512 // bytes of a string from which on it is cut
	shown    = 64
)

// asJSON embeds a text: as what it is if it is compact JSON, so that nothing of
// its bytes is lost, else as a string. Long texts are cut, with their digest.
func asJSON(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(text)) != nil || compact.String() != text {
		quoted, _ := plainJSON(text) // a string always encodes
		return shortened(quoted)
	}
	return shortened([]byte(text))
}

// shortened cuts the long strings of compact JSON.
func shortened(text []byte) []byte {
	if len(text) < longText {
		return text
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		n := 1
		if text[0] == '"' {
			n = form.ScalarEnd(text)
		}
		if n < longText {
			out = append(out, text[:n]...)
		} else {
			out = append(out, digest(text[1:n-1])...)
		}
		text = text[n:]
	}
	return out
}

// digest stands for the inside of a long JSON string.
func digest(s []byte) string {
	cut := s[:shown]
	if i := bytes.LastIndexByte(cut, '\\'); i > shown-6 {
		cut = cut[:i] // in the middle of an escape
	}
	sum := sha256.Sum256(s)
	return fmt.Sprintf(`"%s… (%d bytes, sha256 %x)"`, strings.ToValidUTF8(string(bytes.TrimRight(cut, `\`)), ""), len(s), sum[:6])
}

// readAhead finds the number of bytes read where the gateway gave up while more
// was on its way: how much of that it had read already is chance.
var readAhead = regexp.MustCompile(`("failure":"(?:buffer_limit|client_gone)"[^{}]*?"bytes":)[0-9]+`)

var (
	ownID  = regexp.MustCompile(`\b(req|cus|key|tx)_[0-9a-hjkmnp-tv-z]{26}\b`)
	moment = regexp.MustCompile(`"2000-[0-9T:.-]+Z"`)
)

// aliased replaces ids by names and moments by the time since the start.
func (v *observed) aliased(text []byte) []byte {
	text = []byte(strings.NewReplacer(v.aliases...).Replace(string(text)))
	text = moment.ReplaceAllFunc(text, func(m []byte) []byte {
		t, err := time.Parse(time.RFC3339Nano, string(m[1:len(m)-1]))
		if err != nil {
			return m
		}
		return []byte(`"T+` + v.at(t) + `"`)
	})
	names := map[string]string{}
	return ownID.ReplaceAllFunc(text, func(id []byte) []byte {
		if names[string(id)] == "" {
			kind, _, _ := strings.Cut(string(id), "_")
			names[string(id)] = fmt.Sprintf("%s_?%d", kind, len(names)+1)
		}
		return []byte(names[string(id)])
	})
}

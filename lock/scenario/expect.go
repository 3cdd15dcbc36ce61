package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"rubicon/internal/money"
)

// Expect is what must have come of it, in plain words: it is checked beside the
// recording, so that a wrong recording cannot be accepted unseen.
type Expect struct {
	// Of one request, as its client saw it.
	Status  int               `yaml:"status"`
	Headers map[string]string `yaml:"headers"` // "absent": not there
	Events  []string          `yaml:"events"`  // the types, whole
	Ends    string            `yaml:"ends"`    // the type of the last event
	Ended   string            `yaml:"ended"`   // whole, broken, left, none; whole unless said
	Text    *string           `yaml:"text"`    // the answer's text
	Error   object            `yaml:"error"`   // members of the error that was shown; "…part…" a part of a text
	First   Duration          `yaml:"first"`   // when the first event came, after sending
	Took    Duration          `yaml:"took"`    // until the end
	// Of one request, on record.
	Outcome  string   `yaml:"outcome"`
	Attempts []string `yaml:"attempts"` // channel failure verdict reason; failure is - for an answer
	Charge   string   `yaml:"charge"`
	Held     string   `yaml:"held"`  // what was reserved
	Usage    object   `yaml:"usage"` // members of the record's usage
	Costs    []string `yaml:"costs"` // attempt cost|absorbed amount [reason]
	Record   object   `yaml:"record"`
	// Of the whole.
	Calls    map[string]int    `yaml:"calls"`
	Sent     map[string]object `yaml:"sent"`    // members of the last body that a channel got; "absent"
	Got      map[string]object `yaml:"got"`     // headers of the last call that a channel got; "absent"
	Balance  map[string]string `yaml:"balance"` // of customers, available
	Accounts map[string]string `yaml:"accounts"`
	Health   map[string]string `yaml:"health"` // states of channels at the end; closed unless said
	Gone     map[string]string `yaml:"gone"`   // when a channel's last call was given up
}

func (e *Expect) asksOfRequest() bool {
	c := *e
	c.Calls, c.Sent, c.Got, c.Balance, c.Accounts, c.Health, c.Gone = nil, nil, nil, nil, nil, nil, nil
	return !reflect.DeepEqual(c, Expect{})
}

// unexpected gives what is otherwise than the scenario says.
func (v *observed) unexpected() []string {
	c := &checks{}
	for i := range v.requests {
		r := &v.requests[i]
		e := v.expected(r)
		c.where = "request " + r.req.Name + ": "
		c.client(r, &e)
		c.onRecord(r, &e)
	}
	c.where = ""
	v.whole(c, &v.s.Expect)
	return c.wrong
}

// expected is what the scenario says of a request.
func (v *observed) expected(r *observedRequest) Expect {
	e := r.req.Expect
	if len(v.requests) == 1 && v.s.Expect.asksOfRequest() {
		e = v.s.Expect
	}
	if v.twin {
		e = e.overSocket(r)
	}
	return e
}

// overSocket is what a twin must show: the same, but for what the framing makes
// different (lock/twins.yaml says why; the twins' own test compares the rest).
func (e Expect) overSocket(r *observedRequest) Expect {
	e.Status, e.Headers, e.Events = 0, nil, nil
	if kinds := r.kinds(); e.Ends == "response.failed" && len(kinds) > 0 && kinds[len(kinds)-1] == "error" {
		e.Ends = "error"
	}
	if e.Ended == endedNone {
		e.Ended = endedBroken // the socket was open
	}
	return e
}

// checks gathers what is wrong.
type checks struct {
	where string
	wrong []string
}

func (c *checks) fail(format string, args ...any) {
	c.wrong = append(c.wrong, c.where+fmt.Sprintf(format, args...))
}

func (c *checks) same(what string, want, got any) {
	if !reflect.DeepEqual(want, got) {
		c.fail("%s is %v, expected %v", what, got, want)
	}
}

// client checks what the client saw.
func (c *checks) client(r *observedRequest, e *Expect) {
	if e.Status != 0 {
		c.same("status", e.Status, r.shownStatus())
	}
	if e.Ended == "" {
		e.Ended = endedWhole
	}
	c.same("the end", e.Ended, r.ended)
	if r.req.Surface != surfaceSocket {
		for name, want := range e.Headers {
			got := r.header.Get(name)
			if got == "" {
				got = "absent"
			}
			c.same("header "+name, want, got)
		}
	}
	kinds := r.kinds()
	if e.Events != nil {
		c.same("events", e.Events, kinds)
	}
	if e.Ends != "" && (len(kinds) == 0 || kinds[len(kinds)-1] != e.Ends) {
		c.fail("the events %v do not end with %s", kinds, e.Ends)
	}
	if e.Text != nil {
		c.same("text", *e.Text, r.text())
	}
	if e.Error != nil {
		c.members("error", e.Error, r.errorShown())
	}
	c.times(r, e)
}

func (c *checks) times(r *observedRequest, e *Expect) {
	if e.First != 0 && len(r.events) > 0 {
		c.same("time of the first event", time.Duration(e.First), r.events[0].at.Sub(r.sent))
	}
	if e.Took != 0 {
		c.same("time until the end", time.Duration(e.Took), r.endedAt.Sub(r.sent))
	}
}

// onRecord checks the record and the money.
func (c *checks) onRecord(r *observedRequest, e *Expect) {
	rec := r.record
	if rec == nil {
		if e.Outcome != "" || e.Attempts != nil || e.Charge != "" {
			c.fail("is not on record")
		}
		return
	}
	if e.Outcome != "" {
		c.same("outcome", e.Outcome, string(rec.Outcome))
	}
	if e.Attempts != nil {
		got := []string{}
		for _, a := range rec.Attempts {
			failure := a.Failure
			if failure == "" {
				failure = "-"
			}
			got = append(got, strings.Join([]string{a.Channel, failure, a.Verdict, a.Reason}, " "))
		}
		c.same("attempts", e.Attempts, got)
	}
	if e.Charge != "" {
		c.same("charge", amount(e.Charge), rec.Charge.String())
	}
	if e.Usage != nil {
		c.members("usage", e.Usage, mustJSON(rec.Usage))
	}
	if e.Record != nil {
		c.members("record", e.Record, r.raw)
	}
	c.postings(r, e)
}

func (c *checks) postings(r *observedRequest, e *Expect) {
	costs := []string{}
	for _, tx := range r.money {
		switch tx.Kind {
		case "hold":
			if e.Held != "" {
				c.same("held", amount(e.Held), tx.Postings[positive(tx.Postings[0].Amount)].Amount.String())
			}
		case "cost":
			p := tx.Postings[positive(tx.Postings[0].Amount)]
			account, _, _ := strings.Cut(p.Account, ":")
			costs = append(costs, strings.TrimSpace(fmt.Sprintf("%d %s %s %s", tx.Attempt, account, p.Amount, tx.Reason)))
		}
	}
	if e.Costs != nil {
		for i, line := range e.Costs {
			words := strings.Fields(line)
			if len(words) > 2 {
				words[2] = amount(words[2])
			}
			e.Costs[i] = strings.Join(words, " ")
		}
		c.same("costs", e.Costs, costs)
	}
}

// positive is the index of the posting of two that receives.
func positive(first money.Nano) int {
	if first > 0 {
		return 0
	}
	return 1
}

// amount writes an amount as the API does.
func amount(s string) string {
	n, err := money.Parse(s)
	if err != nil {
		return s
	}
	return n.String()
}

// whole checks what concerns the scenario as a whole.
func (v *observed) whole(c *checks, e *Expect) {
	got := map[string]int{}
	for ch := range e.Calls {
		got[ch] = 0
	}
	last := map[string]*observedCall{}
	for i := range v.calls {
		call := &v.calls[i]
		got[call.channel]++
		last[call.channel] = call
	}
	c.same("calls", e.Calls, got)
	for ch, want := range e.Sent {
		if last[ch] != nil {
			c.members("sent to "+ch, want, json.RawMessage(last[ch].Body))
		}
	}
	for ch, want := range e.Got {
		if last[ch] != nil {
			c.members("headers to "+ch, want, mustJSON(kept(last[ch].Header)))
		}
	}
	for ch, want := range e.Gone {
		if last[ch] != nil {
			c.same("when "+ch+" was given up", want, v.at(last[ch].CallerLeft))
		}
	}
	v.wholeMoney(c, e)
	for _, s := range v.states {
		want := e.Health[s.Channel]
		if want == "" {
			want = "closed"
		}
		c.same("state of "+s.Channel, want, s.State)
	}
	c.same("errors logged", v.s.Logged, len(v.errors))
	for i := range v.errors {
		if v.s.Logged == 0 {
			c.fail("logged: %s", v.errors[i])
		}
	}
}

func (v *observed) wholeMoney(c *checks, e *Expect) {
	named := map[string]string{}
	for i := 0; i < len(v.aliases); i += 2 {
		named[v.aliases[i+1]] = v.aliases[i]
	}
	for name, want := range e.Balance {
		c.same("balance of "+name, amount(want), v.balances["customer:"+named["cus_"+name]+":available"].String())
	}
	for account, want := range e.Accounts {
		c.same("account "+account, amount(want), v.balances[account].String())
	}
}

// members checks that an object holds the wanted members, whatever else it holds.
func (c *checks) members(what string, want object, raw []byte) {
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		c.fail("%s is no object: %s", what, raw)
		return
	}
	for _, m := range want {
		value, there := got[m.key]
		switch {
		case m.value == "absent":
			if there {
				c.fail("%s.%s is there: %v", what, m.key, value)
			}
		case !there:
			c.fail("%s.%s is absent, expected %v", what, m.key, m.value)
		case !matches(m.value, value):
			c.fail("%s.%s is %v, expected %v", what, m.key, value, m.value)
		}
	}
}

// matches compares as JSON; a text …part… need only be contained.
func matches(want, got any) bool {
	if text, ok := want.(string); ok && strings.HasPrefix(text, "…") && strings.HasSuffix(text, "…") {
		s, _ := got.(string)
		return strings.Contains(s, strings.Trim(text, "…"))
	}
	if text, ok := want.(string); ok {
		if s, _ := got.(string); s == amount(text) {
			return true
		}
	}
	var a, b any
	_ = json.Unmarshal(mustJSON(want), &a)
	_ = json.Unmarshal(mustJSON(got), &b)
	return reflect.DeepEqual(a, b)
}

func mustJSON(v any) json.RawMessage {
	text, err := plainJSON(v)
	if err != nil {
		return []byte(strconv.Quote(err.Error()))
	}
	return text
}

// kinds are the types of the events, comments apart.
func (x *exchange) kinds() []string {
	kinds := []string{}
	for i := range x.events {
		if e := &x.events[i]; e.comment == "" || e.data != "" {
			kinds = append(kinds, e.kind())
		}
	}
	return slices.Clip(kinds)
}

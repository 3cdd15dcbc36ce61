package admin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/config"
	"rubicon/internal/wire/fault"
)

// call is one request to a route, checked.
type call struct {
	r     *http.Request
	query map[string]string
	body  []byte
	actor string
}

func (c *call) ctx() context.Context { return c.r.Context() }

// id is the {id} of the path.
func (c *call) id() string { return c.r.PathValue("id") }

const (
	defaultLimit = 100
	maxLimit     = 1000
	maxWord      = 255 // bytes of an actor or an idempotency key
)

// limit is the page's size; parseQuery has checked it.
func (c *call) limit() int {
	n, err := strconv.Atoi(c.query["limit"])
	if err != nil {
		return defaultLimit
	}
	return n
}

// since is the start of the range; zero: everything.
func (c *call) since() time.Time {
	t, _ := time.Parse(time.RFC3339, c.query["since"])
	return t
}

// queryParam is one name that a query string may hold.
type queryParam struct {
	about  string
	schema map[string]any
	check  func(string) string // what is wrong with a value, "" nothing
}

func text(about string) queryParam {
	return queryParam{about, map[string]any{"type": "string"}, func(string) string { return "" }}
}

func oneOf(about string, words ...string) queryParam {
	return queryParam{about, map[string]any{"type": "string", "enum": words}, func(v string) string {
		if slices.Contains(words, v) {
			return ""
		}
		return "must be one of " + strings.Join(words, ", ")
	}}
}

// queryParams describes every name once, for checking and for the document.
func queryParams() map[string]queryParam {
	return map[string]queryParam{
		"cursor":      text("`next` of the page before."),
		"customer":    text("Only this customer's."),
		"model":       text("A public model."),
		"protocol":    oneOf("Of the request; the model's first if absent.", config.ProtocolResponses, config.ProtocolChat, config.ProtocolMessages),
		"request_id":  text("Only of this request."),
		"response_id": text("Only the request whose answer has this id."),
		"kind": oneOf("Only of this kind.", string(ledger.KindTopUp), string(ledger.KindHold), string(ledger.KindSettle),
			string(ledger.KindRelease), string(ledger.KindCost), string(ledger.KindAdjust), string(ledger.KindReverse)),
		"outcome": oneOf("Only with this outcome.", string(journal.OutcomeRunning), string(journal.OutcomeCompleted),
			string(journal.OutcomeIncomplete), string(journal.OutcomeFailed), string(journal.OutcomePartial),
			string(journal.OutcomeCancelled), string(journal.OutcomeRejected)),
		"since": {"Only from this moment on, RFC 3339.", map[string]any{"type": "string", "format": "date-time"}, checkTime},
		"month": {"The month, UTC; required.", map[string]any{"type": "string", "pattern": `^[0-9]{4}-[0-9]{2}$`}, checkMonth},
		"limit": {"Size of the page.", map[string]any{"type": "integer", "minimum": 1, "maximum": maxLimit, "default": defaultLimit}, checkLimit},
	}
}

func checkTime(v string) string {
	if _, err := time.Parse(time.RFC3339, v); err != nil {
		return "must be a time like 2026-01-31T12:00:00Z"
	}
	return ""
}

func checkLimit(v string) string {
	if n, err := strconv.Atoi(v); err != nil || n < 1 || n > maxLimit {
		return "must be a whole number from 1 to " + strconv.Itoa(maxLimit)
	}
	return ""
}

// parseQuery refuses what the route does not know: a filter with a typo would
// otherwise show everything, and look right.
func parseQuery(values url.Values, allowed []string) (map[string]string, error) {
	known, out := queryParams(), map[string]string{}
	for name, list := range values {
		if !slices.Contains(allowed, name) {
			return nil, fault.Newf(fault.InvalidRequest, "Unknown query parameter %q.", name).WithParam(name)
		}
		if len(list) > 1 {
			return nil, fault.Newf(fault.InvalidRequest, "Query parameter %q is given twice.", name).WithParam(name)
		}
		if list[0] == "" {
			continue
		}
		if wrong := known[name].check(list[0]); wrong != "" {
			return nil, fault.Newf(fault.InvalidRequest, "%s %s.", name, wrong).WithParam(name)
		}
		out[name] = list[0]
	}
	return out, nil
}

// actorOf names who is at work, for the ledger and the log.
func actorOf(r *http.Request) (string, error) {
	actor := strings.TrimSpace(r.Header.Get("rubicon-actor"))
	if actor == "" {
		return "admin", nil
	}
	return actor, checkWord("rubicon-actor", actor)
}

func checkWord(name, value string) error {
	control := strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f })
	if len(value) > maxWord || control {
		return fault.Newf(fault.InvalidRequest, "%s must be text of at most %d bytes.", name, maxWord).WithParam(name)
	}
	return nil
}

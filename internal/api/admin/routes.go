package admin

import (
	"net/http"
	"reflect"
)

// route is one line of the API. What it takes and gives is read off the
// function that serves it, so that the document cannot say anything else.
type route struct {
	method, path string
	about        string
	query        []string // names out of queryParams; others are refused
	status       int      // of success; 0 is 200
	endpoint
}

// endpoint serves a route.
type endpoint struct {
	in, out  reflect.Type // nil: no body
	optional bool         // an empty body counts as {}
	run      func(*api, *call) (any, error)

	raw  func(*api) http.Handler // instead of run; may give nil: not served
	open bool                    // needs no token
}

// read is an endpoint without a body.
func read[A any](f func(*api, *call) (A, error)) endpoint {
	return endpoint{
		out: reflect.TypeFor[A](),
		run: func(a *api, c *call) (any, error) { return f(a, c) },
	}
}

// change is an endpoint that takes a JSON object.
func change[B, A any](f func(*api, *call, B) (A, error)) endpoint {
	return endpoint{
		in:  reflect.TypeFor[B](),
		out: reflect.TypeFor[A](),
		run: func(a *api, c *call) (any, error) {
			var in B
			if err := decode(c.body, &in); err != nil {
				return nil, err
			}
			return f(a, c, in)
		},
	}
}

// bodyOptional lets the body be empty.
func bodyOptional(e endpoint) endpoint { e.optional = true; return e }

// raw is an endpoint that is a handler of its own.
func raw(f func(*api) http.Handler) endpoint { return endpoint{raw: f} }

const (
	customer = "/admin/v1/customers/{id}"
	channel  = "/admin/v1/channels/{name}"
	key      = "/admin/v1/keys/{id}"
	tx       = "/admin/v1/ledger/transactions"
)

// routes is the whole API. It is a function because nothing of it may be
// changed; New asks once.
func routes() []route {
	paged := []string{"cursor", "limit"}
	return []route{
		{"POST", "/admin/v1/customers", "Create a customer.", nil, 201, change(createCustomer)},
		{"GET", "/admin/v1/customers", "List customers, oldest first.", paged, 0, read(listCustomers)},
		{"GET", customer, "Read a customer.", nil, 0, read(showCustomer)},
		{"PATCH", customer, "Rename, suspend or resume a customer.", nil, 0, change(patchCustomer)},

		{"POST", customer + "/keys", "Create a key. Its secret is shown this once. warnings tells what is probably not meant, as a model that does not exist.", nil, 201, change(createKey)},
		{"GET", customer + "/keys", "List a customer's keys, revoked ones too.", nil, 0, read(listKeys)},
		{"PATCH", key, "Change a key. null or a zero value removes a limit.", nil, 0, change(patchKey)},
		{"DELETE", key, "Revoke a key for good.", nil, 0, read(revokeKey)},

		{"POST", customer + "/credits", "Give credit. The same idempotency-key gives the same transaction again; without one a repeat gives the credit again.", nil, 201, change(giveCredit)},
		{"POST", customer + "/adjustments", "Correct a balance up or down.", nil, 201, change(adjust)},
		{"GET", customer + "/balance", "Read a balance.", nil, 0, read(showBalance)},
		{"GET", tx, "List transactions, newest first.", []string{"request_id", "customer", "kind", "cursor", "limit"}, 0, read(listTransactions)},
		{"POST", tx + "/{id}/reverse", "Reverse a topup, settle or adjust, once.", nil, 201, change(reverse)},
		{"GET", "/admin/v1/ledger/verify", "Recompute the ledger and tell what differs.", nil, 0, read(verify)},
		{"GET", "/admin/v1/report", "Sum a month: usage, revenue, cost, absorbed cost and margin per customer, model and channel.", []string{"month"}, 0, read(monthly)},
		{"GET", "/admin/v1/prices", "List the price lists that were ever in force, newest first.", []string{"limit"}, 0, read(listPrices)},
		{"GET", "/admin/v1/prices/{id}", "Read the price list that charges name by this version.", nil, 0, read(showPrices)},

		{"GET", "/admin/v1/channels", "List channels with their health, per public model.", nil, 0, read(listChannels)},
		{"POST", channel + "/pause", "Take a channel out of traffic.", nil, 0, bodyOptional(change(override(ActionPause)))},
		{"POST", channel + "/resume", "End a channel's pause.", nil, 0, bodyOptional(change(override(ActionResume)))},
		{"POST", channel + "/credentials/{cred}/enable", "Put a credential back into traffic.", nil, 0, bodyOptional(change(override(ActionEnable)))},
		{"POST", channel + "/credentials/{cred}/disable", "Take a credential out of traffic.", nil, 0, bodyOptional(change(override(ActionDisable)))},
		{"PUT", channel + "/weight", "Set a channel's weight for one public model; -1 takes the override back.", nil, 0, change(setWeight)},
		{"GET", "/admin/v1/route", "Tell what would be chosen now for a public model, and why not the others.", []string{"model", "protocol"}, 0, read(plan)},

		{"GET", "/admin/v1/requests", "List records, newest first.",
			[]string{"customer", "model", "outcome", "response_id", "since", "cursor", "limit"}, 0, read(listRequests)},
		{"GET", "/admin/v1/requests/{id}", "Read one whole record.", nil, 0, read(showRequest)},
		{"GET", "/admin/v1/alerts", "List alerts, newest first.", paged, 0, read(listAlerts)},

		{"GET", "/admin/v1/openapi.json", "This document.", nil, 0, raw(openAPI)},
		{"GET", "/metrics", "Prometheus metrics.", nil, 0, raw(func(a *api) http.Handler { return a.Metrics })},
		{"GET", "/debug/pprof/{profile...}", "Go profiles, if switched on.", nil, 0, raw(profiles)},
		{"GET", "/healthz", "Tells that the process runs.", nil, 0, endpoint{raw: healthz, open: true}},
	}
}

package admin

import (
	"net/http"
	"net/http/pprof"

	"rubicon/internal/books/journal"
)

func listRequests(a *api, c *call) (RequestList, error) {
	list, next, err := a.Journal.List(c.ctx(), journal.Filter{
		Customer: c.query["customer"], Model: c.query["model"], ResponseID: c.query["response_id"],
		Outcome: journal.Outcome(c.query["outcome"]), Since: c.since(), Cursor: c.query["cursor"], Limit: c.limit(),
	})
	return RequestList{orEmpty(list), next}, err
}

func showRequest(a *api, c *call) (journal.Record, error) { return a.Journal.Get(c.ctx(), c.id()) }

func listAlerts(a *api, c *call) (AlertList, error) {
	if a.Alerts == nil {
		return AlertList{[]Alert{}, ""}, nil
	}
	list, next, err := a.Alerts.Alerts(c.ctx(), Page{Cursor: c.query["cursor"], Limit: c.limit()})
	return AlertList{orEmpty(list), next}, err
}

func healthz(*api) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
}

// profiles mounts Go's profiles when the configuration asks for them.
func profiles(a *api) http.Handler {
	if !a.Profiling {
		return nil
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

package httpapi

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// exposed are the headers of an answer that a page may read.
var exposed = strings.Join([]string{"x-request-id", "request-id", "x-should-retry", "retry-after", "rubicon-translation", "idempotent-replayed",
	"x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests",
	"x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"}, ", ")

// methods are those of the client API.
const methods = "GET, POST, DELETE"

// remembered is for how many seconds a browser need not ask again.
const remembered = "7200"

// cors marks an answer for the page that asked, if the operator lets pages of
// its origin in (option cors.origins), and answers a browser's question whether
// it may ask: true means that there is nothing more to do. Keys travel in headers
// that a page sets itself, so that no page gains what its reader may do, and
// nothing is said about cookies.
func (a *api) cors(w http.ResponseWriter, r *http.Request) (answered bool) {
	allowed := a.Config().CORS.Origins
	if len(allowed) == 0 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !OriginAllowed(origin, allowed) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		h.Set("Access-Control-Expose-Headers", exposed)
		return false
	}
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", methods)
	if wanted := r.Header.Get("Access-Control-Request-Headers"); wanted != "" {
		h.Set("Access-Control-Allow-Headers", wanted) // SDKs send dozens of their own
	}
	h.Set("Access-Control-Max-Age", remembered)
	w.WriteHeader(http.StatusNoContent)
	return true
}

// OriginAllowed tells whether pages of an origin are let in. Patterns are origins
// or hosts, * standing for any part.
func OriginAllowed(origin string, patterns []string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		target := u.Host
		if strings.Contains(pattern, "://") {
			target = u.Scheme + "://" + u.Host
		}
		ok, err := path.Match(strings.ToLower(strings.TrimSuffix(pattern, "/")), strings.ToLower(target))
		return err == nil && ok
	})
}

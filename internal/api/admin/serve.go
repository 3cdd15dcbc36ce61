package admin

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"rubicon/internal/wire/fault"
)

// maxBody bounds a request's body in bytes. The largest sensible one is a key
// with a long list of models.
const maxBody = 1 << 20

// handler builds the mux from the table. Methods are told apart here and not
// by the mux, because its own 405 is not in the envelope.
func (a *api) handler() http.Handler {
	byPath := map[string]map[string]route{}
	for _, r := range routes() {
		if byPath[r.path] == nil {
			byPath[r.path] = map[string]route{}
		}
		byPath[r.path][r.method] = r
	}
	mux := http.NewServeMux()
	for path, methods := range byPath {
		mux.Handle(path, a.methods(methods))
	}
	mux.Handle("/", a.methods(nil))
	return a.shell(mux)
}

// shell is around everything: the request's id, headers, and panics.
func (a *api) shell(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("x-request-id", a.IDs.ID("req"))
		w.Header().Set("cache-control", "no-store")
		w.Header().Set("x-content-type-options", "nosniff")
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler {
				panic(p)
			}
			a.Log.Error("admin: panic", "panic", p, "path", r.URL.Path, "stack", string(debug.Stack()))
			a.fail(w, r, fault.New(fault.InternalError, ""))
		}()
		next.ServeHTTP(w, r)
	})
}

// methods serves one path. An unknown path is asked for the token first, too:
// without it one learns nothing.
func (a *api) methods(byMethod map[string]route) http.Handler {
	raws := map[string]http.Handler{}
	for m, r := range byMethod {
		if r.raw != nil {
			raws[m] = r.raw(a)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		found, ok := byMethod[method]
		switch {
		case !found.open && !a.authorized(r):
			w.Header().Set("www-authenticate", "Bearer")
			a.fail(w, r, fault.New(fault.InvalidAPIKey, "Send the admin token as `Authorization: Bearer …`."))
		case byMethod == nil || found.raw != nil && raws[method] == nil:
			a.fail(w, r, fault.New(fault.NotFound, "No such path."))
		case !ok:
			w.Header().Set("allow", allow(byMethod))
			a.fail(w, r, methodNotAllowed(r.Method))
		case found.raw != nil:
			raws[method].ServeHTTP(w, r)
		default:
			a.run(w, r, found)
		}
	})
}

func allow(byMethod map[string]route) string {
	names := slices.Sorted(maps.Keys(byMethod))
	if slices.Contains(names, http.MethodGet) {
		names = append(names, http.MethodHead)
	}
	return strings.Join(names, ", ")
}

// authorized compares digests, so that neither the place of the first wrong
// byte nor the token's length shows in the time it takes.
func (a *api) authorized(r *http.Request) bool {
	scheme, token, ok := strings.Cut(r.Header.Get("authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "bearer") || a.Token.Empty() {
		return false
	}
	got, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(a.Token.Reveal()))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// run reads what the route takes, runs it and writes what it gives.
func (a *api) run(w http.ResponseWriter, r *http.Request, found route) {
	c, err := newCall(w, r, found)
	var out any
	if err == nil {
		out, err = found.run(a, c)
	}
	if err != nil {
		a.fail(w, r, asFault(err))
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		a.Log.Info("admin: changed", "method", r.Method, "path", r.URL.Path, "actor", c.actor)
	}
	writeJSON(w, max(found.status, http.StatusOK), out)
}

func newCall(w http.ResponseWriter, r *http.Request, found route) (*call, error) {
	c := &call{r: r}
	var err error
	if c.actor, err = actorOf(r); err != nil {
		return nil, err
	}
	if c.query, err = parseQuery(r.URL.Query(), found.query); err != nil {
		return nil, err
	}
	if found.in == nil {
		return c, nil
	}
	c.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, fault.Newf(fault.PayloadTooLarge, "The body is larger than %d bytes.", tooLarge.Limit)
	}
	if err != nil {
		return nil, fault.New(fault.InvalidJSON, "The body broke off.").WithCause(err)
	}
	if found.optional && len(bytes.TrimSpace(c.body)) == 0 {
		c.body = []byte("{}")
	}
	return c, nil
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		// Only types of this program are encoded; shell answers the panic.
		panic(fmt.Sprintf("admin: encoding an answer: %v", err))
	}
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// fail writes the envelope and logs what an operator must know.
func (a *api) fail(w http.ResponseWriter, r *http.Request, e *fault.Error) {
	e.RequestID = w.Header().Get("x-request-id")
	if e.Status >= http.StatusInternalServerError && r.Context().Err() == nil {
		a.Log.LogAttrs(r.Context(), slog.LevelError, "admin: failed", slog.String("request_id", e.RequestID),
			slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.String("error", e.Error()))
	}
	w.Header().Set("x-should-retry", fmt.Sprint(e.ShouldRetry()))
	if s := e.RetryAfterSeconds(); s > 0 {
		w.Header().Set("retry-after", fmt.Sprint(s))
	}
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(e.Status)
	_, _ = w.Write(append(fault.OpenAIBody(e), '\n'))
}

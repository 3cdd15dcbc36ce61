package sim

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// surface is what a path asks for.
type surface string

const (
	surfaceResponses   surface = "responses"
	surfaceChat        surface = "chat"
	surfaceMessages    surface = "messages"
	surfaceEmbeddings  surface = "embeddings"
	surfaceCompact     surface = "compact"
	surfaceInputTokens surface = "input_tokens"
	surfaceCountTokens surface = "count_tokens"
	surfaceResponse    surface = "response" // a stored response, read or deleted
	surfaceInputItems  surface = "input_items"
	surfaceModels      surface = "models"
	surfaceModel       surface = "model"
	surfaceUnknown     surface = ""
)

// paths lists what is served, longest and literal first; {id} stands for one segment.
var paths = []struct {
	tail string
	is   surface
}{
	{"responses/{id}/input_items", surfaceInputItems},
	{"chat/completions", surfaceChat},
	{"responses/compact", surfaceCompact},
	{"responses/input_tokens", surfaceInputTokens},
	{"messages/count_tokens", surfaceCountTokens},
	{"responses", surfaceResponses},
	{"messages", surfaceMessages},
	{"embeddings", surfaceEmbeddings},
	{"models", surfaceModels},
	{"responses/{id}", surfaceResponse},
	{"models/{id}", surfaceModel},
}

// request is one HTTP request, read to its end, with what a script may need of it.
type request struct {
	http    *http.Request // its body is spent
	body    []byte
	surface surface
	tail    string // path without base and with ids as {id}: "/responses/{id}"
	id      string // what stood for {id}
	fields  map[string]json.RawMessage
	model   string
	stream  bool
	key     string // credential
}

// parseRequest makes sense of a request. A body that is no JSON has no fields; scripts play all the same.
func parseRequest(r *http.Request, body []byte) request {
	q := request{http: r, body: body, key: credential(r.Header)}
	q.surface, q.tail, q.id = match(r.URL.Path)
	if json.Unmarshal(body, &q.fields) != nil {
		q.fields = nil
	}
	q.model, _ = field[string](q, "model")
	q.stream, _ = field[bool](q, "stream")
	return q
}

// match finds what a path under any base asks for.
func match(path string) (is surface, tail, id string) {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for _, p := range paths {
		want := strings.Split(p.tail, "/")
		if len(want) > len(segments) {
			continue
		}
		id, ok := matchTail(segments[len(segments)-len(want):], want)
		if ok {
			return p.is, "/" + p.tail, id
		}
	}
	return surfaceUnknown, "/" + strings.Join(segments, "/"), ""
}

func matchTail(got, want []string) (id string, ok bool) {
	for i := range want {
		switch {
		case want[i] == "{id}":
			id = got[i]
		case got[i] != want[i]:
			return "", false
		}
	}
	return id, true
}

// field reads a top-level field of the body as a T.
func field[T any](q request, name string) (T, bool) {
	var v T
	raw, ok := q.fields[name]
	if !ok || bytes.Equal(raw, []byte("null")) || json.Unmarshal(raw, &v) != nil {
		var zero T
		return zero, false
	}
	return v, true
}

// echo is the field as it came, or what a provider says when it did not.
func (q request) echo(name string, otherwise any) any {
	if raw, ok := q.fields[name]; ok && !bytes.Equal(raw, []byte("null")) {
		return raw
	}
	return otherwise
}

// answeredTier is the service tier that a provider answers with: the requested one where one was named.
func (q request) answeredTier(standard string) string {
	tier, _ := field[string](q, "service_tier")
	if tier == "" || tier == "auto" || tier == "standard_only" {
		return standard
	}
	return tier
}

// wantsUsage says whether a Chat request asked for the usage chunk.
func (q request) wantsUsage() bool {
	o, _ := field[struct {
		IncludeUsage bool `json:"include_usage"`
	}](q, "stream_options")
	return o.IncludeUsage
}

// credential is the key that came, however it came.
func credential(h http.Header) string {
	if v, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer "); ok {
		return v
	}
	for _, name := range []string{"X-Api-Key", "Api-Key"} {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// fill replaces $KEY, $HOST and $MODEL by the credential that came, our address and the model, so that scripts can
// show whether somebody lets them through.
func (q request) fill(s string) string {
	if !strings.Contains(s, "$") {
		return s
	}
	return strings.NewReplacer("$KEY", q.key, "$HOST", q.http.Host, "$MODEL", q.model).Replace(s)
}

// fillStep replaces them in everything that a step says. What a request brought along and is echoed stays as it came.
func (q request) fillStep(s Step) Step {
	s.Text, s.Args, s.Message, s.ID, s.Model = q.fill(s.Text), q.fill(s.Args), q.fill(s.Message), q.fill(s.ID), q.fill(s.Model)
	if s.Data != nil {
		data := q.fill(*s.Data)
		s.Data = &data
	}
	if s.Set != nil {
		s.Set = json.RawMessage(q.fill(string(s.Set)))
	}
	if s.Output != nil {
		s.Output = json.RawMessage(q.fill(string(s.Output)))
	}
	return s
}

// scriptKeys are the names under which a script for this request may stand, the most special first.
func (q request) scriptKeys() []string {
	call := q.http.Method + " " + q.tail
	if q.model == "" {
		return []string{call}
	}
	return []string{call + " " + q.model, call, q.model, "*"}
}

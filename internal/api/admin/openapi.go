package admin

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
)

// envelope documents the error that fault writes by hand.
type envelope struct {
	Error envelopeError `json:"error"`
}

type envelopeError struct {
	Message    string  `json:"message"`
	Type       string  `json:"type"`
	Code       string  `json:"code"`
	Param      *string `json:"param"`
	RequestID  string  `json:"request_id"`
	Retryable  bool    `json:"retryable"`
	RetryAfter *int64  `json:"retry_after"`
	// AfterOutput is always false here; the envelope is that of all APIs.
	AfterOutput bool `json:"after_output"`
}

// openAPI serves the document, made once.
func openAPI(a *api) http.Handler {
	doc, err := json.MarshalIndent(document(routes(), a.Version), "", "  ")
	if err != nil {
		// Maps and strings always encode; this is a fault of the program.
		panic("admin: encoding the OpenAPI document: " + err.Error())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "application/json")
		_, _ = w.Write(doc)
	})
}

func document(all []route, version string) map[string]any {
	if version == "" {
		version = "dev"
	}
	s, paths := newSchemas(), map[string]map[string]any{}
	for _, r := range all {
		path := strings.ReplaceAll(r.path, "...}", "}")
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path][strings.ToLower(r.method)] = operation(s, r)
	}
	s.of(reflect.TypeFor[envelope]())
	return map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]any{"title": "Rubicon admin API", "version": version},
		"paths":   paths,
		"components": map[string]any{
			"schemas":         s.components,
			"securitySchemes": map[string]any{"admin": map[string]any{"type": "http", "scheme": "bearer"}},
		},
		"security": []any{map[string]any{"admin": []any{}}},
	}
}

func operation(s *schemas, r route) map[string]any {
	success := map[string]any{"description": "Success."}
	if r.out != nil {
		success["content"] = jsonContent(s.of(r.out))
	}
	failure := map[string]any{"description": "A failure.", "content": jsonContent(map[string]any{"$ref": "#/components/schemas/envelope"})}
	op := map[string]any{
		"summary":    r.about,
		"parameters": parameters(r),
		"responses":  map[string]any{strconv.Itoa(max(r.status, http.StatusOK)): success, "default": failure},
	}
	if r.in != nil {
		op["requestBody"] = map[string]any{"required": !r.optional, "content": jsonContent(s.of(r.in))}
	}
	if r.open {
		op["security"] = []any{}
	}
	return op
}

func jsonContent(schema map[string]any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

// parameters lists what a path, a query string and headers may hold.
func parameters(r route) []any {
	out, plain := []any{}, map[string]any{"type": "string"}
	for _, segment := range strings.Split(r.path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			name = strings.TrimSuffix(strings.TrimSuffix(name, "}"), "...")
			out = append(out, map[string]any{"name": name, "in": "path", "required": true, "schema": plain})
		}
	}
	known := queryParams()
	for _, name := range r.query {
		out = append(out, map[string]any{"name": name, "in": "query", "description": known[name].about, "schema": known[name].schema})
	}
	if r.method != http.MethodGet {
		out = append(out, map[string]any{"name": "rubicon-actor", "in": "header", "description": "Who is at work, for the ledger and the log.", "schema": plain})
	}
	if strings.HasSuffix(r.path, "/credits") {
		out = append(out, map[string]any{"name": "idempotency-key", "in": "header", "description": "Makes a repeat harmless.", "schema": plain})
	}
	return out
}

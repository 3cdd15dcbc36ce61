package admin

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"rubicon/internal/money"
)

func TestOpenAPIListsEveryRoute(t *testing.T) {
	b := newBench(t)
	w := b.do("GET", "/admin/v1/openapi.json", "")
	if got := w.Header().Get("content-type"); got != "application/json" {
		t.Errorf("content-type %q", got)
	}
	var doc struct {
		OpenAPI    string
		Paths      map[string]map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("openapi %q", doc.OpenAPI)
	}
	for _, r := range routes() {
		path := strings.ReplaceAll(r.path, "...}", "}")
		op := doc.Paths[path][strings.ToLower(r.method)]
		if op["summary"] != r.about {
			t.Errorf("%s %s is missing", r.method, path)
		}
		if (op["requestBody"] != nil) != (r.in != nil) {
			t.Errorf("%s %s: request body %v", r.method, path, op["requestBody"])
		}
	}
	for _, ref := range refs(t, w.Body.Bytes()) {
		if _, ok := doc.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]; !ok {
			t.Errorf("%s leads nowhere", ref)
		}
	}
	key, _ := json.Marshal(doc.Components.Schemas["KeySpec"])
	for _, want := range []string{`"expires_at":{"anyOf":[{"format":"date-time","type":"string"},{"type":"null"}]}`, `"required":["name"]`, `"models"`} {
		if !strings.Contains(string(key), want) {
			t.Errorf("KeySpec lacks %s: %s", want, key)
		}
	}
}

// Every amount that the API takes or gives is one by the document.
func TestAmountsMatchTheirSchema(t *testing.T) {
	pattern := regexp.MustCompile(newSchemas().of(reflect.TypeFor[money.Nano]())["pattern"].(string))
	for _, amount := range []string{"10.00", "10", "-1.5", money.Nano(-350_000).String()} {
		if _, err := money.Parse(amount); err != nil || !pattern.MatchString(amount) {
			t.Errorf("%s: %v, %s", amount, err, pattern)
		}
	}
	for _, amount := range []string{"", "1.", ".5", "1e3", "1.0000000001"} {
		if _, err := money.Parse(amount); err == nil || pattern.MatchString(amount) {
			t.Errorf("%s is an amount", amount)
		}
	}
}

// refs finds every $ref of a document.
func refs(t *testing.T, doc []byte) []string {
	t.Helper()
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				out = append(out, ref)
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	var root any
	if err := json.Unmarshal(doc, &root); err != nil {
		t.Fatal(err)
	}
	if walk(root); len(out) < 20 {
		t.Fatalf("only %d references", len(out))
	}
	return out
}

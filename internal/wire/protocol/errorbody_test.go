package protocol

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadFailure(t *testing.T) {
	yes := true
	cases := []struct {
		name, body string
		want       FailureInfo
		ok         bool
	}{
		{"object", `{"error":{"message":"m","type":"t","code":"c","param":"p","retryable":true}}`, FailureInfo{Message: "m", Type: "t", Code: "c", Param: "p", Retryable: &yes}, true},
		{"numeric code", `{"error":{"message":"m","code":429}}`, FailureInfo{Message: "m", Code: "429"}, true},
		{"null code", `{"error":{"message":"m","code":null,"type":null}}`, FailureInfo{Message: "m"}, true},
		{"string", `{"error":"m"}`, FailureInfo{Message: "m"}, true},
		{"string beside a code", `{"code":"c","error":"m"}`, FailureInfo{Message: "m", Code: "c"}, true},
		{"list", `[{"error":{"message":"m","status":"NOT_FOUND","code":404}}]`, FailureInfo{Message: "m", Type: "not_found", State: "not_found", Code: "404"}, true},
		{"status after a type", `{"error":{"type":"t","status":"UNAVAILABLE"}}`, FailureInfo{Type: "t", State: "unavailable"}, true},
		{"status beside", `{"type":"error","status":503,"error":{"message":"m"}}`, FailureInfo{Message: "m", Type: "error", Status: 503}, true},
		{"list of texts", `{"errors":["m","n"]}`, FailureInfo{Message: "m"}, true},
		{"flat", `{"object":"error","message":"m","type":"t","code":404}`, FailureInfo{Message: "m", Type: "t", Code: "404"}, true},
		{"AWS", `{"__type":"a.b#ThrottlingException","Message":"m"}`, FailureInfo{Message: "m", Type: "ThrottlingException"}, true},
		{"FastAPI", `{"detail":"m"}`, FailureInfo{Message: "m"}, true},
		{"FastAPI's list", `{"detail":[{"loc":["body"],"msg":"m","type":"x"}]}`, FailureInfo{Message: "m"}, true},
		{"status number", `{"error":{"message":"m","status":503}}`, FailureInfo{Message: "m", Status: 503}, true},
		{"type alone", `{"type":"error","error":{"type":"overloaded_error"}}`, FailureInfo{Type: "overloaded_error"}, true},
		{"type alone in a list", `{"errors":[{"type":"t"}]}`, FailureInfo{Type: "t"}, true},
		{"a type that is no error's", `{"type":"message"}`, FailureInfo{Type: "message"}, false},
		{"empty object", `{}`, FailureInfo{}, false},
		{"null error", `{"error":null}`, FailureInfo{}, false},
		{"text", `"m"`, FailureInfo{Message: "m"}, true},
		{"text with quotes and escapes", `{"error":"the \"big\" \u006dodel\/x"}`, FailureInfo{Message: `the "big" model/x`}, true},
		{"a text in a text", `"\"m \\\"x\\\"\""`, FailureInfo{Message: `m "x"`}, true},
		{"an error in a text", `{"error":" {\"error\":{\"code\":\"c\",\"message\":\"m\"}}\n"}`, FailureInfo{Message: "m", Code: "c"}, true},
		{"an object in a text that is no error", `{"error":"{\"a\":1}"}`, FailureInfo{Message: `{"a":1}`}, true},
		{"text that looks like JSON", `"[m"`, FailureInfo{Message: "[m"}, true},
		{"number as an error", `{"error":502,"message":"m"}`, FailureInfo{Code: "502", Message: "m"}, true},
		{"no error's number", `{"error":0}`, FailureInfo{}, false},
		{"number", `42`, FailureInfo{}, false},
		{"deep", `[[[[["m"]]]]]`, FailureInfo{}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ok := ReadFailure([]byte(c.body))
			if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok {
				t.Errorf("ok %v, want %v\n%s", ok, c.ok, diff)
			}
		})
	}
}

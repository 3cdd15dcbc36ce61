package lock

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"rubicon/lock/difference"
	"rubicon/lock/form"
	"rubicon/lock/scenario"
)

// node is JSON as Go reads it.
type node = map[string]any

// TestTwins compares each WebSocket twin with its scenario over HTTP, field by
// field, apart from what twins.yaml lists. It reads recordings, which
// TestScenarios holds against the behaviour.
func TestTwins(t *testing.T) {
	all, err := scenario.LoadAll("scenarios")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if !s.Streams() {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			a, b := level(load(t, s.Name)), level(load(t, s.Name+".ws"))
			words(list(a, "requests"), list(b, "requests"))
			if diff := difference.Of(laid(t, a), laid(t, b)); diff != nil {
				t.Errorf("over HTTP (-) and over WebSocket (+) it is not the same:\n%s", strings.Join(diff, "\n"))
			}
		})
	}
}

func load(t *testing.T, name string) node {
	t.Helper()
	data, err := kept(name)
	if err != nil {
		t.Fatal(err)
	}
	var v node
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// differences are the ways in which the two may differ, each taken away from
// both sides. The keys are those of twins.yaml.
var differences = map[string]func(recording, request node){
	"surface": func(_, r node) {
		delete(r, "call")
		if rec, ok := r["record"].(node); ok {
			delete(rec, "surface")
		}
	},
	"head": func(_, r node) {
		delete(r, "closed")
		if r["ended"] == "none" {
			r["ended"] = "broken"
		}
		if status, _ := r["status"].(float64); status < 400 {
			delete(r, "status")
		}
	},
	"names":   func(_, r node) { r["events"] = slices.DeleteFunc(events(r), unnamed) },
	"refusal": func(_, r node) { refusal(r) },
	"ending":  func(_, r node) { ending(r) },
	"choosing": func(_, r node) {
		const code = "websocket_response_failed"
		failure, _ := r["failure"].(node)
		told, _ := failure["error"].(node)
		rec, _ := r["record"].(node)
		recorded, _ := rec["error"].(node)
		for _, n := range []node{failure, told, recorded} {
			if n["code"] == code {
				n["code"] = strings.TrimPrefix(code, "websocket_")
			}
		}
	},
	"order": func(node, node) {}, // objects are compared whatever their order
	"pad": func(v, _ node) {
		for _, c := range list(v, "upstream") {
			if body, ok := c["body"].(node); ok {
				delete(body, "pad")
			}
		}
	},
}

// level takes from a recording what may differ.
func level(v node) node {
	for _, r := range list(v, "requests") {
		for _, name := range []string{"surface", "head", "names", "refusal", "ending", "choosing", "order", "pad"} {
			differences[name](v, r)
		}
		delete(r, "headers")
	}
	return v
}

// words leaves the error's own words where both sides have the gateway's. What
// upstream said alone is completed over HTTP, by response.failed, and passes as
// it is on a socket.
func words(a, b []node) {
	for i := range a {
		x, _ := a[i]["failure"].(node)
		y, _ := b[i]["failure"].(node)
		if x["error"] == nil || y["error"] == nil {
			delete(x, "error")
			delete(y, "error")
		}
	}
}

// laid is a node as lines, keys sorted.
func laid(t *testing.T, v node) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return form.Layout(text)
}

func unnamed(e node) bool {
	delete(e, "event")
	delete(e, "comment")
	return e["data"] == nil
}

// refusal makes an error frame of a status with an error body.
func refusal(r node) {
	body, _ := r["body"].(node)
	status, refused := r["status"]
	delete(r, "status")
	if !refused {
		return
	}
	delete(r, "body")
	r["events"] = []node{{"at": r["ended_at"], "data": node{"type": "error", "status": status, "error": body["error"]}}}
}

// ending makes one failure of the events at the end that tell of one: where the
// gateway's own words are among them, these; else the code.
func ending(r node) {
	all := events(r)
	failure := node{}
	for len(all) > 0 {
		last := all[len(all)-1]
		data, _ := last["data"].(node)
		inner, _ := data["error"].(node)
		switch data["type"] {
		case "error":
		case "response.failed":
			resp, _ := data["response"].(node)
			inner, _ = resp["error"].(node)
		default:
			inner = nil
			data = nil
		}
		if data == nil {
			break
		}
		if failure["at"] == nil {
			failure["at"] = last["at"] // of the last: over HTTP an error after output does not wait for what follows
		}
		if inner["request_id"] != nil {
			failure["error"] = enveloped(inner)
		}
		if failure["code"] == nil {
			failure["code"] = inner["code"]
		}
		all = all[:len(all)-1]
	}
	r["events"] = all
	if len(failure) > 0 {
		r["failure"] = failure
	}
}

// enveloped is an error without members of the provider's own: over HTTP these
// stand in the event before ours.
func enveloped(told node) node {
	out := node{}
	for _, name := range []string{"message", "type", "code", "param", "request_id", "retryable", "retry_after", "after_output"} {
		out[name] = told[name]
	}
	return out
}

func list(v node, key string) (out []node) {
	items, _ := v[key].([]any)
	for _, item := range items {
		if n, ok := item.(node); ok {
			out = append(out, n)
		}
	}
	return out
}

func events(r node) []node {
	if all, ok := r["events"].([]node); ok {
		return all
	}
	return list(r, "events")
}

// TestTwinsAreExplained: each difference has its reason, and no reason is idle.
func TestTwinsAreExplained(t *testing.T) {
	data, err := os.ReadFile("twins.yaml")
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	if err := yaml.UnmarshalWithOptions(data, &reasons, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	for name := range differences {
		if reasons[name] == "" {
			t.Errorf("twins.yaml does not explain %q", name)
		}
	}
	for name := range reasons {
		if differences[name] == nil {
			t.Errorf("twins.yaml explains %q, which is no difference", name)
		}
	}
}

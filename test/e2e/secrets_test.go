package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"rubicon/internal/lab/sim"
	"rubicon/test/stand"
)

// words are what a careless upstream says: its credential and address.
const words = "key $KEY refused at $HOST, see http://$HOST/v1/keys?key=$KEY"

func saying(s sim.Step) sim.Step {
	s.Message = words
	return s
}

func replying(status int, body string) sim.Step {
	return sim.ReplyJSON(status, json.RawMessage(strings.ReplaceAll(body, "WORDS", words)))
}

// careless are ways to tell a failure.
var careless = map[string][]sim.Step{
	"400":               {saying(sim.ReplyError(400, "invalid_request"))},
	"401":               {saying(sim.ReplyError(401, "invalid_api_key"))},
	"402":               {saying(sim.ReplyError(402, "insufficient_quota"))},
	"403":               {saying(sim.ReplyError(403, "unsupported_country"))},
	"404":               {saying(sim.ReplyError(404, "model_not_found"))},
	"429":               {saying(sim.ReplyError(429, "rate_limit_exceeded"))},
	"500":               {saying(sim.ReplyError(500, "server_error"))},
	"503":               {saying(sim.ReplyError(503, "server_is_overloaded"))},
	"error a string":    {replying(400, `{"error":"WORDS"}`)},
	"error a list":      {replying(400, `{"error":[{"message":"WORDS"}]}`)},
	"detail":            {replying(422, `{"detail":"WORDS"}`)},
	"metadata":          {replying(400, `{"error":{"message":"WORDS","code":"bad","metadata":{"raw":"WORDS"}}}`)},
	"200 with an error": {replying(200, `{"error":{"message":"WORDS","code":"bad"}}`)},
	"HTML":              {sim.ReplyBody(502, "text/html", "<html>"+words+"</html>")},
	"redirect": {func() sim.Step {
		s := sim.Reply(307)
		s.Headers = map[string]string{"Location": "http://$HOST/v1/elsewhere"}
		return s
	}(), sim.End()},
	"event before output": {sim.Created(), saying(sim.Failed("invalid_prompt"))},
	"event after output":  {sim.Created(), sim.Text("Hi"), saying(sim.Failed("server_error"))},
	"error after output":  {sim.Created(), sim.Text("Hi"), saying(sim.Error("server_error"))},
	"retryable event":     {sim.Created(), saying(sim.Failed("server_is_overloaded"))},
	"cut":                 {sim.Created(), sim.Text("Hi"), sim.Reset()},
	"refused":             {sim.Refuse()},
	"not a protocol":      {sim.ReplyBody(200, "text/event-stream", "data: "+words+"\n\n")},
	"headers of all kinds": {func() sim.Step {
		s := sim.ReplyError(400, "x")
		s.Headers = map[string]string{"X-Echo": stand.Canary, "Set-Cookie": stand.Canary, "Via": stand.Canary}
		return s
	}()},
}

// Whatever an upstream says about its credential and its address, nobody sees
// them: no client, no log, no operator's view. The stand looks at every byte.
func TestSecrets(t *testing.T) {
	scripts, names := map[string]sim.Script{}, map[string]string{}
	for name, steps := range careless {
		names[name] = fmt.Sprint("up-", len(names))
		scripts[names[name]] = sim.Play(steps...)
	}
	s := stand.Start(t, stand.Options{Config: carelessConfig(names), Peers: map[string]stand.Peer{"alpha": sim.New(sim.Options{Scripts: scripts})}})
	for name := range careless {
		for _, a := range apis {
			for _, model := range []string{"alone/", "dead/"} {
				model += a.protocol + "/" + names[name]
				for _, body := range []string{a.stream(model), a.unstreamed(model)} {
					checkSecrets(t, s, a, name, body)
				}
			}
		}
	}
	if leaks := s.Logs.Tail(); strings.Contains(leaks, s.Default.Key) {
		t.Error("the log shows a client's key")
	}
}

// carelessConfig has a model for every way to fail, alone and with a channel
// behind it where nobody listens.
func carelessConfig(names map[string]string) string {
	var yaml strings.Builder
	yaml.WriteString("channels:\n")
	for _, a := range apis {
		fmt.Fprintf(&yaml, "  - {name: alpha-%[1]s, protocol: %[1]s, base_url: \"{alpha}\", allow_private: true, credentials: [{name: k, key: \"{key}\"}], alias: a}\n", a.protocol)
		fmt.Fprintf(&yaml, "  - {name: dead-%[1]s, protocol: %[1]s, base_url: \"http://127.0.0.1:1/v1\", allow_private: true, credentials: [{name: k, key: \"{key}\"}]}\n", a.protocol)
	}
	yaml.WriteString("models:\n")
	for _, up := range names {
		for _, a := range apis {
			for _, kind := range []string{"alone", "dead"} {
				fmt.Fprintf(&yaml, "  - name: %[3]s/%[1]s/%[2]s\n    price: {input: \"10\", output: \"50\"}\n    channels:\n      - {channel: alpha-%[1]s, upstream_model: %[2]s}\n", a.protocol, up, kind)
				if kind == "dead" {
					fmt.Fprintf(&yaml, "      - {channel: dead-%[1]s, upstream_model: %[2]s, priority: 1}\n", a.protocol, up)
				}
			}
		}
	}
	return yaml.String()
}

func checkSecrets(t *testing.T, s *stand.Gateway, a api, name, body string) {
	t.Helper()
	// What struck the credential for the others is taken back.
	s.Operate("POST", "/admin/v1/channels/alpha-"+a.protocol+"/credentials/k/enable", nil, nil)
	got := s.Do(s.Default, "POST", a.path, strings.NewReader(body), http.Header{"X-Api-Key": {"client's own"}})
	if got.Status == 0 || got.Err != nil {
		t.Errorf("%s on %s: no answer: %v", name, a.protocol, got.Err)
	}
	if strings.Contains(got.Body, "127.0.0.1") || strings.Contains(got.Body, "dead-") {
		t.Errorf("%s on %s shows an address or another channel: %s", name, a.protocol, got.Body)
	}
	if name != "429" && strings.Contains(got.Body, "all_channels_failed") { // that one cools down
		t.Errorf("%s on %s was not asked: %s", name, a.protocol, got.Body)
	}
	mine := s.Get(s.Default, "/v1/requests/"+got.ID())
	if mine.Status != 200 || strings.Contains(mine.Body, "credential") || strings.Contains(mine.Body, `"cost"`) || strings.Contains(mine.Body, "upstream_request_id") {
		t.Errorf("the customer's record shows what is the operator's: %s", mine.Body)
	}
}

package demo

import (
	"errors"
	"fmt"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
)

// demoStep is one request of the show and what must come of it.
type demoStep struct {
	title, what, model string
	expect             func(seen, journal.Record) error
}

var scenes = [...]demoStep{
	{
		title: "A failure before output",
		what:  "alpha accepts the request, sends response.created, then says it is overloaded. Nothing has reached the client yet.",
		model: "demo/replayed",
		expect: func(s seen, r journal.Record) error {
			switch {
			case s.last != "response.completed":
				return fmt.Errorf("the client saw %s at the end, not response.completed", s.last)
			case r.Outcome != journal.OutcomeCompleted || len(r.Attempts) != 2 || r.Attempts[0].Reason != "replay_failed_event":
				return errors.New("the record does not tell of one replay")
			}
			return nil
		},
	},
	{
		title: "A cut after output",
		what:  "alpha answers, and the connection breaks in the middle of the text. Repeating would show the client a second beginning.",
		model: "demo/cut",
		expect: func(s seen, r journal.Record) error {
			switch {
			case s.last != "response.failed":
				return fmt.Errorf("the client saw %s at the end, not response.failed", s.last)
			case r.Outcome != journal.OutcomePartial || len(r.Attempts) != 1 || r.Attempts[0].Reason != "output_delivered":
				return errors.New("the record does not tell of one reported cut")
			}
			return nil
		},
	},
}

// answer is what both providers say when nothing fails.
var answer = sim.Play(sim.Wait(100*time.Millisecond), sim.Answer("The die is cast, once.", sim.Tokens(24, 0, 7)))

// failing is provider alpha, steady is provider beta.
var (
	failing = map[string]sim.Script{
		"replayed": sim.Play(sim.Created(), sim.InProgress(), sim.Wait(200*time.Millisecond), sim.Failed("server_is_overloaded")),
		"cut":      sim.Play(sim.Created(), sim.InProgress(), sim.Text("The die is "), sim.Text("cast"), sim.Wait(200*time.Millisecond), sim.Reset()),
		"steady":   answer,
	}
	steady = map[string]sim.Script{"*": answer}
)

// configuration is the demo's rubicon.yaml.
func configuration(alpha, beta, database, token string) string {
	models := ""
	for _, m := range [...]string{"replayed", "cut", "steady"} {
		models += fmt.Sprintf(`  - name: demo/%[1]s
    price: {input: "1.25", cached_input: "0.125", output: "10.00"}
    channels:
      - {channel: alpha, upstream_model: %[1]s, priority: 0, cost: {input: "1.00", output: "8.00"}}
      - {channel: beta, upstream_model: %[1]s, priority: 1, cost: {input: "1.10", output: "8.80"}}
`, m)
	}
	return fmt.Sprintf(`listen: 127.0.0.1:0
admin: {listen: "127.0.0.1:0", token: %q}
store: {url: %q}
replay: {default_store: false}
channels:
  - {name: alpha, protocol: responses, base_url: %q, allow_private: true, credentials: [{name: demo, key: alpha-key}]}
  - {name: beta, protocol: responses, base_url: %q, allow_private: true, credentials: [{name: demo, key: beta-key}]}
models:
%s`, token, "sqlite:"+database, alpha, beta, models)
}

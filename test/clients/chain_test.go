package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
	"rubicon/test/stand"
)

// chainLink is one turn of a chain as the client saw it.
type chainLink struct {
	ID, Text, Status string
	Errors           []struct {
		Message, Code string
		Status        int
	}
}

// startChain runs a gateway whose first channel fails the first turn before
// output, answers the second and cuts the third.
func startChain(t *testing.T) (*stand.Gateway, *sim.Provider, *sim.Provider) {
	alpha := sim.New(sim.Options{Seed: "a", Scripts: map[string]sim.Script{"up": sim.Calls(
		[]sim.Step{sim.Created(), sim.Failed("server_is_overloaded")},
		[]sim.Step{sim.Answer("Two.", sim.Tokens(10, 0, 5))},
		[]sim.Step{sim.Created(), sim.Item("message"), sim.Part(), sim.Text("Thr"), sim.Wait(50 * time.Millisecond), sim.Reset()})}})
	beta := sim.New(sim.Options{Seed: "b", Scripts: map[string]sim.Script{"up": sim.Play(sim.Answer("One.", sim.Tokens(10, 0, 5)))}})
	var yaml strings.Builder
	yaml.WriteString("channels:\n")
	for _, peer := range []string{"alpha", "beta"} {
		fmt.Fprintf(&yaml, "  - {name: %[1]s, protocol: responses, base_url: \"{%[1]s}\", allow_private: true, credentials: [{name: k, key: \"{key}\"}]}\n", peer)
	}
	yaml.WriteString("models:\n  - name: m\n    price: {input: \"10\", output: \"50\"}\n    channels:\n" +
		"      - {channel: alpha, upstream_model: up, priority: 0}\n      - {channel: beta, upstream_model: up, priority: 1}\n")
	s := stand.Start(t, stand.Options{Config: yaml.String(), Peers: map[string]stand.Peer{"alpha": alpha, "beta": beta}})
	return s, alpha, beta
}

// openai's WebSocket class: two chained turns, the first of them replayed
// unseen, and a cut that is told once. It offers compression.
func TestResponsesWS(t *testing.T) {
	node := installed(t)
	s, alpha, _ := startChain(t)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "chain.mjs", s.URL, s.Default.Key, "m")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("chain.mjs: %v\n%s", err, problems.String())
	}
	var got []chainLink
	for line := range strings.Lines(out.String()) {
		var l chainLink
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		got = append(got, l)
	}
	if len(got) != 3 {
		t.Fatalf("%d turns: %s", len(got), out.String())
	}
	checkLinks(t, got[:2])
	if cut := got[2]; cut.Status != "" || cut.Text != "Thr" || len(cut.Errors) != 1 || !strings.Contains(cut.Errors[0].Message+cut.Errors[0].Code, "stream_read_error") {
		t.Errorf("the cut turn: %+v", cut)
	}
	checkChain(t, s, alpha, journal.OutcomeCompleted, journal.OutcomeCompleted, journal.OutcomePartial)
}

// openai-go's connection: the same two chained turns.
func TestConnect(t *testing.T) {
	s, alpha, _ := startChain(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	api := openai.NewClient(option.WithBaseURL(s.URL+"/v1"), option.WithAPIKey(s.Default.Key))
	conn, err := api.Responses.Connect(ctx, responses.ResponseConnectionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var got []chainLink
	for i, input := range []string{"One?", "Two?"} {
		create := fmt.Sprintf(`{"type":"response.create","model":"m","store":false,"input":%q}`, input)
		if i > 0 {
			create = strings.TrimSuffix(create, "}") + fmt.Sprintf(`,"previous_response_id":%q}`, got[0].ID)
		}
		if err := conn.SendRaw(ctx, []byte(create)); err != nil {
			t.Fatal(err)
		}
		r, err := conn.FinalResponse(ctx)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, chainLink{ID: r.ID, Text: r.OutputText(), Status: string(r.Status)})
	}
	checkLinks(t, got)
	checkChain(t, s, alpha, journal.OutcomeCompleted, journal.OutcomeCompleted)
}

func checkLinks(t *testing.T, got []chainLink) {
	t.Helper()
	for i, want := range []string{"One.", "Two."} {
		if got[i].Text != want || got[i].Status != "completed" || len(got[i].Errors) > 0 {
			t.Errorf("turn %d: %+v, want %s", i+1, got[i], want)
		}
	}
}

// checkChain: the turns as recorded, and what went upstream for the second one:
// everything said before, by itself.
func checkChain(t *testing.T, s *stand.Gateway, alpha *sim.Provider, want ...journal.Outcome) {
	t.Helper()
	count := map[journal.Outcome]int{}
	for _, r := range recordsOf(s, s.Default) {
		r = s.Record(r.RequestID)
		count[r.Outcome]++
		if r.Surface != journal.SurfaceResponsesWS || r.Outcome == journal.OutcomeCompleted && r.Charge.String() != charge {
			t.Errorf("%s on %s, charged %v", r.Outcome, r.Surface, r.Charge)
		}
	}
	for _, o := range want {
		count[o]--
	}
	for o, n := range count {
		if n != 0 {
			t.Errorf("%d records of outcome %s too many", n, o)
		}
	}
	calls := alpha.Calls("up")
	if len(calls) != len(want) {
		t.Fatalf("%d calls upstream, want %d", len(calls), len(want))
	}
	for _, part := range []string{"One?", "One.", "Two?"} {
		if !strings.Contains(calls[1].Body, part) {
			t.Errorf("%q did not go upstream with the second turn: %s", part, calls[1].Body)
		}
	}
	if strings.Contains(calls[1].Body, "previous_response_id") {
		t.Errorf("the second turn does not stand by itself: %s", calls[1].Body)
	}
}

package wsapi_test

import (
	"fmt"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"rubicon/internal/lab/sim"
)

// TestOpenAIGo: the SDK's own WebSocket class passes two chained turns, the
// first of which is served by a second attempt.
func TestOpenAIGo(t *testing.T) {
	a := sim.Calls([]sim.Step{sim.Created(), sim.Failed("server_is_overloaded")}, []sim.Step{sim.Answer("two", sim.Tokens(10, 0, 5))})
	w := start(t, "", a, hello())
	sdk := openai.NewClient(option.WithBaseURL(w.URL+"/v1"), option.WithAPIKey(w.Default.Key))
	conn, err := sdk.Responses.Connect(t.Context(), responses.ResponseConnectionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	id := ""
	for i, want := range []string{"Hello", "two"} {
		prev := ""
		if id != "" {
			prev = fmt.Sprintf(`,"previous_response_id":%q`, id)
		}
		if err := conn.SendRaw(t.Context(), fmt.Appendf(nil, `{"type":"response.create","model":"m","input":"turn %d","store":false%s}`, i, prev)); err != nil {
			t.Fatal(err)
		}
		final, err := conn.FinalResponse(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if final.OutputText() != want || final.Status != "completed" {
			t.Errorf("turn %d: %s %q", i, final.Status, final.OutputText())
		}
		id = final.ID
	}
}

package turn

import (
	"fmt"
	"strings"
	"testing"

	"rubicon/internal/money"
)

// A fault of the gateway between the hold and the settlement, wherever it is,
// leaves no hold open: the customer pays for what was delivered, and the panic goes on.
func TestAPanicLeavesNoHoldOpen(t *testing.T) {
	r := newRelay(t, "responses", 1, true)
	// Output and then a cut, of an answer without a name: its ending is asked for one.
	body := r.speech.event
	r.answer = fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", 2*len(body), body)
	r.speech.protocol.MadeID = func(string) string { panic("a mistake in the code") }
	var said strings.Builder
	before := available(t, r)
	func() {
		defer func() { fmt.Fprint(&said, recover()) }()
		r.run(t, &countingSink{})
	}()
	if said.String() != "a mistake in the code" {
		t.Errorf("the panic did not go on: %s", said.String())
	}
	paid := before - available(t, r)
	if paid <= 0 || paid > money.Nano(10_000_000) {
		t.Errorf("paid or held: %s", paid)
	}
}

func available(t *testing.T, r *relayBench) money.Nano {
	t.Helper()
	a, err := r.engine.Bookkeeper.Available(t.Context(), "cus_1")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

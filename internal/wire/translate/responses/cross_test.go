package responses_test

import (
	"encoding/json"
	"strings"
	"testing"

	"rubicon/internal/wire/protocol/recorded"
	"rubicon/internal/wire/translate"
	"rubicon/internal/wire/translate/chat"
	"rubicon/internal/wire/translate/messages"
	"rubicon/internal/wire/translate/responses"
)

// others are the formats that upstreams of a Responses client may speak.
var others = map[string]translate.Codec{"chat": chat.Codec(), "messages": messages.Codec()}

// Every recorded answer of another format becomes one of this format that says
// as much: the same texts, the same calls, the same kind of end.
func TestRecordedAnswersOfOthers(t *testing.T) {
	client, err := responses.Codec().DecodeRequest([]byte(`{"model":"m","input":"hi","store":false,"include":["reasoning.encrypted_content"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, codec := range others {
		for _, x := range recorded.Load(t, name) {
			if x.Status >= 400 {
				continue
			}
			t.Run(name+"/"+x.Name, func(t *testing.T) {
				d := codec.NewDecoder()
				e := responses.Codec().NewEncoder(client, translate.Identity{ResponseID: "resp_own", Model: "m", Upstream: codec.Format, Flags: translate.Defaults(codec.Format)})
				back := responses.Codec().NewDecoder()
				var was, is gist
				take := func(events []translate.Event) {
					for _, ev := range events {
						was.add(ev)
						for _, o := range e.Events(nil, ev) {
							if o.Data == nil {
								continue
							}
							if !json.Valid(o.Data) {
								t.Fatalf("no JSON: %s", o.Data)
							}
							again, err := back.Event(o.Name, o.Data)
							if err != nil {
								t.Fatal(err)
							}
							for _, ev := range again {
								is.add(ev)
							}
						}
					}
				}
				play(t, d, x, take)
				if was.String() != is.String() {
					t.Errorf("it said\n%s\nand says\n%s", was.String(), is.String())
				}
				if _, err := e.Whole(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// play reads a recorded answer.
func play(t *testing.T, d translate.Decoder, x recorded.Exchange, take func([]translate.Event)) {
	t.Helper()
	if !x.Stream {
		events, err := d.Whole([]byte(x.Body))
		if err != nil {
			t.Fatal(err)
		}
		take(events)
		return
	}
	for _, record := range strings.Split(x.Normal(), "\n\n") {
		name, data := "", ""
		for _, line := range strings.Split(record, "\n") {
			if rest, ok := strings.CutPrefix(line, "data:"); ok {
				data += strings.TrimSpace(rest)
			} else if rest, ok := strings.CutPrefix(line, "event:"); ok {
				name = strings.TrimSpace(rest)
			}
		}
		if data == "" {
			continue
		}
		events, err := d.Event(name, []byte(data))
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		take(events)
	}
	take(d.End())
}

// gist is what of an answer must come through: texts, calls, seals, and how it
// ended. What hosted tools did has no place in another format.
type gist struct {
	strings.Builder
	hosted map[int]bool
}

func (g *gist) add(ev translate.Event) {
	switch ev.Kind {
	case translate.Open:
		if ev.Block.Kind == translate.Hosted {
			if g.hosted == nil {
				g.hosted = map[int]bool{}
			}
			g.hosted[ev.Index] = true
		}
		if ev.Block.Kind == translate.Call {
			g.WriteString("\ncall " + ev.Block.ID + " " + ev.Block.Name + " ")
		}
	case translate.Delta:
		if !g.hosted[ev.Index] {
			g.WriteString(ev.Text)
		}
	case translate.Sealed:
		g.WriteString("\nseal " + ev.Seal.Data)
	case translate.Stop:
		g.WriteString("\nstop " + string(ev.Stop.Word))
	case translate.Failed:
		g.WriteString("\nfailed " + ev.Failure.Message)
	}
}

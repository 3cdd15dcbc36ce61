package wording

import (
	"strings"
	"testing"

	"rubicon/internal/config"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

func testChannel() *config.Channel {
	return &config.Channel{BaseURL: "https://LLM.rack.site:8000/v1",
		Credentials: []config.Credential{{Name: "k1", Key: config.NewSecret("first-key-0815")}, {Name: "k2", Key: config.NewSecret("second-key-4711")}},
		Headers:     config.SecretMap{"X-Gateway-Auth": "Bearer header-key-12", "X-Api-Version": "2026-10-21"},
		Query:       config.SecretMap{"key": "query-key-123", "api-version": "preview"}}
}

func TestSecretsOfAChannel(t *testing.T) {
	s := SecretsOf(testChannel())
	for said, want := range map[string]string{
		"llm.rack.site": "…", "llm.rack.site:8000": "…", "https://llm.rack.site:8000/v1": "…", "first-key-0815": "…", "second-key-4711": "…",
		"header-key-12": "…", "Bearer header-key-12": "…", "query-key-123": "…", "rack.site": "rack.site", "2026-10-21 preview": "2026-10-21 preview",
	} {
		if got := s.Take(said); got != want {
			t.Errorf("%q became %q", said, got)
		}
	}
}

func TestScrubbedRecord(t *testing.T) {
	s := SecretsOf(testChannel())
	for _, c := range []struct{ name, raw, data, wantRaw, wantData string }{
		{"untouched", "\nevent:  error\ndata:{\"a\":\"x\"}\nid: 7\n\n", `{"a":"x"}`, "\nevent:  error\ndata:{\"a\":\"x\"}\nid: 7\n\n", `{"a":"x"}`},
		{"its name stays", "event: error\ndata: {\"a\":\"at llm.rack.site\"}\n\n", `{"a":"at llm.rack.site"}`, "event: error\ndata: {\"a\":\"at …\"}\n\n", `{"a":"at …"}`},
		{"several lines", "data: {\"a\":\ndata: \"llm.rack.site\"}\nid: 7\n\n", "{\"a\":\n\"llm.rack.site\"}", "data: {\"a\":\ndata: \"…\"}\nid: 7\n\n", "{\"a\":\n\"…\"}"},
		{"beside the data", ": by llm.rack.site\nevent: first-key-0815\ndata: {}\nid: LLM.rack.site\nretry: 5\n\n", `{}`, "data: {}\nretry: 5\n\n", `{}`},
	} {
		ev := Event(s, protocol.Event{Raw: []byte(c.raw), Data: []byte(c.data)}, fault.InFailure)
		if string(ev.Raw) != c.wantRaw || string(ev.Data) != c.wantData {
			t.Errorf("%s: %q, %q", c.name, ev.Raw, ev.Data)
		}
	}
}

func TestContentType(t *testing.T) {
	s := SecretsOf(testChannel())
	for said, want := range map[string]string{"text/event-stream; charset=utf-8": "text/event-stream; charset=utf-8", "text/event-stream; x=first-key-0815": ""} {
		if got := ContentType(s, said); got != want {
			t.Errorf("%q is shown as %q", said, got)
		}
	}
	if got := string(Echo(s, []byte(`{"x":"llm.rack.site"}`))); strings.Contains(got, "rack") {
		t.Errorf("repeated: %s", got)
	}
}

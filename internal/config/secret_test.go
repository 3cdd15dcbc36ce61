package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretsDoNotShow(t *testing.T) {
	const secret = "sk-very-secret-value"
	s := NewSecret(secret)
	if s.Reveal() != secret || s.Empty() || !NewSecret("").Empty() || !s.Equal(NewSecret(secret)) || s.Equal(NewSecret("")) {
		t.Fatal("a secret does not keep its value")
	}
	c := mustParse(t, strings.ReplaceAll(routes, "test-token", secret), "KEY", secret)
	values := map[string]any{
		"secret": s, "pointer": &s, "map": SecretMap{"a": secret}, "slice": []Secret{s},
		"unexported": struct{ s Secret }{s}, "unexported pointer": &struct{ c *Secret }{&s}, "holder": struct{ C *Channel }{&c.Channels[0]},
		"config": c, "config value": *c, "channel": c.Channels[0], "model": c.Models[0], "credential": c.Channels[0].Credentials,
		"headers": c.Channels[0].Headers, "any": any(s),
	}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	jsonLogger := slog.New(slog.NewJSONHandler(&log, nil))
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%20s", "%T %v"} {
			args := []any{v, v}[:strings.Count(verb, "%")]
			if shown := fmt.Sprintf(verb, args...); strings.Contains(shown, secret) || strings.Contains(strings.ToLower(shown), fmt.Sprintf("%x", secret)) {
				t.Errorf("%s with %s: %s", name, verb, shown)
			}
		}
		shown, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(string(shown), secret) {
			t.Errorf("%s as JSON: %s", name, shown)
		}
		logger.Info("x", "v", v)
		jsonLogger.Info("x", "v", v)
	}
	if strings.Contains(log.String(), secret) {
		t.Errorf("a log shows the secret: %s", log.String())
	}
	if got := fmt.Sprint(SecretMap{"b": "x", "a": "y"}); got != "{a, b}" {
		t.Errorf("a secret map prints as %s", got)
	}
}

package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/classify"
)

func TestChannelRules(t *testing.T) {
	c := mustParse(t, channelWith(`rules: [
  {status: [400, 403], code: [ARREARS, 1113], message: Please top up, class: balance},
  {type: throttled, class: rate_limited},
  {status: 500, message: "model*loading", class: overloaded}]`))
	want := []classify.Rule{
		{Name: "rule 1 of the channel", From: 400, Words: []string{"arrears", "1113"}, CodeOnly: true, Message: []string{"please top up"}, NeedsBoth: true, WithoutQuotes: true, Failure: classify.Balance},
		{Name: "rule 1 of the channel", From: 403, Words: []string{"arrears", "1113"}, CodeOnly: true, Message: []string{"please top up"}, NeedsBoth: true, WithoutQuotes: true, Failure: classify.Balance},
		{Name: "rule 2 of the channel", CodeOnly: true, Types: []string{"throttled"}, Failure: classify.RateLimited, RateLimit: true},
		{Name: "rule 3 of the channel", From: 500, CodeOnly: true, Message: []string{"model*loading"}, Failure: classify.Overloaded},
	}
	if diff := cmp.Diff(want, c.Channels[0].Rules); diff != "" {
		t.Error(diff)
	}
}

func TestBadChannelRules(t *testing.T) {
	for rule, want := range map[string]string{
		`{code: x}`:                          "channels[0].rules[0].class: is required: one of rate_limited, ",
		`{class: balance}`:                   "channels[0].rules[0]: needs a condition",
		`{status: 429, class: client_gone}`:  "channels[0].rules[0].class: must be one of",
		`{status: 429, class: idle_timeout}`: "channels[0].rules[0].class: must be one of",
		`{status: 99, class: auth}`:          "channels[0].rules[0].status: must be statuses from 200 to 599",
		`{status: [401, many], class: auth}`: "channels[0].rules[0].status: must be statuses",
		`{code: [], class: auth}`:            "channels[0].rules[0].code: must not be an empty list",
		`{code: "", class: auth}`:            "channels[0].rules[0].code: must have 1 to 200 characters",
		`{message: {a: b}, class: auth}`:     "channels[0].rules[0].message: must be a single value",
		`{code: x, class: auth, scope: all}`: "channels[0].rules[0].scope: unknown key",
		`x`:                                  "channels[0].rules[0]: must be a mapping of options",
		`{code: [` + strings.Repeat("x,", 60) + `], class: auth}`: "channels[0].rules[0].code: has more than 50 entries",
	} {
		got := problemsOf(t, channelWith("rules: ["+rule+"]"))
		if len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%s: %q", rule, got)
		}
	}
	if got := problemsOf(t, channelWith("rules: ["+strings.Repeat("{code: x, class: auth},", maxRules+2)+"]")); len(got) != 1 || !strings.Contains(got[0], "one rule too many") {
		t.Errorf("too many: %q", got)
	}
}

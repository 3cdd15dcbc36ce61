package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rubicon/internal/wire/classify"
)

// ruleClasses are what a channel's rule may call a failure. The others are
// what the gateway sees by itself (timeouts, a client that left).
var ruleClasses = [...]string{string(classify.RateLimited), string(classify.Overloaded), string(classify.Balance), string(classify.Auth),
	string(classify.Unfit), string(classify.Upstream5xx), string(classify.BadAnswer), string(classify.Deterministic), string(classify.Unknown)}

// Bounds of one rule.
const (
	maxRules      = 100
	maxConditions = 50
	maxPattern    = 200
)

// rules reads how a channel's upstream names failures.
func (d *decoder) rules(c *Channel) reader {
	return func(n *node, path string) {
		d.each(n, path, func(i int, n *node, path string) {
			if i == maxRules {
				d.report(path, "is one rule too many: at most %d", maxRules)
			}
			c.Rules = append(c.Rules, d.rule(n, path, fmt.Sprintf("rule %d of the channel", i+1))...)
		})
	}
}

// rule reads one rule. It becomes one for each of its statuses.
func (d *decoder) rule(n *node, path, name string) []classify.Rule {
	var class string
	var code, typ, message, status []string
	given := false
	condition := func(into *[]string) reader {
		return func(n *node, path string) { given = true; d.words(into)(n, path) }
	}
	d.object(n, path,
		field{"status", condition(&status)},
		field{"code", condition(&code)},
		field{"type", condition(&typ)},
		field{"message", condition(&message)},
		field{"class", d.oneOf(&class, ruleClasses[:]...)},
	)
	if class == "" && n.kind == mapping && !d.reported(join(path, "class")) {
		d.report(join(path, "class"), "is required: one of %s", strings.Join(ruleClasses[:], ", "))
	}
	if !given && n.kind == mapping && !d.reported(path) {
		d.report(path, "needs a condition: status, code, type or message")
	}
	failure := classify.Failure(class)
	base := classify.Rule{
		Name: name, Words: code, CodeOnly: true, Types: typ, Message: message, NeedsBoth: len(code) > 0 && len(message) > 0,
		Failure: failure, RateLimit: failure == classify.RateLimited,
		// No customer may affect a credential by having the provider quote the request.
		WithoutQuotes: failure == classify.Balance || failure == classify.Auth,
	}
	if len(status) == 0 {
		return []classify.Rule{base}
	}
	var out []classify.Rule
	for _, s := range status {
		number, err := strconv.Atoi(s)
		if err != nil || number < 200 || number > 599 {
			d.report(join(path, "status"), "must be statuses from 200 to 599")
			break
		}
		one := base
		one.From = number
		out = append(out, one)
	}
	return out
}

// words reads one word or a list of words, in lower case.
func (d *decoder) words(into *[]string) reader {
	return func(n *node, path string) {
		if d.visit != nil {
			d.visit(path, "text or a list of texts", "")
			return
		}
		one := func(n *node, path string) {
			var s string
			d.text(&s)(n, path)
			switch s = strings.ToLower(strings.TrimSpace(s)); {
			case d.reported(path):
			case s == "" || len(s) > maxPattern || !isPrintable(s):
				d.report(path, "must have 1 to %d characters and no control characters", maxPattern)
			case !slices.Contains(*into, s):
				*into = append(*into, s)
			}
		}
		if n.kind != list {
			one(n, path)
			return
		}
		if len(n.items) > maxConditions {
			d.report(path, "has more than %d entries", maxConditions)
			return
		}
		d.each(n, path, func(_ int, n *node, path string) { one(n, path) })
		if len(n.items) == 0 {
			d.report(path, "must not be an empty list")
		}
	}
}

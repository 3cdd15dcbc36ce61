package fault

import (
	"regexp"
	"strings"
)

// scrubbed finds what a provider's message may tell about the gateway's own
// accounts and addresses: URLs, hosts, addresses, keys, organisation and
// project ids.
var scrubbed = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`\b(?:https?|wss?)://[^\s"'<>\\]+`,
	`\b(?:sk|pk|rk|gsk|xai|key)-[a-z0-9_*.…-]{6,}[a-z0-9*_-]`,
	`\bAIza[a-z0-9_-]{20,}`,
	`\b(?:org|proj|user|acct|key)[-_][a-z0-9]{8,}\b`,
	`\bBearer\s+[a-z0-9._~+/=-]{8,}`,
	`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b`,
	`\[[0-9a-f:]*:[0-9a-f:]+\](?::\d{1,5})?`,
	`\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|net|org|io|ai|dev|cloud|internal|local|lan|azure|app|co|eu|cn|us|sh)\b(?::\d{1,5})?(?:/[^\s"'<>\\]*)?`,
	`\blocalhost(?::\d{1,5})?\b`,
}, "|"))

// Elided stands for what Scrub took out.
const Elided = "…"

// Scrub takes hosts, URLs, keys and account ids out of a provider's message.
// literals are known secrets and names (the channel's key, its host), removed
// whatever they look like. The text comes back as it is when there is nothing
// to take out.
func Scrub(text string, literals ...string) string {
	for _, l := range literals {
		if l != "" && strings.Contains(text, l) {
			text = strings.ReplaceAll(text, l, Elided)
		}
	}
	return scrubbed.ReplaceAllString(text, Elided)
}

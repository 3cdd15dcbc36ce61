package fault

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Elided stands for what Scrub took out.
const Elided = "…"

// Scrub takes hosts, URLs, keys and account ids out of what a provider said. The
// text comes back as it is when there is nothing to take out. What is known of a
// route, whatever it looks like, is taken out by its Secrets.
func Scrub(text string) string {
	for i := range secretPatterns {
		p := &secretPatterns[i]
		text = p.find.ReplaceAllStringFunc(text, p.elide)
	}
	return text
}

// secretPattern is one kind of telling text. Group 1, where there is one, is what stays
// in front of what is taken out.
type secretPattern struct {
	find *regexp.Regexp
	is   func(found string) bool // nil: all that is found
	tail string                  // characters that do not belong to it at its end
}

// secretPatterns lists what a provider's message may tell about the gateway's own
// accounts and addresses. The expressions find too much on purpose; is tells
// the rest from prose, model names, file names and the client's own ids.
var secretPatterns = [...]secretPattern{
	{find: compile(`\b[a-z][a-z0-9+.-]*://[^\s"'<>\\]+`), tail: ".,;:!?)]}"},
	{find: compile(`\barn:[a-z0-9-]*:[^\s"'<>\\]+`), tail: ".,;:!?)]}"},

	{find: compile(`\b(?:sk|pk|rk)[-_][a-z0-9_*.…-]{6,}`), tail: ".-"},
	{find: compile(`\b(?:gsk|xai|hf|ghp|gho|r8|nvapi|pplx|fw|key|glpat|dop_v1|csk|tgp_v1)[-_][a-z0-9_*.…-]{10,}`), is: random, tail: ".-"},
	{find: compile(`\b(?:AIza[a-z0-9_*.…-]{8,}|ya29\.[a-z0-9_-]{10,}|(?:AKIA|ASIA)[a-z0-9]{12,}|eyJ[a-z0-9_-]{8,}\.[a-z0-9._-]+)`), tail: ".-"},
	{find: compile(`\b((?:Bearer|Basic)\s+)[a-z0-9._~+/=*…-]{8,}`), is: random, tail: "."},
	{find: compile(`\b[0-9a-f]{32,}\b`)},

	{find: compile(`\b(?:org|proj)[-_][a-z0-9]{2,}\b`), is: random},
	{find: compile("\\b((?:organi[sz]ation|project)(?:[\\s:=#('\"/`]|\\bid\\b){1,8})(?:org|proj)[-_][a-z0-9]{2,}\\b")},
	{find: compile(`\b(?:user|acct|wrkspc|team)[-_][a-z0-9]{8,}\b`), is: random},
	{find: compile(`\b((?:organi[sz]ation|project|account|workspace|tenant|subscription)(?:[\s:=#('"/]|\bid\b|\buuid\b){1,8})[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)},
	{find: compile(`\b(project_number:|projects/|organizations/)[a-z0-9-]{4,}\b`)},

	{find: compile(`\b(?:version\s+)?\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b`), is: isAddress},
	{find: compile(`\[[0-9a-f:.]*:[0-9a-f:.]*\](?::\d{1,5})?`), is: isAddress},
	{find: compile(`\b[0-9a-f]{1,4}:[0-9a-f:.]*:[0-9a-f:.]*[0-9a-f]\b`), is: isAddress},
	{find: compile(`((?:^|[\s('"=]))::1\b`)},
	{find: compile(`\b[a-z0-9_-]+(?:\.[a-z0-9_-]+)+(?::\d{1,5})?(?:/[^\s"'<>\\]*)?`), is: isHost, tail: ".,;:!?)]}"},
	{find: compile(`\blocalhost(?::\d{1,5})?\b`)},
	{find: compile(`\b(dial tcp[46]?:? (?:lookup )?|getaddrinfo (?:ENOTFOUND |EAI_AGAIN )?|ENOTFOUND |ECONNREFUSED |EAI_AGAIN |host=['"]?)[a-z0-9][a-z0-9_.-]*(?::\d{1,5})?`), tail: ".:"},
	{find: compile(`\b(port[ =:]{1,2})\d{2,5}\b`)},
}

func compile(expr string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + expr) }

func (t *secretPattern) elide(found string) string {
	kept := ""
	if m := t.find.FindStringSubmatch(found); len(m) > 1 {
		kept = m[1]
	}
	core := strings.TrimRight(found[len(kept):], t.tail)
	if core == "" || t.is != nil && !t.is(core) {
		return found
	}
	return kept + Elided + found[len(kept)+len(core):]
}

// random tells made-up characters from words: a digit, capitals among small
// letters, or the stars that providers mask keys with. A short prefix ("r8_")
// does not count.
func random(s string) bool {
	if i := strings.IndexAny(s, "-_"); i >= 0 && len(s)-i > shortest {
		s = s[i+1:]
	}
	_, first := utf8.DecodeRuneInString(s)
	return strings.ContainsAny(s, "0123456789*…") ||
		strings.IndexFunc(s[first:], unicode.IsUpper) >= 0 && strings.IndexFunc(s, unicode.IsLower) >= 0
}

// isAddress wants a real IP address, with or without brackets and port. What
// is said to be a version is none.
func isAddress(s string) bool {
	if _, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return true
	}
	_, err := netip.ParseAddrPort(s)
	return err == nil
}

// Endings of names that are hosts. The weak ones are endings of files and
// words too: there a name of two parts, or a path through JSON, is no host.
var (
	hostEndings = strings.Fields("com net org io ai dev cloud internal local lan corp intranet example")
	weakEndings = strings.Fields("azure app co eu cn us sh uk jp xyz tech svc test invalid")
	notHosts    = strings.Fields("asp.net ado.net vb.net system.net java.net socket.io system.io java.io")
)

func isHost(s string) bool {
	s = strings.ToLower(s)
	s, _, _ = strings.Cut(s, "/")
	s, _, _ = strings.Cut(s, ":")
	labels := strings.Split(s, ".")
	last := labels[len(labels)-1]
	if slices.Contains(hostEndings, last) {
		return !slices.Contains(notHosts, s)
	}
	odd := func(label string) bool {
		return strings.Contains(label, "_") || strings.Trim(label, "0123456789") == ""
	}
	return len(labels) > 2 && slices.Contains(weakEndings, last) && !slices.ContainsFunc(labels, odd)
}

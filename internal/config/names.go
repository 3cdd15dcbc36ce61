package config

import (
	"slices"
	"strings"
)

// isName is for channels, credentials, origins and aliases: they appear in
// URLs, ledger accounts and metric labels.
func isName(s string) bool { return isMadeOf(s, 64, "._-") }

// isModelName allows what providers put into model names.
func isModelName(s string) bool { return isMadeOf(s, 128, "._-/:@+") }

// isWord is for tools and tiers.
func isWord(s string) bool { return isMadeOf(s, 64, "._-") }

// isMadeOf: ASCII letters and digits and the extra characters, the first one a
// letter or digit, at most limit of them.
func isMadeOf(s string, limit int, extra string) bool {
	for i := range len(s) {
		c := s[i]
		plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !plain && (i == 0 || strings.IndexByte(extra, c) < 0) {
			return false
		}
	}
	return s != "" && len(s) <= limit
}

func isQueryName(s string) bool { return isMadeOf(s, 64, "._-[]$") }

// isHeaderName leaves out characters that HTTP allows and nobody uses.
func isHeaderName(s string) bool { return isMadeOf(s, 64, "_-") }

// ownHeader reports whether the gateway or HTTP itself sets the header (given in
// canonical form).
func ownHeader(name string) bool {
	return strings.HasPrefix(name, "Proxy-") || slices.Contains([]string{
		"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Expect", "Host", "Keep-Alive",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade",
	}, name)
}

// authHeader is the header that carries the credential, "" for none.
func authHeader(auth string) string {
	switch auth {
	case AuthBearer:
		return "Authorization"
	case AuthXAPIKey:
		return "X-Api-Key"
	case AuthAPIKey:
		return "Api-Key"
	}
	return ""
}

// isPrintable reports whether s can stand in an HTTP header or a JSON string as
// it is: no control characters.
func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// isKey is for credentials and tokens: printable ASCII without spaces.
func isKey(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

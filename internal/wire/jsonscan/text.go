package jsonscan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Decoding follows encoding/json: what is not UTF-8 becomes U+FFFD byte by byte, an unpaired surrogate one U+FFFD.

// Text decodes a raw JSON string; false if raw is no JSON string.
func Text(raw []byte) (string, bool) {
	body, ok := unquote(raw)
	if !ok {
		return "", false
	}
	if bytes.IndexByte(body, '\\') < 0 && utf8.Valid(body) {
		return string(body), true
	}
	return string(appendBody(make([]byte, 0, len(body)), body)), true
}

// TextLen is the number of UTF-8 bytes of the decoded string, 0 if raw is no JSON string. It does not allocate.
func TextLen(raw []byte) int {
	body, _ := unquote(raw)
	n := 0
	for len(body) > 0 {
		if body[0] == '\\' {
			r, size := unescapeRune(body)
			n += utf8.RuneLen(r)
			body = body[size:]
			continue
		}
		end := bytes.IndexByte(body, '\\')
		if end < 0 {
			end = len(body)
		}
		n += repairedLen(body[:end])
		body = body[end:]
	}
	return n
}

// Equal reports whether raw is a JSON string that decodes to s. It does not allocate.
func Equal(raw []byte, s string) bool {
	// One decoded byte takes at most six raw ones (\u0041) and one raw byte makes at most three (U+FFFD): most strings
	// differ by length alone.
	if len(raw)-2 > 6*len(s) || len(s) > 3*len(raw) {
		return false
	}
	body, ok := unquote(raw)
	if !ok {
		return false
	}
	if string(body) == s && plain(body, 0) == len(body) && utf8.Valid(body) {
		return true // nothing in it needs decoding
	}
	var enc [utf8.UTFMax]byte
	for len(body) > 0 {
		if c := body[0]; c < utf8.RuneSelf && c != '\\' {
			if s == "" || s[0] != c {
				return false
			}
			body, s = body[1:], s[1:]
			continue
		}
		r, size := decodeRune(body)
		n := utf8.EncodeRune(enc[:], r)
		if len(s) < n || s[:n] != string(enc[:n]) {
			return false
		}
		body, s = body[size:], s[n:]
	}
	return s == ""
}

// unquote returns what stands between the quotes; false if raw is not exactly one string.
func unquote(raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' || text(raw, 0) != len(raw) {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

func appendBody(dst, body []byte) []byte {
	start := len(dst)
	dst = unescape(dst, body)
	if utf8.Valid(dst[start:]) {
		return dst
	}
	// Escapes decode to whole characters, so mending afterwards cannot join what was apart.
	broken := bytes.Clone(dst[start:])
	dst = dst[:start]
	for len(broken) > 0 {
		r, size := utf8.DecodeRune(broken)
		dst = utf8.AppendRune(dst, r)
		broken = broken[size:]
	}
	return dst
}

// unescape appends a valid string body with its escapes resolved and all other bytes as they are.
func unescape(dst, body []byte) []byte {
	for {
		i := bytes.IndexByte(body, '\\')
		if i < 0 {
			return append(dst, body...)
		}
		dst = append(dst, body[:i]...)
		r, size := unescapeRune(body[i:])
		dst = utf8.AppendRune(dst, r)
		body = body[i+size:]
	}
}

func decodeRune(body []byte) (r rune, size int) {
	if body[0] == '\\' {
		return unescapeRune(body)
	}
	return utf8.DecodeRune(body)
}

// unescapeRune decodes the valid escape that body starts with, a surrogate pair as one.
func unescapeRune(body []byte) (r rune, size int) {
	switch c := body[1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
	default:
		return rune(c), 2
	}
	r = hex4(body[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(body) >= 12 && body[6] == '\\' && body[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(body[8:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(b []byte) rune {
	return rune(hex(b[0])<<12 | hex(b[1])<<8 | hex(b[2])<<4 | hex(b[3]))
}

// repairedLen is the length of b once its invalid bytes are replaced.
func repairedLen(b []byte) int {
	if utf8.Valid(b) {
		return len(b)
	}
	n := 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		n += utf8.RuneLen(r)
		b = b[size:]
	}
	return n
}

// AppendString appends s as a JSON string literal. Invalid UTF-8 becomes U+FFFD; HTML characters are not escaped.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0 // of the part of s that is not yet in dst
	for i := 0; i < len(s); {
		c, size := s[i], 1
		switch {
		case c < utf8.RuneSelf && c >= ' ' && c != '"' && c != '\\':
			i++
			continue
		case c >= utf8.RuneSelf:
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i += size
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// appendEscape writes a byte that cannot stand for itself in a string.
func appendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	if c >= utf8.RuneSelf {
		return utf8.AppendRune(dst, utf8.RuneError)
	}
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

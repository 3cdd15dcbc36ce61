package ident

// KeyPrefix opens every secret key, so that scanners for leaked secrets and
// people recognise one.
const KeyPrefix = "rk-"

const (
	base62    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	keyDigits = 43 // 62⁴³ is just over 2²⁵⁶
)

// Key returns a new secret: rk- and 43 characters of base 62, 256 bits of
// randomness. It panics if the reader fails.
func (s *Source) Key() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]byte, 0, len(KeyPrefix)+keyDigits)
	out = append(out, KeyPrefix...)
	var pool [64]byte
	for {
		s.draw(pool[:])
		for _, b := range pool {
			// 248 is the largest multiple of 62 in a byte: taking more would
			// make the first characters likelier than the others.
			if b >= 248 {
				continue
			}
			if out = append(out, base62[b%62]); len(out) == len(KeyPrefix)+keyDigits {
				return string(out)
			}
		}
	}
}

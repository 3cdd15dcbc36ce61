package price

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"rubicon/internal/money"
)

// Version is a short stable name of the list's content; every charge records
// it. Lists with the same prices have the same version, in every process. An
// absent cache price and one that equals the input price are different lists.
func (l List) Version() string {
	// Struct order and sorted map keys make this JSON canonical.
	content, err := json.Marshal(struct {
		Input, Output, Request  money.Nano
		CachedInput, CacheWrite *money.Nano
		Tools                   map[string]money.Nano   `json:",omitempty"`
		Tiers                   map[string]money.Factor `json:",omitempty"`
	}{l.Input, l.Output, l.Request, l.CachedInput, l.CacheWrite, l.Tools, l.Tiers})
	if err != nil {
		// Strings and integers always encode; this is a fault of the program.
		panic("encoding a price list: " + err.Error())
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:6])
}

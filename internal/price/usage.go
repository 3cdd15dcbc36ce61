package price

// Usage is what an answer reports. The token classes are disjoint: Input is
// neither read from nor written to a cache, and Input + CachedInput +
// CacheWrite is the provider's input total.
type Usage struct {
	Input       int64 `json:"input"`
	CachedInput int64 `json:"cached_input"`
	CacheWrite  int64 `json:"cache_write"`
	Output      int64 `json:"output"`
	// Tools counts hosted calls, by tool.
	Tools map[string]int64 `json:"tools"`
	// Tier is the service tier that the answer reports, "" when it reports none.
	Tier string `json:"tier,omitempty"`
}

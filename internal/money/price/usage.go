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

const (
	// maxUnits is beyond any real answer; it also keeps sums of units in range.
	maxUnits = 1 << 31
	// attachmentTokens is what an image or file is taken for.
	attachmentTokens = 1500
)

// Disjoint makes a usage of a provider's numbers whose total includes the
// cached and written tokens (Responses, Chat Completions). It may come out
// with a negative Input; Normalize sorts that out.
func Disjoint(inputTotal, cached, written, output int64) Usage {
	return Usage{Input: inputTotal - cached - written, CachedInput: cached, CacheWrite: written, Output: output}
}

// Normalize makes reported usage chargeable. Cached tokens above the input
// total, which show as a negative Input, are clamped to it (written ones after
// read ones), so that the classes keep their sum. anomaly tells that a value
// is negative or above 2³¹ all the same: such a usage must not be charged, and
// is returned as it came.
func Normalize(u Usage) (normal Usage, anomaly bool) {
	if !plausible(u.CachedInput) || !plausible(u.CacheWrite) || !plausible(u.Output) {
		return u, true
	}
	for _, calls := range u.Tools {
		if !plausible(calls) {
			return u, true
		}
	}
	if u.Input >= 0 {
		return u, u.Input > maxUnits
	}
	// Input > −2³³ is checked by subtraction, so that nothing can wrap.
	if u.Input < -2*maxUnits || u.Input+u.CachedInput+u.CacheWrite < 0 {
		return u, true
	}
	total := u.Input + u.CachedInput + u.CacheWrite
	normal = u
	normal.Input = 0
	normal.CachedInput = min(u.CachedInput, total)
	normal.CacheWrite = total - normal.CachedInput
	return normal, false
}

func plausible(units int64) bool { return units >= 0 && units <= maxUnits }

// EstimateInput is ⌈bytes ÷ 3⌉ + 1,500 per attachment: the input tokens of a
// request whose body, data URLs left out, has so many bytes and which carries
// so many images and files.
func EstimateInput(bodyBytes int64, attachments int) int64 {
	tokens := bodyBytes / 3
	if bodyBytes%3 > 0 {
		tokens++
	}
	return tokens + int64(attachments)*attachmentTokens
}

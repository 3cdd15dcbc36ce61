package responses

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// stopSigns is what an answer's items say of its end.
type stopSigns struct {
	calls, refused bool
	searches       int64
}

// reasons are the words for an end before time.
var reasons = map[string]translate.StopWord{
	"max_output_tokens": translate.Length,
	"content_filter":    translate.Filter,
	"steered":           translate.Steered,
}

// reason is why an answer ended. A word that is not known is no success.
func (s *stopSigns) reason(r *final, incomplete bool) translate.StopReason {
	status, _ := jsonscan.Text(r.status)
	if why := textOf(r.details, "reason"); why != "" && status != "completed" {
		if word, ok := reasons[why]; ok {
			return translate.StopReason{Word: word, Original: why}
		}
		return translate.StopReason{Word: translate.Odd, Original: why}
	}
	switch {
	case incomplete && (status == "" || status == "completed"):
		return translate.StopReason{Word: translate.Odd, Original: "incomplete"}
	case status != "completed" && status != "":
		return translate.StopReason{Word: translate.Odd, Original: status}
	case s.refused:
		return translate.StopReason{Word: translate.Refused, Original: "completed"}
	case s.calls:
		return translate.StopReason{Word: translate.ToolUse, Original: "completed"}
	}
	return translate.StopReason{Word: translate.End, Original: "completed"}
}

// usage reads the numbers: the cached and the written tokens are among the
// input's, the reasoning's among the output's.
func (d *answerDecoder) usage(raw []byte) {
	if jsonscan.KindOf(raw) != jsonscan.KindObject {
		return
	}
	var u translate.Usage
	var input int64
	m := jsonscan.Object(raw)
	for m.Next() {
		v := m.Value()
		switch string(m.Key()) {
		case "input_tokens":
			input, _ = jsonscan.Int(v)
		case "output_tokens":
			u.Output, _ = jsonscan.Int(v)
		case "input_tokens_details":
			readDetails(&u, v)
		case "output_tokens_details":
			u.Thinking, _ = jsonscan.Int(jsonscan.Get(v, "reasoning_tokens"))
		}
	}
	u.Fresh = input - u.Cached - u.Writes()
	u.WebSearches = d.stopped.searches
	u, _ = u.Sound()
	d.emit(translate.Event{Kind: translate.UsageNow, Usage: u, Tier: d.tier})
}

// readDetails divides what was written by its lifetimes, where they are told.
func readDetails(u *translate.Usage, raw []byte) {
	var written int64
	m := jsonscan.Object(raw)
	for m.Next() {
		v := m.Value()
		switch string(m.Key()) {
		case "cached_tokens":
			u.Cached, _ = jsonscan.Int(v)
		case "cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens":
			written, _ = jsonscan.Int(v)
		case "cache_write_tokens_details":
			u.Write30m, _ = jsonscan.Int(jsonscan.Get(v, "ttl_30m_tokens"))
			u.Write12h, _ = jsonscan.Int(jsonscan.Get(v, "ttl_12h_tokens"))
		}
	}
	u.Write = max(0, written-u.Write30m-u.Write12h)
}

package classify

import (
	"strconv"
	"strings"

	"rubicon/internal/jsonscan"
	"rubicon/internal/protocol"
)

// Body reads an error body as tolerantly as providers write them: an object
// under "error", a string or a list there, a list of such objects, or the
// fields at the top. ok is false when nothing of an error can be found in it.
func Body(body []byte) (info protocol.FailureInfo, ok bool) {
	return readBody(body, maxNesting)
}

// maxNesting is how deep an error may stand in its body.
const maxNesting = 3

func readBody(body []byte, depth int) (info protocol.FailureInfo, ok bool) {
	switch jsonscan.KindOf(body) {
	case jsonscan.KindArray:
		el := jsonscan.Array(body)
		if depth > 0 && el.Next() {
			return readBody(el.Value(), depth-1)
		}
		return info, false
	case jsonscan.KindString:
		s, _ := jsonscan.Text(body)
		return protocol.FailureInfo{Message: s}, s != ""
	case jsonscan.KindObject:
	default:
		return info, false
	}
	for _, name := range [...]string{"error", "errors"} {
		if e := jsonscan.Get(body, name); e != nil && jsonscan.KindOf(e) != jsonscan.KindNull && depth > 0 {
			if in, found := readBody(e, depth-1); found {
				return beside(in, body), true
			}
		}
	}
	info = Fields(body)
	if info.Message == "" {
		info.Message = detail(jsonscan.Get(body, "detail"))
	}
	// A type alone says something only inside an error: any object may have one.
	return info, info.Message != "" || info.Code != "" || info.Type != "" && depth < maxNesting
}

// beside fills in a code that stands beside an error that is only a text, as
// xAI writes it: {"code": "…", "error": "…"}.
func beside(in protocol.FailureInfo, body []byte) protocol.FailureInfo {
	if in.Code == "" && in.Type == "" {
		around := Fields(body)
		in.Code, in.Type = around.Code, around.Type
	}
	return in
}

// detail reads FastAPI's "detail": a text, or a list of what is not valid.
func detail(raw []byte) string {
	if jsonscan.KindOf(raw) == jsonscan.KindArray {
		if el := jsonscan.Array(raw); el.Next() {
			return text(jsonscan.Get(el.Value(), "msg"))
		}
	}
	return text(raw)
}

// Fields reads the members of one error object.
func Fields(obj []byte) (info protocol.FailureInfo) {
	m := jsonscan.Object(obj)
	for m.Next() {
		v := m.Value()
		switch string(m.Key()) {
		case "code":
			info.Code = text(v)
		case "type":
			info.Type = text(v)
		case "message", "Message": // AWS writes both
			info.Message = text(v)
		case "__type": // com.amazon.coral.service#ThrottlingException
			t := text(v)
			info.Type = t[strings.LastIndexByte(t, '#')+1:]
		case "param":
			info.Param = text(v)
		case "status":
			if n, isInt := jsonscan.Int(v); isInt {
				info.Status = int(n)
			} else if info.Type == "" {
				info.Type = strings.ToLower(text(v)) // Google's RESOURCE_EXHAUSTED
			}
		case "retryable":
			if b, isBool := jsonscan.Bool(v); isBool {
				info.Retryable = &b
			}
		}
	}
	return info
}

// text is a string's text, or a number's digits.
func text(raw []byte) string {
	if s, ok := jsonscan.Text(raw); ok {
		return s
	}
	if n, ok := jsonscan.Int(raw); ok {
		return strconv.FormatInt(n, 10)
	}
	return ""
}

package protocol

import (
	"strconv"
	"strings"

	"rubicon/internal/wire/jsonscan"
)

// ReadFailure reads an error body as tolerantly as providers write them: an object
// under "error", a string or a list there, a list of such objects, or the
// fields at the top. ok is false when nothing of an error can be found in it.
func ReadFailure(body []byte) (info FailureInfo, ok bool) {
	return readBody(body, maxNesting)
}

// maxNesting is how deeply an error may be nested in its body.
const maxNesting = 3

func readBody(body []byte, depth int) (info FailureInfo, ok bool) {
	switch jsonscan.KindOf(body) {
	case jsonscan.KindArray:
		el := jsonscan.Array(body)
		if depth > 0 && el.Next() {
			return readBody(el.Value(), depth-1)
		}
	case jsonscan.KindString:
		s, _ := jsonscan.Text(body)
		return readText(s, depth)
	case jsonscan.KindNumber:
		if code := text(body); depth < maxNesting && code != "0" { // as an "error"; a number alone is none
			return FailureInfo{Code: code}, code != ""
		}
	case jsonscan.KindObject:
		return readObject(body, depth)
	}
	return info, false
}

// readText reads an error that is a text. Some relays put the error that they
// received into a JSON string, with quotes and escapes: then the error inside is read.
func readText(s string, depth int) (info FailureInfo, ok bool) {
	inner := []byte(strings.TrimSpace(s))
	if depth > 0 && len(inner) > 0 && strings.IndexByte(`{["`, inner[0]) >= 0 && jsonscan.Valid(inner) {
		if info, ok = readBody(inner, depth-1); ok {
			return info, ok
		}
	}
	return FailureInfo{Message: s}, s != ""
}

func readObject(body []byte, depth int) (info FailureInfo, ok bool) {
	for _, name := range [...]string{"error", "errors"} {
		if e := jsonscan.Get(body, name); e != nil && jsonscan.KindOf(e) != jsonscan.KindNull && depth > 0 {
			if in, found := readBody(e, depth-1); found {
				return codeBesideError(in, body), true
			}
		}
	}
	info = FailureFields(body)
	if info.Message == "" {
		info.Message = detail(jsonscan.Get(body, "detail"))
	}
	// A type alone means an error only inside an error: any object may have one.
	return info, info.Message != "" || info.Code != "" || info.Type != "" && depth < maxNesting
}

// codeBesideError fills in the code next to an error that is only a text, as xAI
// writes it ({"code": "…", "error": "…"}), and the message next to an error that
// is only a number. A status may be there whatever the error is.
func codeBesideError(in FailureInfo, body []byte) FailureInfo {
	around := FailureFields(body)
	if in.Code == "" && in.Type == "" {
		in.Code, in.Type = around.Code, around.Type
	}
	if in.Message == "" && in.Type == "" {
		in.Message = around.Message
	}
	if in.Status == 0 {
		in.Status = around.Status
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

// FailureFields reads the members of one error object.
func FailureFields(obj []byte) (info FailureInfo) {
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
			} else {
				info.State = strings.ToLower(text(v)) // Google's RESOURCE_EXHAUSTED
			}
		case "retryable":
			if b, isBool := jsonscan.Bool(v); isBool {
				info.Retryable = &b
			}
		}
	}
	if info.Type == "" {
		info.Type = info.State
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

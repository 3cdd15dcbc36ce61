package responses

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// Upstream gives the body that travels up; all other bytes stay as they are.
func Upstream(body []byte, rw protocol.Rewrite) ([]byte, error) {
	var room [5]jsonscan.Edit
	edits := room[:0]
	if rw.Model != "" {
		edits = append(edits, jsonscan.Edit{Key: "model", Value: jsonscan.AppendString(nil, rw.Model)})
	}
	if rw.StoreFalse && present(jsonscan.Get(body, "store")) == nil {
		edits = append(edits, jsonscan.Edit{Key: "store", Value: []byte("false")})
	}
	if rw.DropWS {
		edits = append(edits, jsonscan.Edit{Key: "type"}, jsonscan.Edit{Key: "generate"},
			jsonscan.Edit{Key: "stream", Value: []byte("true")})
	}
	return jsonscan.Set(body, edits...)
}

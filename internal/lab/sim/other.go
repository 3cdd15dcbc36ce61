package sim

import (
	"encoding/base64"
	"encoding/binary"
	"math"
)

// otherWriter answers the calls beside the three protocols: stored responses, counting, models, embeddings. Its
// answers are whole; event words say nothing, except those that end.
type otherWriter struct {
	callContext
	acct   *Account
	models []string
}

func (v *otherWriter) event(s Step) ([]frame, func() reply) {
	switch s.Do {
	case "completed", "done", "incomplete":
		return nil, func() reply { return v.answer(s) }
	case "failed", "error":
		return nil, func() reply { return v.failure(s) }
	}
	return nil, nil
}

func (v *otherWriter) expand(s Step) []Step {
	return []Step{{Do: "completed", Text: s.Text, Usage: s.Usage, ID: s.ID, Model: s.Model, Set: s.Set}}
}

func (v *otherWriter) failure(s Step) reply {
	e, status := v.openaiError(s)
	o := obj("error", e)
	if v.q.surface == surfaceCountTokens {
		e, status = v.claudeError(s)
		o = obj("type", "error", "error", e)
	}
	return reply{status: status, body: []byte(v.withChanges(s, o))}
}

func (v *otherWriter) answer(s Step) reply {
	o, missing := v.object(s)
	if missing != "" {
		return v.failure(Step{Do: "fail", Status: 404, Code: missing, Message: "Not found: " + v.q.id})
	}
	return reply{status: 200, body: []byte(v.withChanges(s, o))}
}

// object is the answer, or the code of its absence.
func (v *otherWriter) object(s Step) (o object, missing string) {
	u := s.Usage
	if u == nil {
		u = defaultUsage()
	}
	switch v.q.surface {
	case surfaceModels:
		return v.modelList(), ""
	case surfaceModel:
		return modelObject(v.q.id), ""
	case surfaceInputTokens:
		return obj("object", "response.input_tokens", "input_tokens", u.Input), ""
	case surfaceCountTokens:
		return obj("input_tokens", u.Input), ""
	case surfaceEmbeddings:
		return v.embeddings(s, u), ""
	case surfaceCompact:
		return v.compaction(s, u), ""
	case surfaceInputItems:
		return v.inputItems(), ""
	case surfaceResponse:
		return v.response(s, u)
	}
	return nil, "not_found"
}

func (v *otherWriter) modelList() object {
	data := []any{}
	for _, name := range v.models {
		data = append(data, modelObject(name))
	}
	return obj("object", "list", "data", data)
}

func modelObject(name string) object {
	return obj("id", name, "object", "model", "created", 1700000000, "owned_by", "sim")
}

// embeddings gives short vectors, in the encoding that was asked for: SDKs ask for base64.
func (v *otherWriter) embeddings(s Step, u *Usage) object {
	n := 1
	if list, ok := field[[]any](v.q, "input"); ok && len(list) > 0 {
		if _, tokens := list[0].(float64); !tokens {
			n = len(list)
		}
	}
	format, _ := field[string](v.q, "encoding_format")
	data := []any{}
	for i := range n {
		vector := []float32{0.25, -0.5, float32(i)}
		var e any = vector
		if format == "base64" {
			var raw []byte
			for _, f := range vector {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
			}
			e = base64.StdEncoding.EncodeToString(raw)
		}
		data = append(data, obj("object", "embedding", "index", i, "embedding", e))
	}
	return obj("object", "list", "data", data, "model", v.modelName(s),
		"usage", obj("prompt_tokens", u.Input, "total_tokens", u.Input))
}

func (v *otherWriter) compaction(s Step, u *Usage) object {
	id := v.ids.or(s.ID, "resp")
	output := []any{
		obj("id", v.ids.next("msg"), "type", "message", "status", "completed",
			"content", []any{obj("type", "input_text", "text", "Hello")}, "role", "user"),
		obj("id", v.ids.next("cmp"), "type", "compaction", "encrypted_content", "sealed-"+id),
	}
	return obj("id", id, "object", "response.compaction", "created_at", v.now.Unix(), "output", output,
		"usage", responsesUsage(u))
}

func (v *otherWriter) inputItems() object {
	id := v.ids.next("msg")
	item := obj("id", id, "type", "message", "status", "completed",
		"content", []any{obj("type", "input_text", "text", "Hello")}, "role", "user")
	return obj("object", "list", "data", []any{item}, "first_id", id, "last_id", id, "has_more", false)
}

// response reads or deletes a stored response. One that this provider never made is made up, because scripts with
// raw bytes make ids that nobody remembered; a deleted one stays away.
func (v *otherWriter) response(s Step, u *Usage) (object, string) {
	o, deleted := v.acct.stored(v.q.id)
	switch {
	case deleted:
		return nil, "not_found"
	case v.q.http.Method == "DELETE":
		v.acct.remove(v.q.id)
		return obj("id", v.q.id, "object", "response", "deleted", true), ""
	case o != nil:
		return o, ""
	}
	rv := &responsesWriter{callContext: v.callContext, acct: v.acct, id: v.q.id, model: "sim"}
	for _, step := range rv.expand(Step{Do: "answer", ID: v.q.id, Text: orText(s.Text, "Hello"), Usage: u}) {
		rv.event(step) // the last one keeps the object
	}
	o, _ = v.acct.stored(v.q.id)
	return o, ""
}

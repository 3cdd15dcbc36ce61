// Package formats knows all codecs of translation, and translates a request from
// one wire format to another.
//
// It is not for what a format is: each codec's own package reads and writes it.
//
// Invariant: there is no code for a pair of formats.
package formats

import (
	"fmt"

	"rubicon/internal/wire/translate"
	"rubicon/internal/wire/translate/chat"
	"rubicon/internal/wire/translate/messages"
	"rubicon/internal/wire/translate/responses"
)

// Codec is the codec of a format; false if there is none.
func Codec(f translate.Format) (translate.Codec, bool) {
	switch f {
	case translate.Responses:
		return responses.Codec(), true
	case translate.Chat:
		return chat.Codec(), true
	case translate.Messages:
		return messages.Codec(), true
	}
	return translate.Codec{}, false
}

// Request translates the body of a client's request for an upstream model. An
// error says what of the body cannot be read; a report that excludes says why
// the request has no place in the other format, and then there is no body.
func Request(from, to translate.Format, body []byte, model string, flags translate.Flags) ([]byte, translate.Report, error) {
	source, known := Codec(from)
	target, too := Codec(to)
	if !known || !too {
		return nil, translate.Report{}, fmt.Errorf("there is no translation from %s to %s", from, to)
	}
	r, err := source.DecodeRequest(body)
	if err != nil {
		return nil, translate.Report{}, fmt.Errorf("reading the %s request: %w", from, err)
	}
	if model == "" {
		model = r.Model
	}
	out, report := target.EncodeRequest(r, model, flags)
	return out, report, nil
}

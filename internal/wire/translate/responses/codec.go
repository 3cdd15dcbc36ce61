// Package responses is the Responses format between the wire and the neutral
// form of package translate: requests both ways, and answers both ways, streamed
// or whole.
//
// It is not for requests that stay on their own format (protocol/responses reads
// those and changes no byte), and it decides nothing about features by itself:
// what becomes of one stands in translate's class table.
//
// Invariants: what a request holds is carried, or told; a streamed and a whole
// answer of the same content give the same blocks; each item of an answer that
// was begun is ended, and stands in the output of the last event; sealed
// reasoning goes to clients that asked for it alone.
package responses

import "rubicon/internal/wire/translate"

// Codec is the Responses format.
func Codec() translate.Codec {
	return translate.Codec{
		Format:        translate.Responses,
		DecodeRequest: decodeRequest,
		EncodeRequest: encodeRequest,
		NewDecoder:    func() translate.Decoder { return newAnswerDecoder() },
		NewEncoder:    func(r *translate.Request, id translate.Identity) translate.Encoder { return newAnswerEncoder(r, id) },
	}
}

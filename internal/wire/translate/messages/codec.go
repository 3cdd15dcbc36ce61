// Package messages is the Messages format between the wire and the neutral form
// of package translate: requests both ways, and answers both ways, streamed or
// whole.
//
// It is not for requests that stay on their own format (protocol/messages reads
// those and changes no byte), and it decides nothing about features by itself:
// what becomes of one stands in translate's class table.
//
// Invariants: what a request holds is carried, or told; one block is open at a
// time in a stream; thinking blocks and their signatures are never merged, cut
// or reordered; a call that was cut off never gets arguments that it lacks.
package messages

import "rubicon/internal/wire/translate"

// Codec is the Messages format.
func Codec() translate.Codec {
	return translate.Codec{
		Format:        translate.Messages,
		DecodeRequest: decodeRequest,
		EncodeRequest: encodeRequest,
		NewDecoder:    func() translate.Decoder { return newAnswerDecoder() },
		NewEncoder:    func(r *translate.Request, id translate.Identity) translate.Encoder { return newAnswerEncoder(r, id) },
	}
}

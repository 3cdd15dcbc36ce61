// Package chat is the Chat Completions format between the wire and the neutral
// form of package translate: requests both ways, and answers both ways, streamed
// or whole.
//
// It is not for requests that stay on their own format (protocol/chat reads
// those and changes no byte), and it decides nothing about features by itself:
// what becomes of one stands in translate's class table.
//
// Invariants: what a request holds is carried, or told; a streamed and a whole
// answer of the same content give the same blocks; the calls of an answer are
// numbered from 0 without gaps; after a failure there is no "[DONE]".
package chat

import "rubicon/internal/wire/translate"

// Codec is the Chat Completions format.
func Codec() translate.Codec {
	return translate.Codec{
		Format:        translate.Chat,
		DecodeRequest: decodeRequest,
		EncodeRequest: encodeRequest,
		NewDecoder:    func() translate.Decoder { return newAnswerDecoder() },
		NewEncoder:    func(r *translate.Request, id translate.Identity) translate.Encoder { return newAnswerEncoder(r, id) },
	}
}

package app

import (
	"rubicon/internal/api/httpapi"
	"rubicon/internal/books/journal"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/chat"
	"rubicon/internal/wire/protocol/messages"
	"rubicon/internal/wire/protocol/responses"
)

// surfaces are the POST paths of the client API. Counting tokens is recorded,
// held and charged for nothing.
func surfaces() []httpapi.Surface {
	row := func(path string, s journal.Surface, p protocol.Protocol) httpapi.Surface {
		return httpapi.Surface{Path: path, Surface: s, Protocol: &p, Uncharged: s == journal.SurfaceCountTokens}
	}
	return []httpapi.Surface{
		row("/v1/responses", journal.SurfaceResponsesHTTP, responses.Protocol()),
		row("/v1/responses/compact", journal.SurfaceResponsesHTTP, responses.Compact()),
		row("/v1/responses/input_tokens", journal.SurfaceCountTokens, responses.InputTokens()),
		row("/v1/chat/completions", journal.SurfaceChat, chat.Protocol()),
		row("/v1/embeddings", journal.SurfaceEmbeddings, chat.Embeddings()),
		row("/v1/messages", journal.SurfaceMessages, messages.Protocol()),
		row("/v1/messages/count_tokens", journal.SurfaceCountTokens, messages.CountTokens()),
	}
}

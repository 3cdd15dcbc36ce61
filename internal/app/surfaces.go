package app

import (
	"rubicon/internal/httpapi"
	"rubicon/internal/journal"
	"rubicon/internal/protocol"
	"rubicon/internal/protocol/chat"
	"rubicon/internal/protocol/responses"
)

// surfaces are the POST paths of the client API.
func surfaces() []httpapi.Surface {
	row := func(path string, s journal.Surface, p protocol.Protocol, free bool) httpapi.Surface {
		return httpapi.Surface{Path: path, Surface: s, Protocol: &p, Free: free}
	}
	return []httpapi.Surface{
		row("/v1/responses", journal.SurfaceResponsesHTTP, responses.Protocol(), false),
		row("/v1/chat/completions", journal.SurfaceChat, chat.Protocol(), false),
		row("/v1/embeddings", journal.SurfaceEmbeddings, chat.Embeddings(), false),
	}
}

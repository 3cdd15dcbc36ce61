package chat

import (
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/body"
	"rubicon/internal/wire/sse"
)

var embeddingKeys = [...]body.Key{
	{Name: "model", Type: body.String, Required: true},
	{Name: "input", Type: body.String | body.Array, Required: true},
	{Name: "encoding_format", Type: body.String},
	{Name: "dimensions", Type: body.Count},
	{Name: "service_tier", Type: body.String},
	{Name: "stream", Type: body.Bool},
}

// ParseEmbeddings reads an Embeddings request. Nothing is stored and nothing
// bounds the output: there is none.
func ParseEmbeddings(b []byte) (protocol.Request, *fault.Error) {
	m, bad := body.Read(b, embeddingKeys[:])
	if bad != nil {
		return protocol.Request{}, bad
	}
	if m.True("stream") {
		return protocol.Request{}, fault.New(fault.UnsupportedParameter, "Embeddings are not streamed.").WithParam("stream")
	}
	r := protocol.Request{
		Model:         m.Text("model"),
		Store:         protocol.StoreFalse,
		Choices:       1,
		Tier:          m.Text("service_tier"),
		EstimateBytes: int64(len(b)),
	}
	readInputs(&r, m.Raw("input"), maxNesting)
	return r, nil
}

// readInputs finds the images that some models embed: data URLs, by themselves
// or in parts of their own.
func readInputs(r *protocol.Request, raw []byte, depth int) {
	switch jsonscan.KindOf(raw) {
	case jsonscan.KindString:
		if n := dataURLBytes(raw); n > 0 {
			r.EstimateBytes -= n
			r.Attachments++
		}
	case jsonscan.KindArray, jsonscan.KindObject:
		if depth == 0 {
			return
		}
		for el := jsonscan.Array(raw); el.Next(); {
			readInputs(r, el.Value(), depth-1)
		}
		for m := jsonscan.Object(raw); m.Next(); {
			readInputs(r, m.Value(), depth-1)
		}
	}
}

// UpstreamEmbeddings gives the body that travels up: the upstream model apart,
// nothing changes.
func UpstreamEmbeddings(b []byte, rw protocol.Rewrite) ([]byte, error) {
	return Upstream(b, protocol.Rewrite{Model: rw.Model})
}

// AnswerEmbeddings reads an Embeddings answer: a list with something in it.
func AnswerEmbeddings(b []byte) (*protocol.Observed, error) {
	var c chunk
	if c.split(b) != nil || c.err != nil {
		return nil, protocol.ErrNotProtocol
	}
	data := jsonscan.Get(b, "data")
	if jsonscan.KindOf(data) != jsonscan.KindArray || jsonscan.Empty(data) {
		return nil, protocol.ErrNotProtocol
	}
	seen := &protocol.Observed{Sequence: -1, Events: 1, OutputEvents: 1}
	c.names(seen)
	if c.usage != nil {
		var tokens counts
		tokens.read(c.usage, seen)
		tokens.report(seen, false)
		seen.Usage.Output = 0
		seen.Reported = tokens[prompt].known
	}
	return seen, nil
}

// noStreamReader refuses everything: there is no stream of embeddings.
type noStreamReader struct{ seen protocol.Observed }

func newNoStream(protocol.ReaderOptions) protocol.Reader {
	return &noStreamReader{seen: protocol.Observed{Sequence: -1}}
}

func (*noStreamReader) Read(sse.Frame) (protocol.Event, error) {
	return protocol.Event{}, protocol.ErrNotProtocol
}
func (*noStreamReader) Stage() protocol.Stage      { return protocol.Open }
func (n *noStreamReader) Seen() *protocol.Observed { return &n.seen }
func (*noStreamReader) Tail() []byte               { return nil }

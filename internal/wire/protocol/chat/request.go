package chat

import (
	"strings"

	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/body"
)

// requestKeys are the members of a request that are read or written here.
var requestKeys = [...]body.Key{
	{Name: "model", Type: body.String, Required: true},
	{Name: "messages", Type: body.Array},
	{Name: "stream", Type: body.Bool},
	{Name: "stream_options", Type: body.Object},
	{Name: "store", Type: body.Bool},
	{Name: "n", Type: body.Count},
	{Name: "max_tokens", Type: body.Count},
	{Name: "max_completion_tokens", Type: body.Count},
	{Name: "service_tier", Type: body.String},
	{Name: "prompt_cache_key", Type: body.String},
	{Name: "tools", Type: body.Array},
	{Name: "mcp_servers", Type: body.Array},
	{Name: "web_search_options", Type: body.Object},
	{Name: "audio", Type: body.Object},
}

var streamOptionKeys = [...]body.Key{{Name: includeUsage, Type: body.Bool}}

const includeUsage = "include_usage"

// hostedTools are the types of tools that run at the provider and have effects
// there, by prefix: a type may carry a version.
var hostedTools = [...]string{
	"mcp", "code_interpreter", "code_execution", "shell", "hosted_shell", "image_generation", "programmatic_tool_calling",
}

// ParseRequest reads a request's body. A store that is absent is StoreFalse:
// unlike Responses, Chat Completions keeps nothing unless it is asked to.
func ParseRequest(b []byte) (protocol.Request, *fault.Error) {
	m, bad := body.Read(b, requestKeys[:])
	if bad != nil {
		return protocol.Request{}, bad
	}
	options, bad := body.Nested(m.Raw("stream_options"), streamOptionKeys[:], "stream_options")
	if bad != nil {
		return protocol.Request{}, bad
	}
	r := protocol.Request{
		Model:         m.Text("model"),
		Stream:        m.True("stream"),
		Store:         protocol.StoreFalse,
		MaxOutput:     max(m.Int("max_tokens"), m.Int("max_completion_tokens")),
		Choices:       max(m.Int("n"), 1),
		Tier:          m.Text("service_tier"),
		Affinity:      m.Text("prompt_cache_key"),
		EstimateBytes: int64(len(b)),
		IncludeUsage:  options.True(includeUsage),
		Hosted:        hosted(m.Raw("tools"), m.Raw("mcp_servers")),
	}
	if m.True("store") {
		r.Store = protocol.StoreTrue
	}
	readMessages(&r, m.Raw("messages"))
	return r, r.TooManyNames()
}

// hosted names the tools with effects.
func hosted(tools, servers []byte) (names []string) {
	el := jsonscan.Array(tools)
	for el.Next() {
		typ, ok := jsonscan.Text(jsonscan.Get(el.Value(), "type"))
		for _, prefix := range hostedTools {
			if ok && strings.HasPrefix(typ, prefix) {
				names = protocol.AddHosted(names, typ)
				break
			}
		}
	}
	if servers != nil && !jsonscan.Empty(servers) {
		names = protocol.AddHosted(names, "mcp")
	}
	return names
}

// Upstream gives the body that travels up. Usage is asked for only where it can
// be: providers refuse stream_options without a stream. StoreFalse and DropWS
// are of other surfaces.
func Upstream(b []byte, rw protocol.Rewrite) ([]byte, error) {
	var edits []jsonscan.Edit
	if rw.Model != "" {
		edits = append(edits, jsonscan.Edit{Key: "model", Value: jsonscan.AppendString(nil, rw.Model)})
	}
	if rw.AskUsage {
		options, err := askUsage(b)
		if err != nil {
			return nil, err
		}
		if options != nil {
			edits = append(edits, jsonscan.Edit{Key: "stream_options", Value: options})
		}
	}
	return jsonscan.Set(b, edits...)
}

// askUsage gives the stream_options that ask for usage; nil if nothing is to be
// changed.
func askUsage(b []byte) ([]byte, error) {
	if on, _ := jsonscan.Bool(jsonscan.Get(b, "stream")); !on {
		return nil, nil
	}
	options := jsonscan.Get(b, "stream_options")
	if jsonscan.KindOf(options) != jsonscan.KindObject {
		return []byte(`{"` + includeUsage + `":true}`), nil
	}
	if on, _ := jsonscan.Bool(jsonscan.Get(options, includeUsage)); on {
		return nil, nil
	}
	return jsonscan.Set(options, jsonscan.Edit{Key: includeUsage, Value: []byte("true")})
}

package messages

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
	{Name: "max_tokens", Type: body.Count},
	{Name: "stream", Type: body.Bool},
	{Name: "system", Type: body.String | body.Array},
	{Name: "tools", Type: body.Array},
	{Name: "container", Type: body.String | body.Object},
	{Name: "mcp_servers", Type: body.Array},
	{Name: "service_tier", Type: body.String},
	{Name: "metadata", Type: body.Object},
	{Name: "thinking", Type: body.Object},
}

// clientTools are the tools that the client itself runs, by the beginning of
// their versioned type. Every other type runs at the provider: one that is not
// known yet may have effects there.
var clientTools = [...]string{"custom", "bash_", "text_editor_", "computer_", "memory_"}

// ParseRequest reads a request's body. Nothing is ever stored.
func ParseRequest(b []byte) (protocol.Request, *fault.Error) {
	m, bad := body.Read(b, requestKeys[:])
	if bad != nil {
		return protocol.Request{}, bad
	}
	r := protocol.Request{
		Model:         m.Text("model"),
		Stream:        m.True("stream"),
		Store:         protocol.StoreFalse,
		MaxOutput:     m.Int("max_tokens"),
		Choices:       1,
		Tier:          m.Text("service_tier"),
		EstimateBytes: int64(len(b)),
		Hosted:        hostedTools(m.Raw("tools"), m.Raw("mcp_servers")),
	}
	named := refs{r: &r}
	named.container(m.Raw("container"))
	named.content(m.Raw("system"), "system", maxNesting)
	named.messages(m.Raw("messages"))
	if named.bad != nil {
		return r, named.bad
	}
	return r, r.TooManyNames()
}

// ParseCountTokens reads a count_tokens request: that of Messages, without a
// stream.
func ParseCountTokens(b []byte) (protocol.Request, *fault.Error) {
	r, bad := ParseRequest(b)
	if bad == nil && r.Stream {
		bad = fault.New(fault.UnsupportedParameter, "Counting tokens is not streamed.").WithParam("stream")
	}
	return r, bad
}

// hostedTools names the tools that run at the provider, without their versions.
func hostedTools(tools, servers []byte) (names []string) {
	el := jsonscan.Array(tools)
	for el.Next() {
		typ, _ := jsonscan.Text(jsonscan.Get(el.Value(), "type"))
		if typ != "" && !runsAtClient(typ) {
			names = protocol.AddHosted(names, withoutDate(typ))
		}
	}
	if servers != nil && !jsonscan.Empty(servers) {
		names = protocol.AddHosted(names, "mcp")
	}
	return names
}

// withoutDate takes the date off a tool's type: web_search_20250305.
func withoutDate(typ string) string {
	i := strings.LastIndexByte(typ, '_')
	if i < 0 || len(typ)-i != len("_20250305") || strings.Trim(typ[i+1:], "0123456789") != "" {
		return typ
	}
	return typ[:i]
}

func runsAtClient(typ string) bool {
	for _, prefix := range clientTools {
		if strings.HasPrefix(typ, prefix) {
			return true
		}
	}
	return false
}

// Upstream gives the body that travels up: the upstream model apart, nothing
// changes.
func Upstream(b []byte, rw protocol.Rewrite) ([]byte, error) {
	if rw.Model == "" {
		return jsonscan.Set(b)
	}
	return jsonscan.Set(b, jsonscan.Edit{Key: "model", Value: jsonscan.AppendString(nil, rw.Model)})
}

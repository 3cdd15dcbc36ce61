package messages

import (
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

func (d *decoder) tools(v []byte) (tools []translate.Tool) {
	d.elements(v, "tools", func(path string, v []byte) { tools = append(tools, d.tool(v, path)) })
	return tools
}

// tool reads one tool. Types other than custom are run by the provider, or its
// models were trained for them.
func (d *decoder) tool(v []byte, at string) translate.Tool {
	t := translate.Tool{Kind: translate.Function, Path: at}
	typ, _ := jsonscan.Text(jsonscan.Get(v, "type"))
	if typ != "" && typ != "custom" {
		name, _ := jsonscan.Text(jsonscan.Get(v, "name"))
		return translate.Tool{Kind: translate.HostedTool, Path: at, Name: name, Type: typ, Raw: raw(v)}
	}
	if _, named := jsonscan.Text(jsonscan.Get(v, "name")); !named {
		return translate.Tool{Kind: translate.UnknownTool, Path: at, Raw: raw(v)}
	}
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "type":
		case "name":
			t.Name = d.text(v, path)
		case "description":
			t.Description = d.text(v, path)
		case "input_schema":
			t.Schema = raw(v)
		case "strict":
			strict := d.bool(v, path)
			t.Strict = &strict
		case "defer_loading":
			t.Deferred = d.bool(v, path)
		case "cache_control":
			t.Cache = d.cachePoint(v, path)
		case "eager_input_streaming":
			d.unlessFalse(translate.FeatureToolStreaming, v, path)
		case "async":
			d.unlessFalse(translate.FeatureToolAsync, v, path)
		case "allowed_callers":
			d.callers(v, path)
		default:
			return false
		}
		return true
	})
	return t
}

func (d *decoder) unlessFalse(f translate.Feature, v []byte, path string) {
	if on, isBool := jsonscan.Bool(v); !isBool || on {
		d.setting(f, path, v)
	}
}

// callers reads who may call a tool; the model itself is what is usual.
func (d *decoder) callers(v []byte, path string) {
	if words := d.texts(v, path); len(words) != 1 || words[0] != "direct" {
		d.setting(translate.FeatureToolCallers, path, v)
	}
}

func (d *decoder) cachePoint(v []byte, at string) *translate.CachePoint {
	c := &translate.CachePoint{Path: at}
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "type":
			return jsonscan.Equal(v, "ephemeral")
		case "ttl":
			c.TTL = d.text(v, path)
			return true
		}
		return false
	})
	return c
}

func (d *decoder) choice(v []byte) {
	c := translate.Choice{Path: "tool_choice"}
	d.members(v, c.Path, func(key, path string, v []byte) bool {
		switch key {
		case "type":
			switch word := d.text(v, path); word {
			case "auto", "none":
				c.Mode = translate.Mode(word)
			case "any":
				c.Mode = translate.Required
			case "tool":
				c.Mode = translate.Named
			default:
				d.setting(translate.FeatureUnknownContent, path, v) // a demand that nobody knows
			}
		case "name":
			c.Tool.Name = d.text(v, path)
		case "disable_parallel_tool_use":
			if c.ParallelOff = d.bool(v, path); c.ParallelOff {
				c.ParallelPath = path
			}
		default:
			return false
		}
		return true
	})
	d.r.Choice = c
}

// nameChoice finds out what kind of tool the choice names, once the tools are
// known.
func (d *decoder) nameChoice() {
	c := &d.r.Choice
	if c.Mode != translate.Named {
		c.Tool = translate.ToolName{}
		return
	}
	for i := range d.r.Tools {
		if t := &d.r.Tools[i]; t.Name == c.Tool.Name {
			c.Tool.Kind, c.Tool.Type = t.Kind, t.Type
			return
		}
	}
}

// hostedBlock tells blocks that belong to tools that the
// provider runs, or that name what lives there.
func hostedBlock(typ string) bool {
	switch typ {
	case "server_tool_use", "mcp_tool_use", "container_upload", "compaction":
		return true
	}
	return typ != "tool_result" && strings.HasSuffix(typ, "_tool_result")
}

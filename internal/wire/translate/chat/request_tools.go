package chat

import (
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// hostedTools are the types of tools that a provider runs, by prefix: a type may
// carry a version.
var hostedTools = [...]string{
	"web_search", "web_fetch", "file_search", "code_interpreter", "code_execution", "mcp", "image_generation",
	"computer_use", "browser_search", "openrouter:", "shell", "hosted_shell",
}

// tool reads one tool. What stands beside the function (cache_control) is the
// tool's, too.
func (d *requestDecoder) tool(v []byte, at string) translate.Tool {
	typ, _ := jsonscan.Text(jsonscan.Get(v, "type"))
	inner := jsonscan.Get(v, typ)
	if typ == "" {
		typ, inner = "function", jsonscan.Get(v, "function")
	}
	if typ != "function" && typ != "custom" || jsonscan.KindOf(inner) != jsonscan.KindObject {
		return foreignTool(v, typ, at)
	}
	var t translate.Tool
	if typ == "function" {
		t = d.function(inner, at, at+".function")
	} else {
		t = d.custom(inner, at)
	}
	d.members(v, at, func(key, path string, v []byte) bool {
		if key == "cache_control" {
			t.Cache = d.cachePoint(v, path)
		}
		return key == "type" || key == typ || key == "cache_control"
	})
	return t
}

func foreignTool(v []byte, typ, at string) translate.Tool {
	t := translate.Tool{Kind: translate.UnknownTool, Path: at, Type: typ, Raw: raw(v)}
	t.Name, _ = jsonscan.Text(jsonscan.Get(v, "name"))
	for _, prefix := range hostedTools {
		if strings.HasPrefix(typ, prefix) {
			t.Kind = translate.HostedTool
		}
	}
	return t
}

// function reads a function whose members stand at a path.
func (d *requestDecoder) function(v []byte, at, inside string) translate.Tool {
	t := translate.Tool{Kind: translate.Function, Path: at}
	d.members(v, inside, func(key, path string, v []byte) bool {
		switch key {
		case "name":
			t.Name = d.text(v, path)
		case "description":
			t.Description = d.text(v, path)
		case "parameters":
			t.Schema = raw(v)
		case "strict":
			strict := d.bool(v, path)
			t.Strict = &strict
		default:
			return false
		}
		return true
	})
	return t
}

// custom reads a free-text tool.
func (d *requestDecoder) custom(v []byte, at string) translate.Tool {
	t := translate.Tool{Kind: translate.Custom, Path: at}
	d.members(v, at+".custom", func(key, path string, v []byte) bool {
		switch key {
		case "name":
			t.Name = d.text(v, path)
		case "description":
			t.Description = d.text(v, path)
		case "format":
			grammar := jsonscan.Get(v, "grammar")
			t.Syntax, _ = jsonscan.Text(jsonscan.Get(grammar, "syntax"))
			t.Grammar, _ = jsonscan.Text(jsonscan.Get(grammar, "definition"))
		default:
			return false
		}
		return true
	})
	return t
}

// choice reads a tool choice, or the older function_call.
func (d *requestDecoder) choice(v []byte, at string) {
	c := &d.r.Choice
	if same(v, `""`) {
		return
	}
	c.Path = at
	if word, ok := jsonscan.Text(v); ok {
		switch word {
		case "auto", "none", "required":
			c.Mode = translate.Mode(word)
		case "any": // Mistral's word
			c.Mode = translate.Required
		default:
			c.Mode, c.Tool = translate.Named, translate.ToolName{Kind: translate.HostedTool, Type: word}
		}
		return
	}
	if at == "function_call" {
		c.Mode, c.Tool = translate.Named, translate.ToolName{Name: d.text(jsonscan.Get(v, "name"), at+".name")}
		return
	}
	if jsonscan.Equal(jsonscan.Get(v, "type"), "allowed_tools") {
		d.allowed(jsonscan.Get(v, "allowed_tools"), at+".allowed_tools")
		return
	}
	c.Mode, c.Tool = translate.Named, d.toolName(v, at)
}

func (d *requestDecoder) allowed(v []byte, at string) {
	c := &d.r.Choice
	c.Mode = translate.Auto
	d.members(v, at, func(key, path string, v []byte) bool {
		switch key {
		case "mode":
			if jsonscan.Equal(v, "required") {
				c.Mode = translate.Required
			}
		case "tools":
			c.Allowed = []translate.ToolName{}
			d.elements(v, path, func(path string, v []byte) { c.Allowed = append(c.Allowed, d.toolName(v, path)) })
		default:
			return false
		}
		return true
	})
}

// toolName reads how a choice names a tool.
func (d *requestDecoder) toolName(v []byte, at string) translate.ToolName {
	switch typ, _ := jsonscan.Text(jsonscan.Get(v, "type")); typ {
	case "function", "":
		return translate.ToolName{Name: d.text(jsonscan.Get(v, "function", "name"), at+".function.name")}
	case "custom":
		return translate.ToolName{Kind: translate.Custom, Name: d.text(jsonscan.Get(v, "custom", "name"), at+".custom.name")}
	default:
		return translate.ToolName{Kind: translate.HostedTool, Type: typ}
	}
}

// cachePoint reads a mark of the prompt cache in either of its spellings.
func (d *requestDecoder) cachePoint(v []byte, at string) *translate.CachePoint {
	p := &translate.CachePoint{Path: at}
	p.TTL, _ = jsonscan.Text(jsonscan.Get(v, "ttl"))
	d.points = append(d.points, p)
	return p
}

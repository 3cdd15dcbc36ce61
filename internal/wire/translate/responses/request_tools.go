package responses

import (
	"slices"
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// hostedTools are the types of tools that run at the provider or that its models
// were trained for, by prefix: a type may carry a version.
var hostedTools = [...]string{
	"web_search", "web_fetch", "file_search", "code_interpreter", "code_execution", "image_generation", "mcp", "computer",
	"local_shell", "shell", "apply_patch", "tool_search", "programmatic_tool_calling", "x_search", "browser_search", "openrouter:",
}

func (d *requestDecoder) tools(v []byte, at string) {
	d.elements(v, at, func(path string, v []byte) { d.tool(v, path, "", "") })
}

// tool reads one tool, or a namespace of tools.
func (d *requestDecoder) tool(v []byte, at, namespace, about string) {
	t := translate.Tool{Path: at, Namespace: namespace, NamespaceAbout: about}
	switch typ := textOf(v, "type"); typ {
	case "function":
	case "custom":
		t.Kind = translate.Custom
	case "namespace":
		if namespace == "" {
			d.namespace(v, at)
			return
		}
		fallthrough // namespaces hold no others
	default:
		t.Kind, t.Type, t.Name, t.Raw = translate.UnknownTool, typ, textOf(v, "name"), raw(v)
		if slices.ContainsFunc(hostedTools[:], func(prefix string) bool { return strings.HasPrefix(typ, prefix) }) {
			t.Kind, t.Name = translate.HostedTool, ""
		}
		d.r.Tools = append(d.r.Tools, t)
		return
	}
	d.members(v, at, func(key, path string, v []byte) bool { return d.toolMember(&t, key, path, v) })
	if t.Name == "" {
		d.fail(at+".name", "a string is expected")
	}
	d.r.Tools = append(d.r.Tools, t)
}

func (d *requestDecoder) namespace(v []byte, at string) {
	name, about := d.text(jsonscan.Get(v, "name"), at+".name"), textOf(v, "description")
	d.members(v, at, func(key, path string, v []byte) bool {
		if key == "tools" {
			d.elements(v, path, func(path string, v []byte) { d.tool(v, path, name, about) })
		}
		return key == "tools" || key == "type" || key == "name" || key == "description"
	})
}

func (d *requestDecoder) toolMember(t *translate.Tool, key, path string, v []byte) bool {
	switch key {
	case "type":
	case "name":
		t.Name = d.text(v, path)
	case "description":
		t.Description = d.text(v, path)
	case "parameters":
		t.Schema = raw(v)
	case "strict":
		strict := d.bool(v, path)
		t.Strict = &strict
	case "format":
		if !jsonscan.Equal(jsonscan.Get(v, "type"), "text") {
			t.Syntax, t.Grammar = textOf(v, "syntax"), textOf(v, "definition")
		}
	case "defer_loading":
		t.Deferred = d.bool(v, path)
	case "async":
		d.unlessFalse(translate.FeatureToolAsync, v, path)
	case "allowed_callers":
		if string(v) != `["direct"]` {
			d.setting(translate.FeatureToolCallers, path, v)
		}
	default:
		return false
	}
	return true
}

func (d *requestDecoder) unlessFalse(f translate.Feature, v []byte, path string) {
	if on, isBool := jsonscan.Bool(v); !isBool || on {
		d.setting(f, path, v)
	}
}

func (d *requestDecoder) choice(v []byte) {
	c := &d.r.Choice
	c.Path = "tool_choice"
	if word, ok := jsonscan.Text(v); ok {
		switch word {
		case "auto", "none", "required":
			c.Mode = translate.Mode(word)
		default:
			c.Mode, c.Tool = translate.Named, translate.ToolName{Kind: translate.HostedTool, Type: word}
		}
		return
	}
	if !jsonscan.Equal(jsonscan.Get(v, "type"), "allowed_tools") {
		c.Mode, c.Tool = translate.Named, d.toolName(v, c.Path)
		return
	}
	c.Mode = translate.Auto
	d.members(v, c.Path, func(key, path string, v []byte) bool {
		switch key {
		case "type":
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
	n := translate.ToolName{Namespace: textOf(v, "namespace")}
	switch typ := textOf(v, "type"); typ {
	case "function":
	case "custom":
		n.Kind = translate.Custom
	default:
		return translate.ToolName{Kind: translate.HostedTool, Type: typ}
	}
	n.Name = d.text(jsonscan.Get(v, "name"), at+".name")
	return n
}

// nameChoice finds the namespaces of tools that a choice names without them,
// once all tools are known.
func (d *requestDecoder) nameChoice() {
	c := &d.r.Choice
	d.place(&c.Tool)
	for i := range c.Allowed {
		d.place(&c.Allowed[i])
	}
}

func (d *requestDecoder) place(n *translate.ToolName) {
	if n.Name == "" || n.Namespace != "" {
		return
	}
	found := ""
	for i := range d.r.Tools {
		switch t := &d.r.Tools[i]; {
		case t.Name != n.Name:
		case t.Namespace == "":
			return
		default:
			found = t.Namespace
		}
	}
	n.Namespace = found
}

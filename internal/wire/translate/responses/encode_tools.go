package responses

import (
	"slices"

	"rubicon/internal/wire/translate"
)

// noParameters is the schema of a function that has none.
const noParameters = `{"type":"object","properties":{}}`

func (e *encoder) tools() {
	if len(e.offers.List) == 0 {
		return
	}
	e.w.array("tools")
	list := e.offers.List
	for len(list) > 0 {
		n := 1
		if list[0].Namespace != "" {
			for n < len(list) && list[n].Namespace == list[0].Namespace {
				n++
			}
		}
		e.group(list[:n])
		list = list[n:]
	}
	e.w.shut(']')
}

// group writes a tool, or those of one namespace.
func (e *encoder) group(list []translate.Offered) {
	if list[0].Namespace == "" {
		e.tool(&list[0])
		return
	}
	e.w.begin("namespace")
	e.w.text("name", list[0].Namespace)
	e.w.text("description", list[0].NamespaceAbout)
	e.w.array("tools")
	for i := range list {
		e.tool(&list[i])
	}
	e.w.shut(']')
	e.w.shut('}')
}

func (e *encoder) tool(t *translate.Offered) {
	if t.Cache != nil {
		e.rep.Take(translate.FeatureToolCache, t.Cache.Path, "")
	}
	switch t.Kind {
	case translate.Function:
		e.w.begin("function")
		e.w.text("name", t.Wire)
		e.function(t)
	case translate.Custom:
		e.w.begin("custom")
		e.w.text("name", t.Wire)
		e.custom(t)
	default: // a tool of this format's own
		e.w.element()
		e.w.b = append(e.w.b, t.Raw...)
		return
	}
	if t.Deferred {
		e.w.bool("defer_loading", true)
	}
	e.w.shut('}')
}

// function writes a function. Functions are strict here unless they say
// otherwise, and nowhere else.
func (e *encoder) function(t *translate.Offered) {
	if t.Description != "" {
		e.w.text("description", t.Description)
	}
	switch {
	case t.Schema != nil:
		e.w.raw("parameters", t.Schema)
	case !e.native():
		e.w.word("parameters", noParameters)
	}
	switch {
	case t.Strict != nil:
		e.w.bool("strict", *t.Strict)
	case !e.native():
		e.w.bool("strict", false)
	}
}

func (e *encoder) custom(t *translate.Offered) {
	if t.Description != "" {
		e.w.text("description", t.Description)
	}
	if t.Grammar == "" {
		return
	}
	e.w.object("format")
	e.w.text("type", "grammar")
	e.w.text("syntax", t.Syntax)
	e.w.text("definition", t.Grammar)
	e.w.shut('}')
}

func (e *encoder) choice() {
	c := &e.offers.Choice
	switch {
	case c.Allowed != nil:
		e.w.object("tool_choice")
		e.w.text("type", "allowed_tools")
		e.w.text("mode", string(c.Mode))
		e.w.array("tools")
		for _, n := range e.allowed() {
			e.w.element()
			e.w.open('{')
			e.toolName(n)
			e.w.shut('}')
		}
		e.w.shut(']')
		e.w.shut('}')
	case c.Mode == translate.Named:
		e.w.object("tool_choice")
		e.toolName(c.Tool)
		e.w.shut('}')
	case c.Mode != translate.Unsaid:
		e.w.text("tool_choice", string(c.Mode))
	}
	if c.ParallelOff {
		e.w.bool("parallel_tool_calls", false)
	}
}

// allowed is what is left of the tools that the choice is among. What is not
// there was told as a tool.
func (e *encoder) allowed() []translate.ToolName {
	c := &e.offers.Choice
	if e.native() {
		return c.Allowed
	}
	left := slices.DeleteFunc(slices.Clone(c.Allowed), func(n translate.ToolName) bool {
		return n.Kind == translate.HostedTool || n.Kind == translate.UnknownTool
	})
	if len(left) == 0 && c.Mode == translate.Required {
		e.rep.Exclude(translate.FeatureForcedHosted, c.Path)
	}
	return left
}

func (e *encoder) toolName(n translate.ToolName) {
	switch n.Kind {
	case translate.Function:
		e.w.text("type", "function")
	case translate.Custom:
		e.w.text("type", "custom")
	default:
		e.w.text("type", n.Type)
		return
	}
	e.w.text("name", e.offers.Names.Wire(n.Namespace, n.Name))
	if n.Namespace != "" {
		e.w.text("namespace", n.Namespace)
	}
}

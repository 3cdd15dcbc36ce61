package chat

import (
	"slices"

	"rubicon/internal/wire/translate"
)

func (e *encoder) tools() {
	if len(e.offers.List) == 0 {
		return
	}
	e.w.array("tools")
	for i := range e.offers.List {
		e.tool(&e.offers.List[i])
	}
	e.w.shut(']')
}

func (e *encoder) tool(t *translate.Offered) {
	if t.Cache != nil {
		e.rep.Take(translate.FeatureToolCache, t.Cache.Path, "")
	}
	e.w.element()
	switch t.Kind {
	case translate.Function:
		e.w.open('{')
		e.w.text("type", "function")
		e.function(t)
		e.w.shut('}')
	case translate.Custom:
		e.w.open('{')
		e.w.text("type", "custom")
		e.custom(t)
		e.w.shut('}')
	default: // a tool of this format's own
		e.w.b = append(e.w.b, t.Raw...)
	}
}

func (e *encoder) function(t *translate.Offered) {
	e.w.object("function")
	e.w.text("name", t.Wire)
	if t.Description != "" {
		e.w.text("description", t.Description)
	}
	if t.Schema != nil {
		e.w.raw("parameters", t.Schema)
	}
	if t.Strict != nil && (*t.Strict || e.f.StrictTools) {
		e.w.bool("strict", *t.Strict)
	}
	e.w.shut('}')
}

func (e *encoder) custom(t *translate.Offered) {
	e.w.object("custom")
	e.w.text("name", t.Wire)
	if t.Description != "" {
		e.w.text("description", t.Description)
	}
	if t.Grammar != "" {
		e.w.object("format")
		e.w.text("type", "grammar")
		e.w.object("grammar")
		e.w.text("syntax", t.Syntax)
		e.w.text("definition", t.Grammar)
		e.w.shut('}')
		e.w.shut('}')
	}
	e.w.shut('}')
}

func (e *encoder) choice() {
	c := &e.offers.Choice
	switch {
	case c.Allowed != nil:
		e.w.object("tool_choice")
		e.w.text("type", "allowed_tools")
		e.w.object("allowed_tools")
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
		e.w.shut('}')
	case c.Mode == translate.Named && (c.Tool.Kind == translate.Function || c.Tool.Kind == translate.Custom):
		e.w.object("tool_choice")
		e.toolName(c.Tool)
		e.w.shut('}')
	case c.Mode == translate.Named:
		e.w.object("tool_choice")
		e.w.text("type", c.Tool.Type)
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
	left := slices.DeleteFunc(slices.Clone(c.Allowed), func(n translate.ToolName) bool {
		return n.Kind == translate.HostedTool || n.Kind == translate.UnknownTool
	})
	if len(left) == 0 && c.Mode == translate.Required {
		e.rep.Exclude(translate.FeatureForcedHosted, c.Path)
	}
	return left
}

func (e *encoder) toolName(n translate.ToolName) {
	typ := "function"
	if how, _ := e.rep.How(translate.FeatureCustomTool); n.Kind == translate.Custom && how == translate.Carried {
		typ = "custom"
	}
	e.w.text("type", typ)
	e.w.object(typ)
	e.w.text("name", e.offers.Names.Wire(n.Namespace, n.Name))
	e.w.shut('}')
}

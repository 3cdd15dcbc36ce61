package responses

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// hostedTools are the tools with effects that run at the provider
// (docs/contract.md#s3-row-13), by type. A second run would have the effects twice.
// Searches only read; function, custom, local_shell, apply_patch and computer
// tools are carried out by the client, who knows what it did.
var hostedTools = map[string]string{
	"mcp":                       "mcp",
	"code_interpreter":          "code_interpreter",
	"code_execution":            "code_interpreter",
	"image_generation":          "image_generation",
	"programmatic_tool_calling": toolProgrammatic,
	"shell":                     toolShell, // unless its environment is local
}

const toolProgrammatic = "programmatic_tool_calling"

// tools walks a list of tools: the request's, a namespace's, or one that an
// item of the input brings along.
func (w *requestWalk) tools(raw []byte, at *place) {
	if at.depth > maxNesting {
		return
	}
	el := jsonscan.Array(raw)
	for i := 0; el.Next(); i++ {
		w.effects(el.Value())
		w.part(el.Value(), at.element(i))
	}
}

// effects notes what makes a tool one with effects. Of repeated members each
// counts.
func (w *requestWalk) effects(tool []byte) {
	var names []string
	local := false
	m := jsonscan.Object(tool)
	for m.Next() {
		switch string(m.Key()) {
		case "type":
			names = append(names, hostedTools[str(m.Value())])
		case "allowed_callers":
			if programmatic(m.Value()) {
				names = append(names, toolProgrammatic)
			}
		case "environment":
			local = jsonscan.Equal(jsonscan.Get(m.Value(), "type"), "local")
		}
	}
	for _, name := range names {
		if name != "" && !(name == toolShell && local) {
			w.req.Hosted = protocol.AddHosted(w.req.Hosted, name)
		}
	}
}

// programmatic reports whether a tool may be called by a program at the provider
// and not only by the model directly.
func programmatic(callers []byte) bool {
	el := jsonscan.Array(callers)
	for el.Next() {
		if !jsonscan.Equal(el.Value(), "direct") {
			return true
		}
	}
	return false
}

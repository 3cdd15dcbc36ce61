package translate

// maxName is how long a tool's name may be, by format.
var maxName = map[Format]int{Responses: 64, Chat: 64, Messages: 128}

// hashLen is the length of the hash that ends a shortened name, with its "_".
const hashLen = 9

// Names are the tools of one request under the names that an upstream knows
// them by. What a name becomes depends on the name, the format and the flags
// alone; what it came from is read from the request's own tools, never guessed
// from the name's form.
type Names struct {
	to    Format
	flags Flags
	back  map[string]ToolName
	clash []Clash
}

// Clash is two tools that would have the same name upstream.
type Clash struct {
	Path string // of the second
	Wire string
}

// NamesOf gives the names of a request's tools at an upstream.
func NamesOf(r *Request, to Format, f Flags) *Names {
	n := &Names{to: to, flags: f, back: map[string]ToolName{}}
	for i := range r.Tools {
		t := &r.Tools[i]
		if t.Kind == HostedTool || t.Kind == UnknownTool {
			continue
		}
		own := ToolName{Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}
		wire := n.Wire(t.Namespace, t.Name)
		if had, ok := n.back[n.key(wire, t.Namespace)]; ok {
			if had.Namespace != own.Namespace || had.Name != own.Name {
				n.clash = append(n.clash, Clash{Path: t.Path, Wire: wire})
			}
			continue
		}
		n.back[n.key(wire, t.Namespace)] = own
	}
	return n
}

// key is what a wire name is unique under: Responses keeps namespaces apart.
func (n *Names) key(wire, namespace string) string {
	if n.to == Responses && namespace != "" {
		return namespace + "\x00" + wire
	}
	return wire
}

// Wire is a tool's name at the upstream. On Responses the namespace stands
// beside it, elsewhere in front of it.
func (n *Names) Wire(namespace, name string) string {
	if namespace != "" && n.to != Responses {
		separator := n.flags.Separator
		if separator == "" {
			separator = "__"
		}
		name = namespace + separator + name
	}
	limit, known := maxName[n.to]
	if !known {
		limit = maxName[Chat]
	}
	return fitName(name, limit)
}

// Restore gives the tool that an upstream's name stands for; false where the
// request has no such tool.
func (n *Names) Restore(namespace, wire string) (ToolName, bool) {
	t, ok := n.back[n.key(wire, namespace)]
	return t, ok
}

// Clashes are the tools that would share another tool's name.
func (n *Names) Clashes() []Clash { return n.clash }

// fitName keeps a legal name. Another one gets its illegal bytes replaced, is
// cut, and ends with the hash of the whole, so that two names stay two.
func fitName(name string, limit int) string {
	if name != "" && len(name) <= limit && wordly(name) {
		return name
	}
	fit := []byte(name)
	for i, c := range fit {
		if !wordByte(c) {
			fit[i] = '_'
		}
	}
	if len(fit) > limit-hashLen {
		fit = fit[:limit-hashLen]
	}
	return string(fit) + "_" + digest(8, name)
}

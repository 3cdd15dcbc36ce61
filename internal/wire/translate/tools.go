package translate

import (
	"slices"
	"strings"
)

// Offered is a tool as an upstream gets it: a free-text tool that has no place
// there is a function already.
type Offered struct {
	Tool
	Wire string // its name at the upstream
}

// Offers are a request's tools and its choice among them, as an upstream gets
// them.
type Offers struct {
	List   []Offered
	Choice Choice
	Names  *Names
}

// Forced tells whether the model must call a tool.
func (o *Offers) Forced() bool { return o.Choice.Mode == Required || o.Choice.Mode == Named }

// PlanTools decides on the tools of a request: which of them travel, under which
// names, and what is left of the choice. Everything it changes is reported.
func PlanTools(r *Request, to Format, f Flags, rep *Reporter) *Offers {
	p := planner{r: r, to: to, rep: rep, offers: &Offers{Choice: r.Choice, Names: NamesOf(r, to, f)}}
	for _, c := range p.offers.Names.Clashes() {
		rep.ExcludeBecause(FeatureToolName, c.Path, "another tool has the name "+c.Wire+" there, too", "rename one of them")
	}
	p.narrows = r.Choice.Allowed != nil && p.changes(FeatureAllowedTools)
	for _, t := range r.Tools {
		p.tool(t)
	}
	p.choice()
	return p.offers
}

type planner struct {
	r       *Request
	to      Format
	rep     *Reporter
	offers  *Offers
	narrows bool
	spaces  []string // namespaces that were told
}

// changes tells whether the table lets a feature travel in another form.
func (p *planner) changes(f Feature) bool {
	how, _ := p.rep.How(f)
	return how == Changes
}

func (p *planner) tool(t Tool) {
	if t.Kind == HostedTool || t.Kind == UnknownTool {
		p.foreign(t)
		return
	}
	if p.narrows && !slices.ContainsFunc(p.r.Choice.Allowed, func(n ToolName) bool { return n.Namespace == t.Namespace && n.Name == t.Name }) {
		return
	}
	flat := t.Name
	if t.Namespace != "" {
		flat = p.namespace(&t)
	}
	o := Offered{Tool: t, Wire: p.offers.Names.Wire(t.Namespace, t.Name)}
	if o.Wire != flat {
		p.rep.Note(Changed, FeatureToolName, t.Path, flat, o.Wire)
	}
	if t.Kind == Custom && !p.rep.Take(FeatureCustomTool, t.Path, t.Name) {
		o.Tool = Wrap(t)
	}
	if t.Strict != nil && *t.Strict && !p.rep.Take(FeatureToolStrict, t.Path+".strict", "") {
		o.Strict = nil
	}
	if t.Deferred && p.r.From != p.to {
		o.Deferred = p.rep.Take(FeatureDeferred, t.Path, t.Name)
	}
	p.offers.List = append(p.offers.List, o)
}

// namespace tells a flattened namespace once, and gives the tool's flat name.
// What the namespace says of its tools stands in front of what the first of them
// says.
func (p *planner) namespace(t *Tool) string {
	if how, _ := p.rep.How(FeatureNamespace); how == Carried {
		return t.Name
	}
	if !slices.Contains(p.spaces, t.Namespace) {
		p.spaces = append(p.spaces, t.Namespace)
		p.rep.Take(FeatureNamespace, t.Path, t.Namespace)
		if t.NamespaceAbout != "" {
			t.Description = strings.TrimSpace("About all tools of " + t.Namespace + ": " + t.NamespaceAbout + "\n\n" + t.Description)
		}
	}
	separator := p.offers.Names.flags.Separator
	if separator == "" {
		separator = "__"
	}
	return t.Namespace + separator + t.Name
}

// foreign treats a tool that its vendor runs or trained its models for. As an
// offer it is dropped; a tool whose calls stand in the history is content, and
// one that must be called is a demand (choice).
func (p *planner) foreign(t Tool) {
	if p.r.From == p.to {
		p.offers.List = append(p.offers.List, Offered{Tool: t, Wire: t.Name})
		return
	}
	if at := calledAt(p.r, t); at != "" {
		p.rep.Exclude(FeatureHostedHistory, at)
		return
	}
	f := FeatureHostedTool
	if t.Kind == UnknownTool {
		f = FeatureUnknownTool
	}
	was := t.Type
	if was == "" {
		was = t.Name
	}
	p.rep.Take(f, t.Path, was)
}

// calledAt is where the history calls a tool that the client runs for its
// vendor's models.
func calledAt(r *Request, t Tool) string {
	if t.Name == "" {
		return ""
	}
	for i := range r.Turns {
		for j := range r.Turns[i].Blocks {
			if b := &r.Turns[i].Blocks[j]; b.Kind == Call && b.Name == t.Name && b.Namespace == "" && !functionNamed(r, t.Name) {
				return b.Path
			}
		}
	}
	return ""
}

func functionNamed(r *Request, name string) bool {
	return slices.ContainsFunc(r.Tools, func(t Tool) bool {
		return t.Name == name && t.Namespace == "" && (t.Kind == Function || t.Kind == Custom)
	})
}

// choice decides on the tool choice once it is clear which tools are left.
func (p *planner) choice() {
	c := &p.offers.Choice
	switch {
	case c.Mode == Named && c.Tool.Kind == HostedTool && p.r.From != p.to:
		p.rep.Exclude(FeatureForcedHosted, c.Path)
	case p.offers.Forced() && len(p.offers.List) == 0 && len(p.r.Tools) > 0:
		p.rep.Exclude(FeatureForcedHosted, c.Path)
	case len(p.offers.List) == 0:
		if c.Mode != Unsaid {
			p.rep.Take(FeatureIdleChoice, c.Path, string(c.Mode))
		}
		*c = Choice{}
		return
	case c.Mode == Named && c.Tool.Kind == Custom && !p.carriesCustom():
		p.rep.ExcludeBecause(FeatureForcedChoice, c.Path, "the upstream has no free-text tools that could be forced", "use tool_choice auto")
	case p.offers.Forced():
		p.rep.Take(FeatureForcedChoice, c.Path, "")
	}
	if c.Allowed != nil {
		p.rep.Take(FeatureAllowedTools, c.Path, "")
		if p.narrows {
			c.Allowed = nil
		}
	}
	if c.ParallelOff {
		p.rep.Take(FeatureParallelOff, c.ParallelPath, "")
	}
}

func (p *planner) carriesCustom() bool {
	how, _ := p.rep.How(FeatureCustomTool)
	return how == Carried
}

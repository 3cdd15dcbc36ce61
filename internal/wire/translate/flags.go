package translate

// Flags say what an upstream's model can, where models of one format differ.
// The zero value can nothing; Defaults gives what is usual for a format.
type Flags struct {
	ToolsOnChat      bool // tools together with reasoning
	DeveloperRole    bool
	SingleSystem     bool // one system message only, in front
	MidSystem        bool // a system turn in the middle
	ForcedToolChoice bool
	StrictTools      bool
	CustomTools      bool
	ParallelTools    bool // parallel calls can be turned off
	Images           bool
	ResultImages     bool // images inside a tool's result
	PDF              bool
	HTTPURLs         bool
	ReasoningBack    bool // wants its reasoning back on turns with tools
	Logprobs         bool
	Choices          bool // n
	Prefill          bool
	MaxTokensOnly    bool // Chat: max_tokens instead of max_completion_tokens

	FixedSampling  bool   // temperature, top_p and top_k are refused
	Thinking       string // none, budget, adaptive, always
	Structured     string // none, json, schema
	ReasoningField string // Chat: none, reasoning_content, reasoning, reasoning_details
	Cache          string // none, auto, breakpoints
	APIVersion     string // Messages

	Efforts   []string // known words, lowest first; nil: low, medium, high; empty: it takes none
	MaxOutput int64    // for requests that name none where the format wants one
	StopMax   int      // how many stop sequences
	Separator string   // between a namespace and a tool's name
}

// Has tells whether a flag of the class table is set.
func (f Flags) Has(flag string) bool {
	switch flag {
	case "images":
		return f.Images
	case "pdf":
		return f.PDF
	case "mid_system":
		return f.MidSystem
	case "custom_tools":
		return f.CustomTools
	case "strict_tools":
		return f.StrictTools
	case "forced_tool_choice":
		return f.ForcedToolChoice
	case "parallel_tools":
		return f.ParallelTools
	case "logprobs":
		return f.Logprobs
	case "prefill":
		return f.Prefill
	case "n":
		return f.Choices
	case "json":
		return f.Structured == "json" || f.Structured == "schema"
	case "schema":
		return f.Structured == "schema"
	case "sampling":
		return !f.FixedSampling
	case "cache_breakpoints":
		return f.Cache == "breakpoints"
	}
	return false
}

// Defaults are the flags of a format's usual model.
func Defaults(to Format) Flags {
	f := Flags{
		ToolsOnChat: true, ForcedToolChoice: true, StrictTools: true, ParallelTools: true, Images: true, PDF: true, HTTPURLs: true,
		Structured: "schema", Thinking: "none", ReasoningField: "none", Cache: "auto", StopMax: 4, Separator: "__", MaxOutput: 32000,
		Efforts: []string{"low", "medium", "high"},
	}
	switch to {
	case Responses:
		f.DeveloperRole, f.CustomTools, f.ResultImages, f.Logprobs = true, true, true, true
		f.Efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh"}
	case Chat:
		f.Logprobs, f.Choices = true, true
		f.ReasoningField = "reasoning_content"
	case Messages:
		f.ResultImages, f.Cache, f.Thinking, f.StopMax = true, "breakpoints", "adaptive", 64
		f.APIVersion = "2023-06-01"
		f.Efforts = []string{"low", "medium", "high", "max"}
	}
	return f
}

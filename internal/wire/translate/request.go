package translate

// Format is a wire format.
type Format string

// The formats, as channels and records name them.
const (
	Responses Format = "responses"
	Chat      Format = "chat"
	Messages  Format = "messages"
)

// Formats gives all formats, in the order in which tables show them.
func Formats() []Format { return []Format{Responses, Chat, Messages} }

// Raw is JSON that is carried as it was written.
type Raw []byte

// Request is what a client asks for. Each part knows its JSON path in the
// client's body ("tools[3]"), because notes and exclusions name it.
type Request struct {
	From      Format
	Model     string
	Stream    bool
	WantUsage bool // Chat: stream_options.include_usage

	System    []Block // in front of the first turn
	Turns     []Turn  // in order; system text in the middle is a turn of its own
	Tools     []Tool
	Choice    Choice
	Answer    AnswerFormat
	Reasoning Reasoning
	MaxOutput Number // output tokens, reasoning included
	Stop      Stops

	// Settings are the members that stand alone (temperature, seed, metadata …),
	// state that the request names and members that the decoder does not know,
	// each with its feature in the class table; in the order of the body.
	Settings []Setting
}

// Setting is one member of a request with its feature. Features that several
// formats have are spelled alike whatever the client wrote: the logprobs are the
// number of alternatives (0: the chosen token alone), the end user is a string,
// the tier is a word of OpenAI's (auto, default, flex, priority …), metadata an
// object of strings. What equals the default (n of 1, store of false on Chat,
// null) is no setting.
type Setting struct {
	Feature Feature
	Path    string
	Value   Raw
}

// Get gives the first setting of a feature; nil if the request has none.
func (r *Request) Get(f Feature) *Setting {
	for i := range r.Settings {
		if r.Settings[i].Feature == f {
			return &r.Settings[i]
		}
	}
	return nil
}

// Number is a positive whole number that a request may name.
type Number struct {
	Value int64
	Path  string // "" absent
}

// Stops are the request's stop sequences.
type Stops struct {
	Words []string
	Path  string
}

// Role is who speaks a turn.
type Role string

// The roles. Developer counts as system; an encoder chooses the word.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	System    Role = "system"
)

// Turn is what one side said without a break, in blocks. Results of calls belong
// to a turn of the user.
type Turn struct {
	Role   Role
	Phase  string // Responses: commentary or final_answer; "" unknown
	Blocks []Block
	Path   string
}

// Kind is what a block is.
type Kind uint8

// The kinds of blocks.
const (
	Text    Kind = iota // Text, Citations
	Refusal             // Text
	Image               // Source, Detail
	File                // Source, Name
	Audio               // Source, Raw
	Think               // reasoning: Text, Summary, Seal
	Call                // ID, Name, Namespace, Custom, Input
	Result              // ID (of the call), Failed, Inner
	Hosted              // a call or result of a tool that its vendor runs; Raw
	Unknown             // what the decoder does not know; Raw
)

func (k Kind) String() string {
	return [...]string{"text", "refusal", "image", "file", "audio", "reasoning", "call", "result", "hosted", "unknown"}[k]
}

// Block is one piece of content. Which fields count depends on its kind.
type Block struct {
	Kind      Kind
	Path      string
	Text      string
	Summary   []string // reasoning: one paragraph each
	Seal      *Seal
	Source    Source
	Detail    string // image
	ID        string // of the call
	Name      string // of the tool or the file
	Namespace string // of the tool
	Custom    bool   // the call's input is free text, not JSON
	Input     string // the call's arguments as their JSON text, or its free text
	Failed    bool   // the result tells an error
	Phase     string // text of an answer: commentary or final_answer; "" unknown
	Inner     []Block
	Citations Raw
	Cache     *CachePoint // the prompt cache may end behind this block
	Type      string      // hosted, unknown: the type's word on the wire
	Raw       Raw         // hosted, unknown: the whole item
	Origin    Format      // hosted, unknown: whose item Raw is
}

// CachePoint marks where a prompt cache may end.
type CachePoint struct {
	TTL  string // "5m", "1h", "30m", "12h"; "" the provider's usual
	Path string
}

// Source is where the bytes of an image or a file are. Exactly one of Data, URL
// and Ref is set.
type Source struct {
	Mime string
	Data string // base64
	Text string // a document in plain text
	URL  string
	Ref  string // an id at an origin
}

// Seal is reasoning that only its maker can read, or a signature over it.
type Seal struct {
	Kind   SealKind
	Origin string // the upstream account that made it; "" unknown
	Data   string // as it stood on the wire
}

// SealKind is what a seal is on its own wire.
type SealKind string

// The kinds of seals.
const (
	Encrypted SealKind = "encrypted_content" // Responses
	Signature SealKind = "signature"         // Messages: of a thinking block
	Redacted  SealKind = "redacted"          // Messages: a redacted_thinking block
	Detail    SealKind = "reasoning_details" // Chat: one item, without its text; or a carrier's data
	Thought   SealKind = "extra_content"     // Chat: of a call or a message, as Gemini gives it
)

// ToolKind is how a tool is called.
type ToolKind uint8

// The kinds of tools.
const (
	Function   ToolKind = iota // JSON arguments under a schema
	Custom                     // free text, under a grammar or not
	HostedTool                 // its vendor runs it, or trained the model for it
	UnknownTool
)

// Tool is something that the model may call.
type Tool struct {
	Kind      ToolKind
	Path      string
	Name      string
	Namespace string
	// NamespaceAbout is what the namespace says of all its tools.
	NamespaceAbout string
	Description    string
	Schema         Raw   // nil: none given
	Strict         *bool // nil: not said
	Syntax         string
	Grammar        string
	Deferred       bool // its schema is to be loaded when the model looks for it
	Cache          *CachePoint
	Type           string // hosted and unknown tools: the type's word on the wire
	Raw            Raw    // hosted and unknown tools: the whole tool
}

// Mode is how a tool choice binds the model.
type Mode string

// The modes of a tool choice.
const (
	Unsaid   Mode = ""
	Auto     Mode = "auto"
	None     Mode = "none"
	Required Mode = "required"
	Named    Mode = "named"
)

// Choice says which tools the model may or must call.
type Choice struct {
	Mode         Mode
	Tool         ToolName   // Named
	Allowed      []ToolName // Auto or Required among these only; nil: among all
	Path         string
	ParallelOff  bool   // at most one call a turn
	ParallelPath string // "" not said
}

// ToolName is a tool as a choice names it.
type ToolName struct {
	Kind            ToolKind
	Namespace, Name string
	Type            string // a hosted tool's type
}

// Shape is what the answer's text must be.
type Shape string

// The shapes of an answer.
const (
	FreeText   Shape = ""
	JSONObject Shape = "json_object"
	JSONSchema Shape = "json_schema"
)

// AnswerFormat is a demand on the answer's text.
type AnswerFormat struct {
	Shape             Shape
	Name, Description string
	Schema            Raw
	Strict            *bool
	Path              string
}

// Reasoning is how much the model should think, and what of it is shown.
type Reasoning struct {
	Effort     string // none, minimal, low, medium, high, xhigh, max or another word; "" not said
	EffortPath string
	Budget     int64  // tokens; 0 not said
	Off        bool   // Messages: thinking disabled
	Adaptive   bool   // Messages: thinking on, and the model decides how much
	Summary    string // auto, concise, detailed, omitted; "" not said
	Path       string
	// KeepSeals: the client sends reasoning back itself, so it wants the seals
	// (Responses: include reasoning.encrypted_content; Messages: always).
	KeepSeals bool
}

package translate

// EventKind is what an event of an answer tells.
type EventKind uint8

// The events of an answer, in the order in which they may come: Start, then for
// each block Open, Deltas and Close, with Usage anywhere, then Stop or Failed.
const (
	Start    EventKind = iota // ID, Model
	Open                      // Index, Block: what is known of the block when it begins
	Delta                     // Index, Part, Text
	Cite                      // Index, Raw: a citation or annotation
	Sealed                    // Index, Seal
	Close                     // Index; Block.Phase and a hosted item's final Raw, where they are known only now
	UsageNow                  // Usage, cumulative
	Stop                      // Stop
	Failed                    // Failure
	Beat                      // a sign of life
)

// Part is which text of its block a Delta continues.
type Part uint8

// The parts.
const (
	PartText    Part = iota // text, refusal
	PartInput               // a call's arguments or free text
	PartSummary             // a paragraph of a reasoning summary; Paragraph tells which
	PartThought             // reasoning in full
)

// Event is one piece of an answer. Indexes count the answer's blocks from 0 in
// the order in which they were opened.
type Event struct {
	Kind      EventKind
	Index     int
	Block     Block // Open
	Part      Part
	Paragraph int
	Text      string
	Logprobs  Raw // Delta: an array of the text's tokens with their logprobs; nil none
	Raw       Raw
	Seal      *Seal
	ID, Model string // Start
	Tier      string
	Usage     Usage
	Stop      StopReason
	Failure   Failure
}

// Usage is what an answer took, in tokens. Each class holds what the others do
// not: the input is Fresh + Cached + all writes.
type Usage struct {
	Fresh       int64
	Cached      int64
	Write       int64 // of a lifetime that was not told
	Write5m     int64
	Write1h     int64
	Write30m    int64
	Write12h    int64
	Output      int64 // reasoning included
	Thinking    int64 // of Output
	Estimated   bool
	WebSearches int64
}

// Input is all input tokens.
func (u Usage) Input() int64 { return u.Fresh + u.Cached + u.Writes() }

// Writes is what was written to a cache, of any lifetime.
func (u Usage) Writes() int64 { return u.Write + u.Write5m + u.Write1h + u.Write30m + u.Write12h }

// StopWord is why an answer ended.
type StopWord string

// The stop words. What a decoder does not know keeps its own word, as Odd.
const (
	End         StopWord = "end"
	ToolUse     StopWord = "tool_use"
	Length      StopWord = "length"
	StopSeq     StopWord = "stop_sequence"
	Filter      StopWord = "filter"  // the provider's machinery
	Refused     StopWord = "refusal" // the model itself
	ContextFull StopWord = "context_full"
	Paused      StopWord = "pause"
	Steered     StopWord = "steered"
	Odd         StopWord = "odd"
)

// StopReason is why an answer ended, with what belongs to it.
type StopReason struct {
	Word     StopWord
	Original string // the word on the upstream's wire
	Sequence string // the stop sequence that matched, "" unknown
	Details  Raw    // Messages: stop_details
	Explains string // a refusal's own words, where they stand apart
}

// Failure is how an answer failed, as upstream told it.
type Failure struct{ Code, Type, Message, Param string }

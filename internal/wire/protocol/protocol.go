// Package protocol says what a request, an event and an answer ARE on each
// client API, as values that the engine's rules can be decided on.
//
// It holds the shared vocabulary; the three APIs live in the packages below it
// (responses, chat, messages), each exporting one Protocol value. None of them
// knows a transport, a clock, a channel or money, and none of them decides
// anything: they read.
//
// Invariant: reading never changes bytes. An Event's Raw and Data are what
// upstream sent; what the gateway may add stands in Ending, Tail and ErrorBody
// alone.
package protocol

import (
	"slices"
	"time"

	"rubicon/internal/money/price"
	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/sse"
)

// Class is what an event means to the event hold (docs/contract.md#s2).
type Class uint8

// The classes. The zero value is Output on purpose: what is not known commits.
const (
	Output    Class = iota // commits: everything not listed below, known or unknown
	Lifecycle              // held until output, an ending or the deadline
	Heartbeat              // keeps its place, starts no clock, is no event in the rules
	Terminal               // the good ending: completed, incomplete, message_stop, [DONE]
	Failure                // an upstream failure event; Seen().Failure tells which
)

func (c Class) String() string {
	return [...]string{"output", "lifecycle", "heartbeat", "terminal", "failure"}[c]
}

// Event is one upstream event. Its byte slices are valid until the next event
// of the same stream is read.
type Event struct {
	Class  Class
	Type   string // JSON "type", else the event's name; "" on Chat Completions
	Kind   string // of lifecycle events without a type (Chat Completions): which of them it is
	Raw    []byte // the whole record, LF lines and blank line: what an SSE client gets
	Data   []byte // the JSON: what a WebSocket client gets; nil for a comment
	Named  bool   // Type is the event's name alone: the JSON has none
	ID     bool   // the record has an "id" field
	Vain   bool   // output of a known kind with nothing in it: an empty delta
	Hidden bool   // read, but not for the client (the usage chunk nobody asked for)
}

// Stage is how far a stream has come.
type Stage uint8

// The stages.
const (
	Open      Stage = iota // more must come
	Finishing              // decided, but more may follow within a second: usage and [DONE] after a finish reason; response.failed after error
	Closed                 // nothing more will be read
)

// FinishTime is how long a Settling stream is waited for.
const FinishTime = time.Second

// Reader reads the events of one upstream stream, in order. It is used by one
// goroutine.
type Reader interface {
	// Read takes in one record and classifies it. ErrNotProtocol means that the
	// record is no event of this protocol (its data is not JSON): a read error,
	// never forwarded. What Record gives no data of is a Heartbeat.
	Read(f sse.Frame) (Event, error)
	// Stage reports whether the stream is complete. A clean end of the body at
	// Open is a read error; at Settling or Closed it is a good end.
	Stage() Stage
	// Observed is what was read so far. It stays the same pointer.
	Seen() *Observed
	// Tail is what a stream that ended at Settling lacks and the gateway makes
	// good, as SSE bytes (Chat: "data: [DONE]\n\n"); nil when nothing.
	Tail() []byte
}

// ErrNotProtocol is returned by Reader.Read and Protocol.Answer for what is
// not an event or an answer of the protocol.
type notProtocol struct{}

func (notProtocol) Error() string { return "not an event of this protocol" }

// ErrNotProtocol marks bytes that are not of the protocol.
var ErrNotProtocol error = notProtocol{}

// Observed is what a stream or an answer has told so far.
type Observed struct {
	Events     int    // events other than heartbeats, hidden ones included
	ResponseID string // resp_…, chatcmpl-…, msg_… ("" unknown)
	Model      string // as the answer names it
	Tier       string // service tier that the answer reports ("" none)
	Incomplete bool   // ended by a limit or filter (response.incomplete, status incomplete)

	Usage          price.Usage // tokens by class, last known values; Tools and Tier are not set here
	Reported       bool        // Usage comes from the provider's own closing numbers
	OpeningUsage   bool        // Usage's input classes were reported at the opening (message_start, lifecycle chunk)
	ShowsExecution bool        // a usage that is a sign of execution was seen, or Result (docs/contract.md#s3-row-17)
	Result         bool        // a failure's own payload holds output

	OutputEvents int64 // events of class Output
	Content      bool  // the output so far holds a byte of content (text, reasoning, refusal, argument, image, audio) or a finished item: what a customer pays for
	TextBytes    int64 // UTF-8 bytes of text, reasoning, refusals and tool arguments in the output so far
	Sequence     int64 // last sequence_number, -1 if none (Responses)

	Hosted  map[string]int64 // hosted tool calls by name, nil until the first
	Ran     bool             // a tool ran at the provider, billed or not: what it found is input too
	State   []StateID        // ids and sealed items that the answer carried
	Failure *FailureInfo     // set once a failure event was read
}

// FailureInfo is what a failure event or an error body says. Package classify
// declares it, because it names the class of a failure from these words and
// must not depend on the protocols that read them.
type FailureInfo = classify.FailureInfo

// StateID is an id (or a sealed item) that lives at the upstream account that
// answered.
type StateID struct {
	Kind string // KindResponse, …
	ID   string // the id; for KindSealed the hex SHA-256 of the item's sealed field
}

// Kinds of state.
const (
	KindResponse     = "response"
	KindItem         = "item"
	KindContainer    = "container"
	KindAudio        = "audio"
	KindSealed       = "sealed"
	KindFile         = "file"
	KindVectorStore  = "vector_store"
	KindPrompt       = "prompt"
	KindConversation = "conversation"
)

// Ref is state that a request names.
type Ref struct {
	Kind  string
	ID    string
	Param string // where in the body, e.g. "previous_response_id", "input[3].id"
}

// AddHosted adds the name of a hosted tool to those of a request, each once.
func AddHosted(names []string, name string) []string {
	if len(names) >= maxHosted || slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// MaxNamed is how many ids of upstream state a request may name, and how many of
// its sealed items are looked at: the last ones. A history can hold more sealed
// items than that, and the newest tell where it lives.
const MaxNamed = 1000

// Name notes state that the request names. What is noted stays bounded, whatever
// the body holds.
func (r *Request) Name(ref Ref) {
	r.Refs = append(r.Refs, ref)
	if len(r.Refs) > 4*MaxNamed {
		r.trim()
	}
}

// TooManyNames refuses a request that names more than it may. It is asked once,
// when everything is noted.
func (r *Request) TooManyNames() *fault.Error {
	if len(r.Refs) <= MaxNamed {
		return nil
	}
	r.trim()
	named := 0
	for _, ref := range r.Refs {
		if ref.Kind == KindSealed {
			continue
		}
		if named++; named > MaxNamed {
			return fault.Newf(fault.InvalidRequest, "The request names more than %d ids of stored items, files and the like. Send their content instead.", MaxNamed).WithParam(ref.Param)
		}
	}
	return nil
}

// trim keeps the last sealed items, and of the others one more than there may
// be, in their order.
func (r *Request) trim() {
	sealed, named := 0, 0
	for _, ref := range r.Refs {
		if ref.Kind == KindSealed {
			sealed++
		}
	}
	old := sealed - MaxNamed // sealed items that go
	r.Refs = slices.DeleteFunc(r.Refs, func(ref Ref) bool {
		if ref.Kind == KindSealed {
			old--
			return old >= 0
		}
		named++
		return named > MaxNamed+1
	})
}

// Request is what the rules need to know of a request's body.
type Request struct {
	Model         string
	Stream        bool
	Store         Store
	Continuation  bool     // previous_response_id or conversation
	Refs          []Ref    // every id of upstream state, sealed items included (KindSealed)
	Hosted        []string // tools with effects, by name; docs/contract.md#s3-row-13
	MaxOutput     int64    // the request's own maximum of output tokens; 0 none named
	Choices       int64    // at least 1
	Tier          string   // requested service tier, "" absent
	EstimateBytes int64    // body bytes without data URLs, for the input estimate
	Attachments   int      // images and files
	Affinity      string   // prompt_cache_key
	IncludeUsage  bool     // Chat: the client asked for the usage chunk
	Warmup        bool     // Responses over WebSocket: generate: false
	PrevResponse  string   // previous_response_id
}

// Store is the request's "store".
type Store uint8

// The values of Store.
const (
	StoreAbsent Store = iota
	StoreTrue
	StoreFalse
)

// Rewrite is what the gateway changes in a request's body on its way up; every
// other byte travels untouched.
type Rewrite struct {
	Model      string // the upstream model
	StoreFalse bool   // write "store": false into a body that leaves it out
	AskUsage   bool   // Chat: stream_options.include_usage = true
	DropWS     bool   // Responses: remove type, stream (and generate) of a WebSocket create, write "stream": true
}

// ReaderOptions set up a Reader.
type ReaderOptions struct {
	StripUsage bool   // Chat: the usage chunk is hidden, since the client did not ask
	Model      string // as requested, for an ending made before upstream named one (Responses)
	// Clean takes what no client may see out of a JSON value of upstream's that an
	// ending of ours repeats; nil: there is nothing to take out.
	Clean   func(raw []byte) []byte
	Choices int64 // Chat: the request's n; the stream is not complete before so many choices have finished. 0 counts as 1
}

// Protocol is one client API. Its functions are pure.
type Protocol struct {
	Name string // "responses", "chat", "messages"; as in a channel's protocol
	Path string // after base_url, e.g. "/responses"
	// Speaks is the channels' protocol that serves it, where that is not Name
	// (embeddings on chat channels, token counting on messages channels).
	Speaks string
	// NoOutput: an answer holds no output tokens, so that the hold has no
	// output bound (embeddings).
	NoOutput bool
	// NamesMaximum: every request has to name a maximum of output tokens, so that
	// it says little about how much is expected (Messages).
	NamesMaximum bool
	// HoldsShown: events held before a failure are shown with it (Responses);
	// otherwise an uncommitted failure is a status and JSON (Chat, Messages).
	HoldsShown bool
	// ParseRequest reads a body. It refuses what docs/contract.md#s10-members
	// refuses, before any upstream call.
	ParseRequest func(body []byte) (Request, *fault.Error)
	// Upstream gives the body that travels up.
	Upstream func(body []byte, rw Rewrite) ([]byte, error)
	// NewReader starts reading a stream.
	NewReader func(ReaderOptions) Reader
	// Answer reads a whole answer that was not streamed. An answer that
	// reports its own failure has Seen.Failed. ErrNotProtocol: no answer of
	// this protocol.
	Answer func(body []byte) (*Observed, error)
	// FailureUsage reads the usage that the body of a refusal (a status, or an
	// answer that is only an error) carries, beside the error or in it: a sign
	// that the request was executed all the same.
	FailureUsage func(body []byte, seen *Observed)
	// Ending appends what an opened SSE stream gets when it ends badly and the
	// gateway is to say so. upstreamError is the type of an upstream error
	// event that has already gone out ("" none), so that it is not said twice.
	Ending func(dst []byte, r Reader, f *fault.Error, errorSent bool) []byte
	// MadeID is the id that an ending gives an answer which upstream never named;
	// nil: endings name none.
	MadeID func(requestID string) string
	// ErrorBody is the JSON body of a failure with a status.
	ErrorBody func(f *fault.Error) []byte
}

// Channel is the protocol of the channels that can serve it.
func (p *Protocol) Channel() string {
	if p.Speaks != "" {
		return p.Speaks
	}
	return p.Name
}

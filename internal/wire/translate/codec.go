package translate

// Codec is one format, both ways. Its functions are pure; decoders and encoders
// of answers are used by one goroutine and live as long as one answer.
type Codec struct {
	Format Format
	// DecodeRequest reads a client's body, which the format's own parser has
	// found to be in order. An error says what cannot be read, by path.
	DecodeRequest func(body []byte) (*Request, error)
	// EncodeRequest writes an upstream's body for a model. Where the report
	// excludes, the body is nil.
	EncodeRequest func(r *Request, model string, f Flags) ([]byte, Report)
	// NewDecoder reads an upstream's answer.
	NewDecoder func() Decoder
	// NewEncoder writes an answer for the client that sent r.
	NewEncoder func(r *Request, id Identity) Encoder
}

// Identity is what the gateway knows of an answer before upstream names it.
type Identity struct {
	ResponseID string // resp_…, chatcmpl-…, msg_… of the client's format
	Model      string // the public model
	Created    int64  // Unix seconds
	Estimate   int64  // input tokens, estimated; for Messages' message_start
	Profile    string // a client profile, or ""

	// What the request was encoded for: names and stop sequences depend on it.
	Upstream Format
	Flags    Flags
	// MaxHeld bounds what an encoder keeps back, in bytes; 0: DefaultMaxHeld.
	MaxHeld int
}

// DefaultMaxHeld is how much an encoder keeps back where nothing else is said.
const DefaultMaxHeld = 8 << 20

// Decoder turns an upstream's answer into events.
type Decoder interface {
	// Event reads one event of a stream: its SSE event name, and its data. The
	// events are valid until the next call.
	Event(name string, data []byte) ([]Event, error)
	// End is what a stream that is complete by its own protocol still owes:
	// closes of what is open, and the stop.
	End() []Event
	// Whole reads an answer that was not streamed.
	Whole(body []byte) ([]Event, error)
}

// Encoder turns events into the client's format.
type Encoder interface {
	// Events writes client events for one event of the answer.
	Events(dst []Out, e Event) []Out
	// Whole is the answer of all events so far, as one that is not streamed.
	Whole() ([]byte, error)
}

// OutClass is what a client event is to the event hold.
type OutClass uint8

// The classes, as protocol.Class has them.
const (
	OutOutput OutClass = iota
	OutLifecycle
	OutHeartbeat
	OutTerminal
	OutFailure
)

// Out is one client event.
type Out struct {
	Class OutClass
	Name  string // of the SSE event; "" on Chat
	Data  []byte
}

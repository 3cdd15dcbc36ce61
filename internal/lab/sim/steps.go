package sim

// class says what a word is for; the order of classes in a script is checked by it.
type class int

const (
	classEvent  class = iota // writes an event (or nothing, where the protocol has none)
	classReply               // writes the head, and the body when it is whole
	classMode                // changes how the following is written
	classTime                // waits
	classEnding              // ends the call
)

// word is one row of the table of words.
type word struct {
	class  class
	main   string   // the field that a bare value after the word stands for
	fields []string // the other fields that it may carry
	needs  string   // the field that it cannot be without
	last   bool     // may be the last step: what follows is the clean end
}

// words is the language. docs/sim.md explains it and a test holds the two together.
var words = map[string]word{
	// lifecycle
	"created":     {main: "id", fields: []string{"model", "usage", "seq", "set", "tier"}},
	"queued":      {main: "id", fields: []string{"seq", "set"}},
	"in_progress": {main: "id", fields: []string{"seq", "set"}},

	// output
	"item":           {main: "kind", fields: []string{"id", "name", "index", "seq", "set"}, needs: "kind"},
	"part":           {main: "kind", fields: []string{"index", "seq", "set"}},
	"text":           {main: "text", fields: []string{"id", "index", "choice", "seq", "set"}},
	"refusal":        {main: "text", fields: []string{"id", "index", "choice", "seq", "set"}},
	"reasoning":      {main: "text", fields: []string{"id", "index", "choice", "seq", "set"}},
	"signature":      {main: "text", fields: []string{"index", "set"}},
	"tool":           {main: "name", fields: []string{"id", "index", "choice", "seq", "set"}, needs: "name"},
	"args":           {main: "args", fields: []string{"id", "index", "choice", "seq", "set"}},
	"progress":       {main: "name", fields: []string{"id", "index", "seq", "set"}, needs: "name"},
	"text_done":      {fields: []string{"seq", "set"}},
	"args_done":      {fields: []string{"seq", "set"}},
	"reasoning_done": {fields: []string{"seq", "set"}},
	"part_done":      {fields: []string{"seq", "set"}},
	"item_done":      {main: "index", fields: []string{"text", "seq", "set"}},
	"huge":           {main: "bytes", needs: "bytes"},

	// ends in the protocol
	"finish":     {main: "finish", fields: []string{"usage", "choice", "set"}},
	"usage":      {main: "usage", fields: []string{"force", "set"}, needs: "usage"},
	"done":       {last: true},
	"completed":  {main: "usage", fields: []string{"finish", "output", "usage_on", "force", "tier", "seq", "set"}, last: true},
	"incomplete": {main: "finish", fields: []string{"usage", "output", "usage_on", "force", "tier", "seq", "set"}, last: true},
	"failed": {main: "code", fields: []string{"message", "error_type", "retryable", "usage", "output", "seq", "set"},
		last: true},
	"error": {main: "code", fields: []string{"message", "error_type", "retryable", "usage", "flat", "seq", "set"},
		last: true},

	// heartbeats and bytes
	"keepalive": {fields: []string{"seq", "set"}},
	"ping":      {fields: []string{"set"}},
	"comment":   {main: "text"},
	"event":     {main: "name", fields: []string{"data"}, needs: "data"},
	"raw":       {main: "text", needs: "text"},

	// whole answers
	"answer": {main: "text", fields: []string{"reasoning", "refusal", "tools", "usage", "id", "model", "finish", "pieces",
		"events", "usage_on", "force", "tier", "for", "output", "set"}, last: true},
	"reply": {class: classReply, main: "status", fields: []string{"headers", "type", "retry_after", "json", "body"}, last: true},
	"fail": {class: classReply, main: "status", fields: []string{"code", "message", "error_type", "retryable", "headers",
		"retry_after", "set"}, needs: "status", last: true},
	"html": {class: classReply, main: "status", fields: []string{"headers", "retry_after"}, last: true},

	// time and bytes
	"wait":  {class: classTime, main: "for", needs: "for"},
	"pause": {class: classMode, main: "at", fields: []string{"for"}, needs: "for"},
	"cut":   {class: classMode, main: "at", fields: []string{"how"}, needs: "how"},
	"split": {class: classMode, main: "bytes", fields: []string{"for"}, needs: "bytes"},
	"drip":  {class: classMode, main: "for", needs: "for"},

	// modes
	"gzip":    {class: classMode},
	"crlf":    {class: classMode},
	"unnamed": {class: classMode},
	"close":   {class: classMode},

	// ends of the connection
	"end":    {class: classEnding, last: true},
	"reset":  {class: classEnding, last: true},
	"fin":    {class: classEnding, last: true},
	"hang":   {class: classEnding, last: true},
	"refuse": {class: classEnding, main: "how", last: true},
}

// aliases lets a reply be written by the field that matters.
var aliases = map[string]string{"status": "reply", "json": "reply", "body": "reply"}

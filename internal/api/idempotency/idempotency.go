// Package idempotency lets a client repeat a POST with the same Idempotency-Key
// and get the same answer: while the request runs by joining its stream from
// the first event, afterwards from what was recorded.
//
// It is not for deciding what a request does, and it is off for requests
// without a key: nothing is ever guessed to be a repeat. It stands between the
// connection and whoever answers, and sees status, headers and bytes alone.
//
// Invariant: of one key of one customer at most one request runs, on all nodes
// together; one that was answered is not run again for a day, whether or not
// its answer could be kept; one that delivered nothing leaves no trace. What is
// held in memory and in the database is bounded.
package idempotency

import (
	"crypto/sha256"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rubicon/internal/store"
	"rubicon/internal/wire/fault"
)

const (
	// Header is what clients send.
	Header = "Idempotency-Key"
	// RepeatedHeader marks an answer that is another one's copy.
	RepeatedHeader = "Idempotent-Replayed"

	maxKey  = 255 // bytes
	keepFor = 24 * time.Hour
)

// The bounds. Beyond them a request runs as ever, but its answer is not kept.
const (
	maxAnswer = 8 << 20   // bytes of one answer
	maxMemory = 256 << 20 // of all that run
	maxStored = 1 << 30   // of all in the database; the oldest go first
)

// Options are what a Keeper is made of.
type Options struct {
	DB   *store.DB
	Node func() string // this process, in the database
	Now  func() time.Time
	// WriteLimit is how long a client may take nothing before it is cut.
	WriteLimit func() time.Duration
	// TimeWithoutClients is how long a request goes on that nobody listens to any more; 0
	// ends it at once.
	TimeWithoutClients func() time.Duration
	Log                *slog.Logger
}

// Keys knows the requests with a key that run on this node, and the answers
// of all.
type Keys struct {
	Options
	memory atomic.Int64 // bytes in the logs of all flights
	stored atomic.Int64 // bytes put into the database since its bound was checked

	mu      sync.Mutex
	flights map[id]*sharedAnswer
}

// New makes a Keeper. Free must have been called for the node if it ran before.
func New(o Options) *Keys { return &Keys{Options: o, flights: map[id]*sharedAnswer{}} }

// id is a key of a customer.
type id struct{ customer, key string }

// Call is a request with a key.
type Call struct {
	Customer, Key string
	RequestID     string
	Digest        [sha256.Size]byte // of what makes two requests the same
}

// Digest is of a request's path and body.
func Digest(path string, body []byte) (d [sha256.Size]byte) {
	h := sha256.New()
	h.Write([]byte(path))
	h.Write([]byte{0})
	h.Write(body)
	h.Sum(d[:0])
	return d
}

// Key reads the header: "" when there is none.
func Key(h http.Header) (string, *fault.Error) {
	values := h.Values(Header)
	if len(values) == 0 {
		return "", nil
	}
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	key := strings.TrimSpace(values[0])
	if len(values) > 1 || key == "" || len(key) > maxKey || strings.ContainsFunc(key, odd) {
		return "", fault.Newf(fault.InvalidRequest, "Idempotency-Key must be given once, as 1 to %d printable ASCII characters.", maxKey).WithParam(Header)
	}
	return key, nil
}

// Stop ends what runs for nobody, with a cause, when the gateway shuts down.
func (k *Keys) Stop(cause error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.flights {
		f.cancel(cause)
	}
}

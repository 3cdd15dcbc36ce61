// Package config reads the YAML configuration into one immutable value.
//
// It is for parsing, defaults and validation. It is not for watching the file,
// opening what the file names, or deciding anything at run time.
//
// Invariants: a *Config that Load or Parse returned is complete (every default
// applied, every reference resolved) and valid, and nobody changes it; a file
// with problems gives all of them at once, each with its path; no error, print
// or encoding shows a secret or an excerpt of the file.
package config

import (
	"fmt"
	"time"

	"rubicon/internal/money/price"
	"rubicon/internal/wire/classify"
)

// Protocols of channels.
const (
	ProtocolResponses = "responses"
	ProtocolChat      = "chat"
	ProtocolMessages  = "messages"
)

// Ways to hand a credential to an upstream.
const (
	AuthBearer  = "bearer"
	AuthXAPIKey = "x-api-key"
	AuthAPIKey  = "api-key"
	AuthNone    = "none"
)

// Values of delivery, on_disconnect, store.sync and state.unknown_ids.
const (
	DeliveryStream   = "stream"
	DeliveryAtomic   = "atomic"
	DisconnectCancel = "cancel"
	DisconnectDrain  = "drain"
	SyncProcess      = "process"
	SyncFull         = "full"
	UnknownRefuse    = "refuse"
	UnknownPass      = "pass"
)

// Config is the whole effective configuration.
type Config struct {
	Listen       string
	TLS          TLS
	Admin        Admin
	Store        Store
	Limits       Limits
	CORS         CORS
	WS           WS
	Timers       Timers
	Replay       Replay
	State        State
	Switch       Switch
	Breaker      Breaker
	Cooldown     Cooldown
	BalancePause time.Duration
	OnDisconnect string // DisconnectCancel or DisconnectDrain
	Delivery     string // DeliveryStream or DeliveryAtomic
	Retention    Retention
	Alerts       Alerts
	Channels     []Channel
	Models       []Model
	// Date is when the file was last changed; zero where it was none. It is no
	// part of the version, because the same file is copied to several nodes.
	Date time.Time `json:"-"`
}

// TLS names the certificate files of the client listener; both or none.
type TLS struct{ Cert, Key string }

// Enabled reports whether the client listener speaks TLS.
func (t TLS) Enabled() bool { return t.Cert != "" }

// Files are the files it names.
func (t TLS) Files() []string {
	if !t.Enabled() {
		return nil
	}
	return []string{t.Cert, t.Key}
}

// Admin is the operator's listener.
type Admin struct {
	Listen    string
	Token     Secret // never empty
	Profiling bool
}

// Store says where records and money live.
type Store struct {
	// URL is sqlite:PATH or postgres://…; a Secret because it may hold a password.
	URL   Secret
	Sync  string // SyncProcess or SyncFull
	Lease time.Duration
	// Spool is the folder for settlements that wait for the database; "":
	// beside the SQLite file, or where the process runs.
	Spool string
	// Wait is how long a start waits for a database that is away; 0: it fails at once.
	Wait time.Duration
}

// Limits are bytes, except those of connections.
type Limits struct {
	RequestBody, Event, HeldBytes, AtomicBytes int64
	Memory                                     int64 // 0: 70 % of what the machine has
	Connections                                int
	ConnectionsPerAddress                      int // 0: a quarter of Connections, of private addresses all
}

// CORS says which pages may call the client API from a browser.
type CORS struct{ Origins []string }

// WS configures the WebSocket transport.
type WS struct {
	Enabled     bool
	Message     int64 // bytes of one inbound message
	Lifetime    time.Duration
	QueuedTurns int
	Memory      int64 // bytes of connection-local state
	Ping        time.Duration
	Origins     []string
}

// Timers are the deadlines of a request; zero is off where a comment says so.
type Timers struct {
	Connect       time.Duration
	Headers       time.Duration // streams: from request written to the status line
	Answer        time.Duration // not streaming: to the whole answer
	FirstEvent    time.Duration // from the status line; see Model.TimersFor
	FirstOutput   time.Duration // from dispatch to the first output event; 0 is off
	Idle          time.Duration // without progress of an opened stream (protocol.Progress)
	EventHold     time.Duration // 0: lifecycle events are not held
	Keepalive     time.Duration // 0 is off
	Write         time.Duration // a client that takes nothing for so long is cut
	Total         time.Duration
	ShutdownGrace time.Duration // global only; 0: no grace
}

// Replay limits the second execution.
type Replay struct {
	Max                int // 0 or 1
	AfterLifecycle     bool
	LocalContinuations bool
	// DefaultStoreFalse: write "store": false into requests that leave it out
	// (default_store: false).
	DefaultStoreFalse bool
}

// State says what happens to ids that are not known to belong to the customer.
type State struct {
	UnknownIDs string // UnknownRefuse or UnknownPass
}

// PassUnknown reports whether requests with unknown ids are routed normally.
func (s State) PassUnknown() bool { return s.UnknownIDs == UnknownPass }

// Switch limits attempts on another route.
type Switch struct {
	Max       int // 0 to 2
	OnTimeout OnTimeout
}

// OnTimeout is how many switches a timeout may cause, by kind; each 0 to 2.
type OnTimeout struct{ ResponsesStream, ChatStream, MessagesStream, NotStreaming int }

// Breaker configures the circuit breaker per channel and upstream model.
type Breaker struct {
	Failures              int
	Window, Open, OpenMax time.Duration
	Rate                  float64 // share of the window's results that must be failures; above 0, at most 1
	Samples               int     // results in the window from which on Rate is asked
	Probes, Successes     int
}

// Cooldown configures what a 429 does to a route, and how long a request waits
// where every route cools.
type Cooldown struct {
	Default, Max time.Duration
	Wait         time.Duration // 0: nobody waits
	WeightFloor  float64       // share of the weight that is kept; above 0, at most 1
}

// Retention says how long records are kept.
type Retention struct{ Requests time.Duration }

// Alerts says where alerts are sent; an empty webhook sends none.
type Alerts struct {
	Webhook Secret // a URL; such URLs often hold a token
	Secret  Secret // signs the body
}

// Channel is one upstream way to serve models.
type Channel struct {
	Name     string
	Protocol string
	BaseURL  string // http or https, no trailing slash, version included
	// Auth is resolved: what the file says, else by protocol, else (without
	// credentials) AuthNone.
	Auth        string
	Credentials []Credential
	Query       SecretMap // keys of some providers travel here
	Headers     SecretMap // names in canonical form
	// Origin is the upstream account; "" means one per credential.
	Origin       string
	AllowPrivate bool
	Alias        string // what customers see; "" means Name
	ChatUsage    bool
	// Rules say how this upstream names failures; they come before those that
	// every channel has.
	Rules []classify.Rule
}

// Credential is one key of a channel.
type Credential struct {
	Name string
	Key  Secret
}

// Model is a public model.
type Model struct {
	Name             string
	Price            price.List
	HoldOutputTokens int64
	Channels         []Candidate
	// Timers are the global ones overlaid by the model's. For an attempt use
	// TimersFor, which knows the protocol's default.
	Timers Timers
	// FirstEventSet: timers.first_event is in the file, globally or here.
	FirstEventSet bool
	Delivery      string // resolved
	// Created is what GET /v1/models says; zero: the file's date, see CreatedOf.
	Created time.Time
}

// Candidate is a channel in its role for one public model.
type Candidate struct {
	Channel       *Channel
	UpstreamModel string // resolved: the public name unless set
	// Weight is the share inside the priority. 0 excludes the candidate: it
	// gets no traffic even when nothing else is left.
	Weight   int
	Priority int // lowest first
	Cost     price.List
}

// CreatedOf is since when a public model is there, as far as one can tell: what
// its configuration says, else the date of the file.
func (c *Config) CreatedOf(m *Model) time.Time {
	if !m.Created.IsZero() {
		return m.Created
	}
	return c.Date
}

// Model returns the public model of that name, or nil.
func (c *Config) Model(name string) *Model {
	for i := range c.Models {
		if c.Models[i].Name == name {
			return &c.Models[i]
		}
	}
	return nil
}

// Channel returns the channel of that name, or nil.
func (c *Config) Channel(name string) *Channel {
	for i := range c.Channels {
		if c.Channels[i].Name == name {
			return &c.Channels[i]
		}
	}
	return nil
}

// PublicName is what customers see of the channel.
func (c *Channel) PublicName() string {
	if c.Alias != "" {
		return c.Alias
	}
	return c.Name
}

// Format prints the name only, whatever the verb: with a wrong verb fmt would go
// through the fields without asking them.
func (c Channel) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "channel %s", c.Name) }

// OriginOf is the upstream account behind the channel with one of its
// credentials ("" for a keyless channel).
func (c *Channel) OriginOf(credential string) string {
	if c.Origin != "" {
		return c.Origin
	}
	return c.Name + "/" + credential
}

// Package audit turns the contract on any gateway: two scripted providers stand
// behind it, a client in front of it, and what both sides saw is judged.
//
// Two suites. Faults plays sixteen failures that providers have and asks what a
// client gets out of them; Contract asks for every promise of the stream
// contract (docs/contract.md) by itself. docs/audit.md tells how to run them and to read them.
//
// It knows nothing of the gateway behind the URL and asks it nothing but what
// any client may ask. It is no load test and no proof: it sees the cases that
// it plays.
//
// Invariants: a judgement is a pure function of what was seen; whatever the
// audit holds against a gateway names the fact and both sides' numbers.
package audit

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Suite is a set of cases.
type Suite string

// The suites.
const (
	Faults   Suite = "faults"
	Contract Suite = "contract"
)

// Surface is the API that the client speaks.
type Surface string

// The surfaces. Socket is Responses over WebSocket.
const (
	Chat      Surface = "chat"
	Responses Surface = "responses"
	Messages  Surface = "messages"
	Socket    Surface = "responses.ws"
)

// Options say what is audited and how.
type Options struct {
	Suite   Suite   // default Contract
	Surface Surface // default Chat
	Target  string  // the gateway's URL, with or without /v1
	// Model is what the client asks for; {case} in it becomes the case's name,
	// so that no case feels the failures of another. Default DefaultModel.
	Model  string
	Key    string      // the client's key at the gateway
	Header http.Header // more headers of the client
	// Listen is where the scripted providers listen: primary, fallback.
	Listen [2]string
	Fast   bool     // a tenth of all waits; the target's timers must be a tenth too
	Only   []string // names of cases; empty: all
	Pause  time.Duration
	Seed   string       // part of every request's mark; default: the clock
	Each   func(Result) // called when a case was judged; may be nil

	// The outside world; zero values are the real one.
	Dial        func(ctx context.Context, network, addr string) (net.Conn, error)
	OpenAddress func(network, addr string) (net.Listener, error)
}

// Defaults of Options.
const (
	DefaultModel    = "audit-{case}"
	DefaultPrimary  = "127.0.0.1:9101"
	DefaultFallback = "127.0.0.1:9102"
)

// The providers' keys, as the setup gives them to the target; none may ever
// reach a client.
const (
	primaryKey  = "sk-audit-primary-5b2f81c0d9"
	fallbackKey = "sk-audit-fallback-7e13a6f4c2"
)

// fastFactor is what Fast divides by.
const fastFactor = 10

func (o Options) withDefaults() (Options, error) {
	if o.Suite == "" {
		o.Suite = Contract
	}
	if o.Surface == "" {
		o.Surface = Chat
	}
	if o.Model == "" {
		o.Model = DefaultModel
	}
	for i, addr := range [...]string{DefaultPrimary, DefaultFallback} {
		if o.Listen[i] == "" {
			o.Listen[i] = addr
		}
	}
	if o.Seed == "" {
		o.Seed = fmt.Sprintf("%x", time.Now().UnixNano())
	}
	if o.OpenAddress == nil {
		o.OpenAddress = net.Listen
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	return o, o.check()
}

// Check says what is wrong with the options, before anything is played.
func (o Options) Check() error {
	o, err := o.withDefaults()
	if err == nil {
		_, err = o.scenes()
	}
	return err
}

func (o Options) check() error {
	switch o.Suite {
	case Faults, Contract:
	default:
		return fmt.Errorf("there is no suite %q; there are faults and contract", o.Suite)
	}
	switch o.Surface {
	case Chat, Responses, Messages, Socket:
	default:
		return fmt.Errorf("there is no surface %q; there are chat, responses, responses.ws and messages", o.Surface)
	}
	u, err := url.Parse(o.Target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("the target must be a URL like http://127.0.0.1:8080, not %q", o.Target)
	}
	return nil
}

// base is the target's URL without /v1.
func (o Options) base() string {
	return strings.TrimSuffix(strings.TrimRight(o.Target, "/"), "/v1")
}

// scale is a wait as this run plays it.
func (o Options) scale(d time.Duration) time.Duration {
	if o.Fast {
		return d / fastFactor
	}
	return d
}

// modelOf is the model that a case asks for.
func (o Options) modelOf(name string) string { return strings.ReplaceAll(o.Model, "{case}", name) }

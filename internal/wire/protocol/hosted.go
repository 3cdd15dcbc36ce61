package protocol

import (
	"strings"

	"rubicon/internal/wire/jsonscan"
)

// An answer that carries more kinds of hosted calls than these, or longer names,
// is not counted further: what an upstream sends must not grow without bound.
const (
	maxHosted = 64
	maxName   = 64 // bytes of a hosted call's name
)

// Calls counts the hosted calls of one answer. The provider's own count in the
// usage is the one that it bills (a failed search is free); where it gives none,
// the calls that the answer shows are counted.
type Calls struct {
	told map[string]bool // by name: the usage counts it
}

// Made counts one call that the answer shows.
func (c *Calls) Made(seen *Observed, name string) {
	if name != "" && !c.told[name] {
		seen.Call(name, seen.Hosted[name]+1)
	}
}

// Told takes in the provider's own count of all calls of a name so far. One that
// is no count is kept as it is: price takes it for an anomaly.
func (c *Calls) Told(seen *Observed, name string, n int64) {
	if name == "" || len(name) > maxName || len(c.told) >= maxHosted && !c.told[name] {
		return
	}
	if c.told == nil {
		c.told = map[string]bool{}
	}
	c.told[name] = true
	delete(seen.Hosted, name)
	seen.Call(name, n)
}

// ToolDetails is the member of a usage in which xAI counts the calls of its
// tools, on all of its APIs.
const ToolDetails = "server_side_tool_usage_details"

// DetailedTool is the tool that a member of ToolDetails counts: NAME_calls, or
// what was fetched under its own name.
func DetailedTool(member []byte) string { return strings.TrimSuffix(string(member), "_calls") }

// ToldIn takes in the ToolDetails of a usage, if it has them.
func (c *Calls) ToldIn(usage []byte, seen *Observed) {
	m := jsonscan.Object(jsonscan.Get(usage, ToolDetails))
	for m.Next() {
		if n, ok := Count(m.Value()); ok {
			c.Told(seen, DetailedTool(m.Key()), n)
		}
	}
}

// Call counts hosted calls: a provider's count of its own is cumulative, so the
// largest holds, unless one is no count at all.
func (s *Observed) Call(name string, n int64) {
	if have := s.Hosted[name]; n > have && have >= 0 || n < 0 {
		s.call(name, n)
	}
}

func (s *Observed) call(name string, n int64) {
	s.Ran = true
	if _, known := s.Hosted[name]; !known && (len(s.Hosted) >= maxHosted || len(name) > maxName) {
		return
	}
	if s.Hosted == nil {
		s.Hosted = map[string]int64{}
	}
	s.Hosted[name] = n
}

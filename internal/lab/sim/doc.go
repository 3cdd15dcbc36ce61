// Package sim is the scripted provider: an upstream that does exactly what a script says, byte by byte.
//
// It is for tests, the demo, the audit and anybody who wants to see what a client or a gateway does when
// a provider fails in a given way. It is no mock of a gateway's interfaces and no load generator: it speaks
// HTTP/1.1 over a listener (real TCP or memnet) for all three protocols and keeps what it received.
//
// A script belongs to an upstream model name and holds a list of calls, each a list of steps; the n-th call
// for that model plays the n-th list, the last one repeats. Steps are data (Step), written with the
// constructors of this package or in YAML (Load); docs/sim.md describes the language.
//
// Invariant: one event word writes exactly one event, nothing is on the wire that no step asked for, and the
// same calls in the same order get the same bytes (ids come from counters, times from the bubble's clock).
package sim

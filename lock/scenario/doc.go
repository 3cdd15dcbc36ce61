// Package scenario runs one scenario of the behaviour lock: the whole gateway
// over an in-memory network inside a synctest bubble, scripted providers behind
// it, clients and an operator in front of it, and everything that happened
// written down.
//
// It is for the lock and its mutants. It holds no rule of the gateway and asks
// nothing of its inside: what it records was seen by a client, by a provider, or
// read through the admin API. How a scenario file is written stands in
// lock/README.md.
//
// Invariant: the same scenario gives the same bytes, whatever else the machine
// does meanwhile. Nothing of a recording comes from the wall clock, from a map's
// order or from a random source; ids are told by their role (req_1, tx_2).
package scenario

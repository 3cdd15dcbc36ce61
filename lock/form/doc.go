// Package form is how a recording is written down, so that a person can review
// it: facts stand one to a line, and objects that nearly every recording holds
// show only in what they differ from the usual one.
//
// It is not for what is in a recording (package scenario), nor for telling two
// of them apart (package difference).
//
// Invariant: nothing is lost. Expand gives back, byte for byte, what Shorten
// was given, members' order and the spelling of numbers included.
package form

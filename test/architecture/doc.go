// Package architecture holds tests of the repository itself: rules about its
// documents and its packages that no compiler checks. It has no other code.
//
// Invariant: a test here reads files and needs neither git nor a network, so that
// it gives the same answer in a fresh clone.
package architecture

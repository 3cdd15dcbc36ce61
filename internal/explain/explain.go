// Package explain tells in words what became of a request: the route, the
// attempts, why the gateway repeated or did not, and who paid what.
//
// It is for text that a person reads, in `rubicon explain` and in the console.
// It is not for reading records (package journal) nor for deciding anything.
//
// Invariant: it says only what the record says, and it renders every record,
// also one with words that this version does not know.
package explain

import (
	"rubicon/internal/journal"
	"rubicon/internal/ledger"
)

// Text lays out a whole record. Transactions are the request's own, for the
// operator; nil leaves the postings out.
func Text(r journal.Record, transactions []ledger.Transaction) string { panic("not yet") }

// Sentence says in one plain sentence how the request ended and who paid.
func Sentence(r journal.Record) string { panic("not yet") }

// Plan lays out what would be chosen now for a public model.
func Plan(publicModel string, d journal.Decision) string { panic("not yet") }

// Reason says a verdict's reason, a candidate's exclusion or a failure class
// in words; a word it does not know comes back as it is.
func Reason(word string) string { panic("not yet") }

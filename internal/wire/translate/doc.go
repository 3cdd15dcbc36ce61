// Package translate is the neutral form between the wire formats of Responses,
// Chat Completions and Messages: what a request asks for, and what an answer
// says, in values that each format's codec (the packages below this one) reads
// and writes. A translated request is decoded by one codec and encoded by
// another; there is no code for a pair.
//
// It is not for requests whose upstream speaks the client's own format: those
// travel as bytes and never come here. It opens no connection, chooses no route
// and knows no money.
//
// Invariants: a translation is a function of the request and the flags alone,
// and gives the same bytes each time; numbers and tool arguments keep their
// text; nothing is left out of a request without a Note or an Exclusion that
// tells it; no client event is output before one upstream event was.
package translate

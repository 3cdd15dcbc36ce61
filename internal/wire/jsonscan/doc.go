// Package jsonscan reads and edits JSON as raw bytes: it checks a document, walks the members of an object or the
// elements of an array, reads scalars, and replaces top-level members while every other byte stays as it was.
//
// It is for the paths where bodies and events must travel untouched and where an allocation per event is too much. It is
// not a decoder into Go values (use encoding/json where the shape matters and the path is cold) and does not re-format.
//
// Invariant: a document is accepted exactly when encoding/json.Valid accepts it, except that nesting deeper than MaxDepth
// is refused; whatever slice is handed out as a value has been checked in full. Walking all members of a document to a nil
// Err has checked the whole document. Inputs are never written to; results alias them unless said otherwise.
package jsonscan

// Package sse reads and writes text/event-stream, the framing of the WHATWG HTML standard (section 9.2).
//
// It is for relaying: a Frame carries the record's bytes as they came, comments, ids, unknown fields and spacing included,
// beside its event name and data. It is not a client: it does not reconnect, keep last event ids or look into the data.
//
// Invariants: how the bytes were cut into reads never changes the frames; a frame is handed out as soon as its last byte is
// there; work is linear and memory bounded in the size of one record; the steady state allocates nothing.
package sse

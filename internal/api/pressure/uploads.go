package pressure

import "sync"

// Uploads counts what is in memory of requests that are not whole yet, or not
// looked at. They cost their senders nothing, so that each customer and each
// address has a share of the memory for them, and so have all together.
type Uploads struct {
	memory func() int64

	mu    sync.Mutex
	bytes map[holder]int64
}

// NewUploads makes Uploads under which nothing is being sent. memory is the
// process's limit, 0 for none.
func NewUploads(memory func() int64) *Uploads {
	return &Uploads{memory: memory, bytes: map[holder]int64{}}
}

// holder is somebody with a share.
type holder struct {
	kind Share
	name string
}

// Share says whose share it is.
type Share string

// The shares. An address can be a proxy's, and stand for all clients.
const (
	OfCustomer Share = "customer"
	OfAddress  Share = "address"
	OfAll      Share = "all"
)

// share is how much of limit bytes of memory a holder's uploads may take. One
// request of the largest size always fits.
func (s Share) of(limit, largest int64) int64 {
	part := limit
	switch s {
	case OfCustomer:
		part = limit / 4
	case OfAddress:
		part = limit / 2
	case OfAll:
		part = limit / 4 * 3
	}
	return max(part, largest)
}

// Upload is one request on its way in. It is ended once, by one goroutine at a
// time; nil is one that is not counted.
type Upload struct {
	u       *Uploads
	holders [3]holder
	bytes   int64
}

// Begin counts a request of a customer that comes from a remote address. nil
// Uploads count nothing.
func (u *Uploads) Begin(customer, remote string) *Upload {
	if u == nil {
		return nil
	}
	return &Upload{u: u, holders: [3]holder{{OfCustomer, customer}, {OfAddress, Address(remote)}, {OfAll, ""}}}
}

// Hold says that the request holds so many bytes now, of at most largest. It
// names the share that is used up, if one is; then it holds what it held.
func (r *Upload) Hold(bytes, largest int64) (Share, bool) {
	if r == nil || bytes <= r.bytes {
		return "", true
	}
	r.u.mu.Lock()
	defer r.u.mu.Unlock()
	more, limit := bytes-r.bytes, r.u.memory()
	for _, h := range r.holders {
		if limit > 0 && r.u.bytes[h]+more > h.kind.of(limit, largest) {
			return h.kind, false
		}
	}
	for _, h := range r.holders {
		r.u.bytes[h] += more
	}
	r.bytes = bytes
	return "", true
}

// End gives everything back. Afterwards it does nothing.
func (r *Upload) End() {
	if r == nil || r.bytes == 0 {
		return
	}
	r.u.mu.Lock()
	defer r.u.mu.Unlock()
	for _, h := range r.holders {
		if r.u.bytes[h] -= r.bytes; r.u.bytes[h] == 0 {
			delete(r.u.bytes, h)
		}
	}
	r.bytes = 0
}

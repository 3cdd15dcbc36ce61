package httpapi

import (
	"errors"
	"fmt"
	"io"

	"rubicon/internal/api/pressure"
	"rubicon/internal/wire/fault"
)

// errTooLarge: more came than a body may have.
var errTooLarge = errors.New("the body is too large")

// incoming is a body as it comes over the wire: bounded, and at its pace.
type incoming struct {
	from io.Reader
	pace *pressure.Pace
	most int64
	got  int64
	err  error // what ended it; decoders have words of their own
}

func (i *incoming) Read(p []byte) (int, error) {
	n, err := i.from.Read(p)
	i.pace.Took(n)
	if i.got += int64(n); i.got > i.most {
		err = errTooLarge
	}
	if err != nil {
		i.err = err
	}
	return n, err
}

// buffer takes a body in. It grows with what arrives and not by what was
// announced, because an announcement costs its sender nothing.
type buffer struct {
	most     int64
	expected int64 // its announced size; not positive: unknown
	extra    int64 // what decoding takes beside it
	upload   *pressure.Upload
}

// fill reads everything.
func (b *buffer) fill(in io.Reader) ([]byte, error) {
	var body []byte
	for {
		if len(body) == cap(body) {
			var err error
			if body, err = b.grow(body); err != nil {
				return nil, err
			}
		}
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > b.most:
			return nil, errTooLarge
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, err
		}
	}
}

// grow doubles the room. Where what is missing fits into it, it is made to
// measure, with a byte more in which the end is found.
func (b *buffer) grow(body []byte) ([]byte, error) {
	size := max(2*int64(cap(body)), firstRead)
	if b.expected > int64(len(body)) && b.expected < size {
		size = b.expected + 1
	}
	size = min(size, b.most+1)
	if share, ok := b.upload.Hold(size+b.extra, b.most+1+b.extra); !ok {
		return nil, &shareUsedUp{share}
	}
	return append(make([]byte, 0, size), body...), nil
}

// shareUsedUp: the share of the memory for what is being uploaded is taken.
type shareUsedUp struct{ share pressure.Share }

func (e *shareUsedUp) Error() string {
	return fmt.Sprintf("uploads: the share of %s is used up", e.share)
}

func (e *shareUsedUp) fault() *fault.Error { return UploadFault(e.share) }

// UploadFault is what a client is told whose request found no room.
func UploadFault(share pressure.Share) *fault.Error {
	if share == pressure.OfCustomer {
		return fault.New(fault.ConcurrencyLimit, "As much is being sent of this customer's requests as may be on its way at the same time. Send them one after the other.")
	}
	return fault.New(fault.Overloaded, "As many request bodies are on their way as the gateway takes.")
}

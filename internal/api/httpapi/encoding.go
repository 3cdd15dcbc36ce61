package httpapi

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/zstd"

	"rubicon/internal/wire/fault"
)

// maxWindow is how far back a zstd stream may refer, the 8 MiB that RFC 8878
// wants every decoder to know. The decoder takes that memory at a word of the
// stream's, so that it counts from the start.
const maxWindow = 8 << 20

// encodings are the encodings of a body that are read.
var encodings = [...]struct {
	names  []string
	memory int64 // what decoding takes
	open   func(io.Reader) (io.ReadCloser, error)
}{
	{[]string{"gzip", "x-gzip"}, 64 << 10, openGzip},
	{[]string{"zstd"}, maxWindow + 1<<20, openZstd},
}

func openGzip(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }

func openZstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// plain is a body on its way through its decoder, if it has one.
type plain struct {
	io.ReadCloser
	name   string
	coded  bool
	memory int64
}

// decode gives the body as it was before it was encoded. The decoder is opened
// with the first read, because it reads at once.
func decode(h http.Header, raw io.Reader) (*plain, *fault.Error) {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ",")))
	if coding == "" || coding == "identity" {
		return &plain{ReadCloser: io.NopCloser(raw), name: "as it is"}, nil
	}
	for _, e := range encodings {
		for _, name := range e.names {
			if name == coding {
				return &plain{ReadCloser: &opening{raw: raw, open: e.open}, name: name, coded: true, memory: e.memory}, nil
			}
		}
	}
	return nil, fault.Newf(fault.UnsupportedEncoding, "Content-Encoding %q is not read here; send the body as it is, or as gzip or zstd.", fault.Clip(coding))
}

// opening opens a decoder when its first byte is wanted.
type opening struct {
	raw  io.Reader
	open func(io.Reader) (io.ReadCloser, error)
	in   io.ReadCloser
}

func (o *opening) Read(p []byte) (n int, err error) {
	if o.in == nil {
		in, err := o.open(o.raw)
		if err != nil {
			return 0, err
		}
		o.in = in
	}
	return o.in.Read(p)
}

func (o *opening) Close() error {
	if o.in == nil {
		return nil
	}
	return o.in.Close()
}

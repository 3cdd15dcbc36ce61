package upstream

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func TestPayload(t *testing.T) {
	for _, body := range []string{"", "x", string(bytes.Repeat([]byte("0123456789"), 1000))} {
		if err := iotest.TestReader(newPayload([]byte(body)), []byte(body)); err != nil {
			t.Errorf("%d bytes: %v", len(body), err)
		}
	}
	p := newPayload([]byte("abc"))
	if _, err := p.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil || p.bytes.Load() != nil {
		t.Errorf("the bytes are kept: %v", err)
	}
	if _, err := p.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("after Close: %v", err)
	}
}

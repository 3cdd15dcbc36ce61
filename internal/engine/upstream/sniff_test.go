package upstream

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestSniffed(t *testing.T) {
	const other = "x"
	for _, c := range []struct {
		head   string
		stream bool
	}{
		{"data: {}\n\n", true},
		{"data:{}\n\n", true},
		{"data\n\n", true},
		{"event: response.created\ndata: {}\n\n", true},
		{"id: 1\n", true},
		{"retry: 10\r\n", true},
		{": PROCESSING\n\n", true},
		{"\n\r\n\r\ndata: x", true},
		{"\ufeffdata: x", true},
		{"", false},
		{"dat", false},
		{"\xef\xbb", false},
		{"\n\n", false},
		{strings.Repeat("\n", maxSniff) + "data: x\n\n", false},
		{`{"data": 1}`, false},
		{" data: x", false},
		{`"data"`, false},
		{"[]", false},
		{"<!DOCTYPE html>", false},
		{"Data: x", false},
		{"error: no\n", false},
		{"data is missing", false},
		{"dates: x", false},
	} {
		for _, in := range []io.Reader{strings.NewReader(c.head + other), iotest.OneByteReader(strings.NewReader(c.head + other)),
			iotest.DataErrReader(strings.NewReader(c.head + other))} {
			if c.head == "dat" || c.head == "\xef\xbb" || c.head == "" {
				in = strings.NewReader(c.head)
			}
			body, stream, err := sniffed(in)
			if stream != c.stream || err != nil {
				t.Errorf("%q: stream %v, %v", c.head, stream, err)
			}
			all, err := io.ReadAll(body)
			if got := strings.TrimSuffix(string(all), other); got != c.head || err != nil {
				t.Errorf("%q came back as %q, %v", c.head, got, err)
			}
		}
	}
}

func TestSniffedBreaks(t *testing.T) {
	broken := errors.New("broken")
	for head, wantStream := range map[string]bool{"": false, "da": false, "data: {}": true} {
		body, stream, err := sniffed(io.MultiReader(strings.NewReader(head), iotest.ErrReader(broken)))
		if stream != wantStream || !stream && err != broken {
			t.Errorf("%q: stream %v, %v", head, stream, err)
		}
		if all, err := io.ReadAll(body); string(all) != head || err != broken {
			t.Errorf("%q came back as %q, %v", head, all, err)
		}
	}
}

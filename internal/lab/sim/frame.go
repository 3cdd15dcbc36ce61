package sim

import (
	"fmt"
	"net/http"
	"strings"
)

// frame is one record of an event stream, or raw bytes.
type frame struct {
	name    string // event name; empty: none
	data    string // may have several lines
	comment bool   // data is a comment
	raw     bool   // data goes out as it is
}

// style is how frames are written.
type style struct {
	crlf    bool
	unnamed bool
}

// encode gives the bytes of a frame, its blank line included.
func (st style) encode(f frame) []byte {
	if f.raw {
		return []byte(f.data)
	}
	eol := "\n"
	if st.crlf {
		eol = "\r\n"
	}
	var b strings.Builder
	b.Grow(len(f.data) + 64)
	if f.comment {
		b.WriteString(": " + f.data + eol + eol)
		return []byte(b.String())
	}
	if f.name != "" && !st.unnamed {
		b.WriteString("event: " + f.name + eol)
	}
	for line := range strings.SplitSeq(f.data, "\n") {
		b.WriteString("data: " + line + eol)
	}
	b.WriteString(eol)
	return []byte(b.String())
}

// htmlPage is what a proxy on the way answers instead of the provider.
func htmlPage(status int) []byte {
	title := fmt.Sprintf("%d %s", status, http.StatusText(status))
	return fmt.Appendf(nil, "<!DOCTYPE html>\n<html><head><title>%[1]s</title></head>\n"+
		"<body><center><h1>%[1]s</h1></center><hr><center>proxy</center></body></html>\n", title)
}

package upstream

import (
	"bytes"
	"io"
	"slices"
)

// maxSniff is how many bytes may come before the first one that decides.
const maxSniff = 1 << 10

// streamFields are the fields of an event stream.
var streamFields = [...]string{"data", "event", "id", "retry"}

// sniffed reads as much of a body as is needed to decide whether it is an event stream, and
// gives the body back as it was. Servers and proxies label streams as
// text/plain, application/octet-stream, application/x-ndjson or
// application/json; what is JSON, HTML or anything else stays that.
func sniffed(r io.Reader) (body io.Reader, isStream bool, err error) {
	head := make([]byte, 0, maxSniff)
	for len(head) < cap(head) && err == nil {
		var n int
		n, err = r.Read(head[len(head):cap(head)])
		head = head[:len(head)+n]
		if stream, told := looksLikeStream(head); told {
			isStream = stream
			break
		}
	}
	body = io.MultiReader(bytes.NewReader(head), r)
	if err != nil {
		body = io.MultiReader(bytes.NewReader(head), failing{err})
	}
	if isStream || err == io.EOF {
		err = nil
	}
	return body, isStream, err
}

// failing is a body that ended with an error already.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// looksLikeStream reports whether a body that begins like this is an event
// stream: its first line that is not blank is a comment or one of the fields.
// known is false while it may still become either.
func looksLikeStream(head []byte) (stream, known bool) {
	const mark = "\xef\xbb\xbf"
	if len(head) < len(mark) && bytes.HasPrefix([]byte(mark), head) {
		return false, false
	}
	line := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(mark)), "\r\n")
	end := bytes.IndexAny(line, ":\r\n")
	if end < 0 {
		could := slices.ContainsFunc(streamFields[:], func(f string) bool { return bytes.HasPrefix([]byte(f), line) })
		return false, !could
	}
	return end == 0 || slices.Contains(streamFields[:], string(line[:end])), true
}

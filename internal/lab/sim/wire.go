package sim

import (
	"compress/gzip"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sort"
	"strings"
	"time"
)

// The ways in which playing stops before the last step. None is a failure of the provider.
var (
	errCallerLeft = errors.New("the peer left")
	errEnded      = errors.New("the script ended the connection")
	errClean      = errors.New("the script cut the body with a clean end")
)

// wire writes one answer: the head, the body in the pieces that the script wants, the end.
type wire struct {
	conn net.Conn
	peer *caller

	head    bool // written
	length  bool // the body's length was said; otherwise it is chunked
	noBody  bool // the answer to HEAD
	closing bool // the connection ends with this answer, and the head says so

	zip    *gzip.Writer
	zipped bool

	piece int           // size of the pieces; 0: as they come
	gap   time.Duration // after each piece
	marks []mark        // by position
	sent  int64         // bytes of the body
}

// mark is something that happens once so many bytes of the body were written.
type mark struct {
	at   int64
	stop time.Duration
	cut  string
}

// addMark remembers a pause or cut; a position that has passed counts from now.
func (w *wire) addMark(m mark) {
	w.marks = append(w.marks, m)
	sort.SliceStable(w.marks, func(i, k int) bool { return w.marks[i].at < w.marks[k].at })
}

// writeHead writes status line and headers. A length below zero is a chunked body.
func (w *wire) writeHead(status int, header http.Header, length int) error {
	w.head, w.length = true, length >= 0
	if w.length {
		header.Set("Content-Length", fmt.Sprint(length))
	} else {
		header.Set("Transfer-Encoding", "chunked")
	}
	if w.zipped {
		header.Set("Content-Encoding", "gzip")
	}
	if w.closing {
		header.Set("Connection", "close")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %03d %s\r\n", status, http.StatusText(status))
	names := make([]string, 0, len(header))
	for name := range header {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		for _, v := range header[name] {
			fmt.Fprintf(&b, "%s: %s\r\n", name, v)
		}
	}
	b.WriteString("\r\n")
	return w.put([]byte(b.String()))
}

// write adds to the body, cut into pieces where the script or a mark wants it.
func (w *wire) write(body []byte) error {
	if w.noBody {
		return nil
	}
	if w.zip != nil {
		if _, err := w.zip.Write(body); err != nil {
			return err
		}
		return w.zip.Flush() // an event is on the wire when its step is done
	}
	return w.writePieces(body)
}

func (w *wire) writePieces(body []byte) error {
	for {
		if err := w.passMarks(); err != nil || len(body) == 0 {
			return err
		}
		n := len(body)
		if w.piece > 0 {
			n = min(n, w.piece)
		}
		if len(w.marks) > 0 {
			n = min(n, int(w.marks[0].at-w.sent))
		}
		if err := w.put(w.frame(body[:n])); err != nil {
			return err
		}
		w.sent += int64(n)
		body = body[n:]
		if w.piece > 0 {
			if err := w.peer.sleep(w.gap); err != nil {
				return err
			}
		}
	}
}

// passMarks does what is due at this position.
func (w *wire) passMarks() error {
	for len(w.marks) > 0 && w.marks[0].at <= w.sent {
		m := w.marks[0]
		w.marks = w.marks[1:]
		if m.cut != "" {
			return w.cut(m.cut)
		}
		if err := w.peer.sleep(m.stop); err != nil {
			return err
		}
	}
	return nil
}

func (w *wire) frame(p []byte) []byte {
	if w.length {
		return p
	}
	return fmt.Appendf(nil, "%x\r\n%s\r\n", len(p), p)
}

func (w *wire) put(p []byte) error {
	if _, err := w.conn.Write(p); err != nil {
		return errCallerLeft
	}
	return nil
}

// end ends the call in one of the ways of the language. The clean end gives nil when the connection stays usable;
// everything else is errEnded or errGone.
func (w *wire) end(how string) error {
	switch how {
	case "reset":
		w.reset()
		return errEnded
	case "fin":
		w.conn.Close()
		return errEnded
	case "hang":
		return w.peer.sleep(-1)
	}
	return w.finish()
}

// cut ends the call in the middle of its body. A body whose length was said has no clean end but its own.
func (w *wire) cut(how string) error {
	w.zip = nil
	if how == "end" && w.length {
		how = "fin"
	}
	if err := w.end(how); err != nil {
		return err
	}
	return errClean
}

// finish writes what a clean end needs.
func (w *wire) finish() error {
	if w.zip != nil {
		zip := w.zip
		w.zip = nil
		if err := zip.Close(); err != nil {
			return err
		}
	}
	if w.head && !w.length && !w.noBody {
		if err := w.put([]byte("0\r\n\r\n")); err != nil {
			return err
		}
	}
	if w.closing {
		w.conn.Close()
		return errEnded
	}
	return nil
}

// reset closes with a TCP reset, as far as the connection can: below TLS, the socket is reset.
func (w *wire) reset() { resetConn(w.conn) }

func resetConn(c net.Conn) {
	inner := c
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		inner = t.NetConn()
	}
	if l, ok := inner.(interface{ SetLinger(int) error }); ok {
		_ = l.SetLinger(0) // a closed connection cannot be reset any more, which is fine
	}
	inner.Close()
}

// startGzip makes everything that follows the head compressed.
func (w *wire) startGzip() {
	w.zip = gzip.NewWriter(pieceWriter{w})
}

// pieceWriter lets the compressor write into the body.
type pieceWriter struct{ w *wire }

func (p pieceWriter) Write(b []byte) (int, error) {
	if err := p.w.writePieces(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// gzipped compresses a whole body.
func gzipped(body []byte) []byte {
	var b strings.Builder
	z := gzip.NewWriter(&b)
	_, _ = z.Write(body) // a strings.Builder does not fail
	_ = z.Close()
	return []byte(b.String())
}

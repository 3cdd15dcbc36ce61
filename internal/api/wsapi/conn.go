package wsapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"rubicon/internal/api/httpapi"
	"rubicon/internal/api/pressure"
	"rubicon/internal/engine/turn"
	"rubicon/internal/wire/fault"
)

// conn is one connection.
type conn struct {
	*Handler
	ws         *websocket.Conn
	wire       *clientSocket
	peer       clientInfo
	maxMessage int               // bytes of a message
	stop       func(cause error) // ends the connection's context

	out          frameWriter
	queue        queue
	pulse        pinger
	memory       memory // of the goroutine that works the queue off
	uploading    atomic.Bool
	lifetimeTold bool // a turn was ended with the connection's lifetime; of that goroutine too
}

// The causes for which a connection ends, beside those of package turn.
var (
	errClientLeft = errors.New("the client left")
	errNotRead    = errors.New("the client takes nothing")
	errSlow       = errors.New("a message did not come in time")
	errPanic      = errors.New("panic")
)

// closeTime bounds what is still written to a connection that ends, and the
// wait for its client to agree.
const closeTime = 5 * time.Second

// serve is the life of a connection. Whatever ends its context ends it.
func (c *conn) serve(ctx context.Context) {
	ended := make(chan struct{})
	context.AfterFunc(ctx, func() { // waited for below
		defer close(ended)
		defer c.guard()
		c.end(ctx)
	})
	c.startPings(ctx)
	c.stop(c.read(ctx))
	<-ended
}

// guard turns a panic of one connection into its end. net/http guards its
// handlers; these goroutines are ours.
func (c *conn) guard() {
	if p := recover(); p != nil {
		c.Log.Error("panic on a connection", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		c.stop(errPanic)
	}
}

// read takes frames in until the client leaves or the socket is closed; it says
// why it ended. It never waits for a turn, so that it sees a client leave.
func (c *conn) read(ctx context.Context) (cause error) {
	defer c.guard()
	// The library would close the socket when a context ends, and conn.end does
	// that in its own time.
	reading := context.WithoutCancel(ctx)
	for {
		typ, r, err := c.ws.Reader(reading)
		if err != nil {
			return fmt.Errorf("%w: %w", errClientLeft, err)
		}
		c.uploading.Store(true)
		m, f, err := c.message(typ, r)
		c.uploading.Store(false)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			m.upload.End()
			return errSlow
		case err != nil:
			m.upload.End()
			return fmt.Errorf("%w: %w", errClientLeft, err)
		case f != nil:
			c.refuse(f)
		default:
			c.frame(ctx, m)
		}
	}
}

// firstRead is the first room for a message.
const firstRead = 4 << 10

// message reads one message, bounded in time. The library ends it at ws.message
// and closes with 1009. Binary ones are read away, and so are those for which
// there is no room.
func (c *conn) message(typ websocket.MessageType, r io.Reader) (create, *fault.Error, error) {
	in := &paced{from: r, pace: pressure.NewPace(c.wire, c.Config().Timers.Write, 0)}
	defer in.pace.End()
	if typ != websocket.MessageText {
		_, err := io.Copy(io.Discard, in)
		return create{}, fault.New(fault.UnsupportedEvent, "Binary frames are not supported; send response.create as one text frame."), err
	}
	m := create{upload: c.Uploads.Begin(c.peer.principal.Customer.ID, c.peer.remote)}
	share, err := c.fill(&m, in)
	if share == "" || err != nil {
		return m, nil, err
	}
	m.upload.End()
	_, err = io.Copy(io.Discard, in)
	return create{}, httpapi.UploadFault(share), err
}

// fill reads a message, as far as there is room for it: else it names the share
// that is used up.
func (c *conn) fill(m *create, in io.Reader) (used pressure.Share, err error) {
	most := c.maxMessage + 1
	for {
		if len(m.body) == cap(m.body) {
			size := min(max(2*cap(m.body), firstRead), max(most, len(m.body)+1))
			if share, ok := m.upload.Hold(int64(size), int64(most)); !ok {
				return share, nil
			}
			m.body = append(make([]byte, 0, size), m.body...)
		}
		n, err := in.Read(m.body[len(m.body):cap(m.body)])
		m.body = m.body[:len(m.body)+n]
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
	}
}

// paced is a message as it comes.
type paced struct {
	from io.Reader
	pace *pressure.Pace
}

func (p *paced) Read(b []byte) (int, error) {
	n, err := p.from.Read(b)
	p.pace.Took(n)
	return n, err
}

// frame takes one text frame in.
func (c *conn) frame(ctx context.Context, m create) {
	isCreate, refused := readFrame(m.body)
	if refused != nil {
		c.refuse(refused)
	}
	if !isCreate {
		m.upload.End()
		return
	}
	if f := c.take(ctx, m); f != nil {
		m.upload.End()
		req := c.request(m.body)
		c.Engine.Refused(ctx, req, f)
		_ = c.send(fault.Frame(f))
	}
}

// refuse answers a frame that is no response.create.
func (c *conn) refuse(f *fault.Error) {
	f.RequestID = c.IDs.ID("req")
	_ = c.send(fault.Frame(f))
}

// end closes the connection, once its context is over. A client that is still
// there gets the turn's ending first, and a close frame that says why.
func (c *conn) end(ctx context.Context) {
	cause := context.Cause(ctx)
	c.closeQueue()
	stop, told := cause.(*turn.EndedByGateway)
	if told {
		// A client that reads slowly enough to stay inside timers.write does not
		// hold up the end.
		c.wire.closeWrites(time.Now().Add(c.Config().Timers.Write + closeTime))
	} else {
		c.closeAtOnce(cause)
	}
	c.queue.worker.Wait()
	if told {
		c.closeOnPurpose(stop)
	}
	c.pulse.end()
	c.Log.Debug("connection closed", "customer", c.peer.principal.Customer.ID, "cause", cause)
}

// closeAtOnce closes a connection whose client is gone or did wrong. It comes
// before the wait for the running turn, whose writes it ends.
func (c *conn) closeAtOnce(cause error) {
	switch {
	case errors.Is(cause, websocket.ErrMessageTooBig):
		c.close(websocket.StatusMessageTooBig, "the message is larger than ws.message")
	case errors.Is(cause, errPingsUnanswered):
		c.close(websocket.StatusInternalError, "pings were not answered")
	case errors.Is(cause, errSlow):
		c.close(websocket.StatusPolicyViolation, "the message did not come in time")
	case errors.Is(cause, errPanic):
		c.close(websocket.StatusInternalError, "the gateway failed")
	default:
		_ = c.ws.CloseNow()
	}
}

// closeOnPurpose closes a connection on purpose.
func (c *conn) closeOnPurpose(stop *turn.EndedByGateway) {
	if stop.Code != fault.ConnectionLimitReached {
		c.close(websocket.StatusServiceRestart, "the gateway is shutting down")
		return
	}
	if !c.lifetimeTold {
		f := fault.New(stop.Code, "")
		f.RequestID = c.IDs.ID("req")
		_ = c.send(fault.Frame(f))
	}
	c.close(websocket.StatusGoingAway, "the connection has reached its maximum age")
}

// close sends a close frame and waits for the client's, bounded: what is still
// unread is read away, because closing over it would reset the connection and
// the client might lose the frame.
func (c *conn) close(code websocket.StatusCode, reason string) {
	at := time.Now().Add(closeTime)
	c.wire.closeWrites(at)
	c.wire.closeReads(at)
	_ = c.ws.Close(code, reason)
}

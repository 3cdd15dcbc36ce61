package wsapi

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"
)

// frameWriter is where frames leave, whole, one at a time.
//
// Pings and pongs are written here and not by the library, which gives up on
// the whole connection when one has to wait five seconds, as behind a large
// frame to a slow client. How long a client may take nothing is one rule, and
// it is the wire's: timers.write.
type frameWriter struct {
	mu          sync.Mutex             // held while a frame is written
	pendingPong atomic.Pointer[[]byte] // what the last ping said that was not answered yet
}

// Opcodes of control frames (RFC 6455, section 5.5).
const (
	opPing = 0x9
	opPong = 0xA
)

// send writes one text frame and waits until it is written: that is the
// back-pressure.
func (c *conn) send(frame []byte) error {
	c.out.mu.Lock()
	defer c.frameDone()
	if err := c.ws.Write(context.Background(), websocket.MessageText, frame); err != nil {
		return c.broken(err)
	}
	return nil
}

// frameDone lets the next frame go, a pong that is owed first.
func (c *conn) frameDone() {
	c.out.mu.Unlock()
	c.pong()
}

func (c *conn) broken(err error) error {
	err = fmt.Errorf("%w: %w", errNotRead, err)
	c.stop(err)
	return err
}

// ping sends a ping unless a frame is on its way: that is a sign of life too,
// or of its lack.
func (c *conn) ping() (sent bool) {
	if !c.out.mu.TryLock() {
		return false
	}
	defer c.frameDone()
	return c.control(opPing, nil) == nil
}

// answerPing answers a client's ping, now or behind the frame that is on its way.
// Of several the last one is answered (section 5.5.3).
func (c *conn) answerPing(payload []byte) {
	said := bytes.Clone(payload)
	c.out.pendingPong.Store(&said)
	c.pong()
}

// pong sends what is owed, unless a frame is on its way: then its sender does.
func (c *conn) pong() {
	for c.out.pendingPong.Load() != nil && c.out.mu.TryLock() {
		if said := c.out.pendingPong.Swap(nil); said != nil {
			_ = c.control(opPong, *said)
		}
		c.out.mu.Unlock()
	}
}

// control writes a control frame. The caller holds the outlet, so that no data
// frame is on its way; the library's only control frame is the close.
func (c *conn) control(op byte, payload []byte) error {
	frame := append([]byte{0x80 | op, byte(len(payload))}, payload...)
	if _, err := c.wire.Write(frame); err != nil {
		return c.broken(err)
	}
	return nil
}

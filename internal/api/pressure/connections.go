package pressure

import (
	"container/list"
	"context"
	"net"
	"sync"
)

// Bounds are how many connections may be open.
type Bounds struct {
	All        int
	PerAddress int // 0: what defaultShare says
}

// defaultShare is which part of all connections one address of the internet may
// have. An address of this host or its private network may have all: there
// stands a reverse proxy, and behind it are all clients.
const defaultShare = 4

// of is the bound of one address.
func (b Bounds) of(local bool) int {
	switch {
	case b.PerAddress > 0:
		return b.PerAddress
	case local:
		return b.All
	}
	return max(b.All/defaultShare, 1)
}

// Connections counts the open connections of a listener, hijacked ones too. A
// connection on which no request of a known key runs waits; where there is no
// place for a new one, the one that waits longest is closed. Clients
// expect that of a connection that they keep.
type Connections struct {
	bounds func() Bounds

	mu      sync.Mutex
	open    int
	from    map[string]int // by address
	waiting *list.List     // of *counted, which waits longest first
}

// NewConnections makes a counter; bounds are those in force.
func NewConnections(bounds func() Bounds) *Connections {
	return &Connections{bounds: bounds, from: map[string]int{}, waiting: list.New()}
}

// Open is how many there are.
func (c *Connections) Open() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(c.open)
}

// Listen counts what l accepts.
func (c *Connections) Listen(l net.Listener) net.Listener { return &listener{Listener: l, c: c} }

type listener struct {
	net.Listener
	c *Connections
}

func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	boundUnsent(conn)
	remote := conn.RemoteAddr().String()
	k := &counted{movingDeadlineConn: movingDeadlineConn{Conn: conn}, c: l.c, address: Address(remote)}
	l.c.add(k, local(remote))
	return k, nil
}

// counted is a connection that gives its place back once.
type counted struct {
	movingDeadlineConn
	c       *Connections
	address string
	over    bool // there was no place for it
	once    sync.Once

	// Under the lock of c.
	busy   int           // requests of known keys
	place  *list.Element // in c.waiting; nil: it does not wait
	closed bool
}

// add takes a connection in, at the cost of those that wait.
func (c *Connections) add(k *counted, local bool) {
	bounds := c.bounds()
	c.mu.Lock()
	all := c.open >= bounds.All
	here := c.from[k.address] >= bounds.of(local)
	var shed *counted
	switch {
	case here:
		shed = c.longest(k.address)
	case all:
		shed = c.longest("")
	}
	k.over = (all || here) && shed == nil
	c.open++
	c.from[k.address]++
	k.place = c.waiting.PushBack(k)
	c.mu.Unlock()
	if shed != nil {
		_ = shed.Close()
	}
}

// longest takes out the connection that waits longest, of an address or of all;
// nil: none waits.
func (c *Connections) longest(address string) *counted {
	for e := c.waiting.Front(); e != nil; e = e.Next() {
		if k := e.Value.(*counted); address == "" || k.address == address {
			c.waiting.Remove(e)
			k.place = nil
			return k
		}
	}
	return nil
}

func (c *Connections) remove(k *counted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.closed = true
	c.open--
	if c.from[k.address]--; c.from[k.address] == 0 {
		delete(c.from, k.address)
	}
	if k.place != nil {
		c.waiting.Remove(k.place)
		k.place = nil
	}
}

// work notes how many more requests run on a connection, which waits when none
// does.
func (c *Connections) work(k *counted, more int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.busy += more
	switch {
	case k.closed:
	case k.busy > 0 && k.place != nil:
		c.waiting.Remove(k.place)
		k.place = nil
	case k.busy == 0 && k.place == nil:
		k.place = c.waiting.PushBack(k)
	}
}

func (k *counted) Close() error {
	k.once.Do(func() { k.c.remove(k) })
	return k.Conn.Close()
}

// CloseWrite keeps the half-close of TCP, which the HTTP server uses so that a
// refused client reads its answer.
func (k *counted) CloseWrite() error {
	if tcp, ok := k.Conn.(interface{ CloseWrite() error }); ok {
		return tcp.CloseWrite()
	}
	return nil
}

type connKey struct{}

// MarkOverLimit is an http.Server's ConnContext: requests know their connection by it.
func (c *Connections) MarkOverLimit(ctx context.Context, conn net.Conn) context.Context {
	if k, ok := unwrap(conn).(*counted); ok {
		return context.WithValue(ctx, connKey{}, k)
	}
	return ctx
}

// TooMany tells of a request's context whether its connection is over the
// bound; it is answered, and not just cut.
func TooMany(ctx context.Context) bool {
	k, _ := ctx.Value(connKey{}).(*counted)
	return k != nil && k.over
}

// Busy notes that a request of a known key runs on the connection of ctx, until
// done is called.
func Busy(ctx context.Context) (done func()) {
	k, _ := ctx.Value(connKey{}).(*counted)
	if k == nil {
		return func() {}
	}
	k.c.work(k, +1)
	return func() { k.c.work(k, -1) }
}

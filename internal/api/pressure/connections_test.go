package pressure

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
)

// hall is a listener that counts, with clients on the other side.
type hall struct {
	t *testing.T
	c *Connections
	l net.Listener
}

func newHall(t *testing.T, b Bounds) *hall {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := NewConnections(func() Bounds { return b })
	t.Cleanup(func() { inner.Close() })
	return &hall{t, c, c.Listen(inner)}
}

// enter opens a connection: the client's side, the served one, and the context
// of its requests.
func (h *hall) enter() (client, served net.Conn, ctx context.Context) {
	h.t.Helper()
	client, err := net.Dial("tcp", h.l.Addr().String())
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { client.Close() })
	served, err = h.l.Accept()
	if err != nil {
		h.t.Fatal(err)
	}
	return client, served, h.c.MarkOverLimit(h.t.Context(), served)
}

// The connection over the bound is marked, the place comes back with Close,
// and closing twice gives back one.
func TestConnections(t *testing.T) {
	h := newHall(t, Bounds{All: 1})
	_, first, ctx := h.enter()
	done := Busy(ctx)
	_, second, over := h.enter()
	if TooMany(ctx) || !TooMany(over) {
		t.Errorf("too many: %t, then %t", TooMany(ctx), TooMany(over))
	}
	second.Close()
	second.Close()
	first.Close()
	done()
	if h.c.Open() != 0 || h.c.waiting.Len() != 0 || len(h.c.from) != 0 {
		t.Errorf("%d open, %d wait, from %v", h.c.Open(), h.c.waiting.Len(), h.c.from)
	}
	if _, _, ctx := h.enter(); TooMany(ctx) {
		t.Error("the place did not come back")
	}
}

// Where all places are taken the connection goes that waits longest; one with
// a request or one that was taken over stays.
func TestWaitingConnectionsGoFirst(t *testing.T) {
	h := newHall(t, Bounds{All: 4})
	_, working, ctx := h.enter()
	defer Busy(ctx)()
	_, taken, _ := h.enter()
	FixedDeadline(taken)
	_, rested, ctx := h.enter()
	client, idle, _ := h.enter()
	Busy(ctx)() // a request came and went: it waits since then
	_, _, ctx = h.enter()
	if TooMany(ctx) {
		t.Error("there was no place for the fifth")
	}
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || !idle.(*counted).closed {
		t.Errorf("the one that waits longest: %v", err)
	}
	for name, served := range map[string]net.Conn{"working": working, "taken over": taken, "rested": rested} {
		if served.(*counted).closed {
			t.Errorf("the one that is %s was closed", name)
		}
	}
	if h.c.Open() != 4 {
		t.Errorf("%d open", h.c.Open())
	}
}

// An address over its bound pays with its own connections.
func TestAddressesAreBounded(t *testing.T) {
	c := NewConnections(func() Bounds { return Bounds{All: 8} })
	enter := func(address string, local bool) *counted {
		a, b := net.Pipe()
		t.Cleanup(func() { a.Close(); b.Close() })
		k := &counted{movingDeadlineConn: movingDeadlineConn{Conn: a}, c: c, address: address}
		c.add(k, local)
		return k
	}
	other := enter("192.0.2.1", false)
	first, second := enter("192.0.2.2", false), enter("192.0.2.2", false)
	third := enter("192.0.2.2", false)
	if _, err := first.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) || third.over || other.closed || second.closed {
		t.Errorf("the address's first: %v", err)
	}
	c.work(second, 1)
	c.work(third, 1)
	if fourth := enter("192.0.2.2", false); !fourth.over || other.closed {
		t.Errorf("all of its own work: over = %t, another's is closed = %t", fourth.over, other.closed)
	}
	for range 4 {
		if k := enter("10.0.0.1", true); k.over {
			t.Error("a proxy's connections are bounded")
		}
	}
}

func TestBoundsOfAddresses(t *testing.T) {
	for _, c := range []struct {
		bounds Bounds
		local  bool
		want   int
	}{
		{Bounds{All: 20000}, false, 5000},
		{Bounds{All: 20000}, true, 20000},
		{Bounds{All: 2}, false, 1},
		{Bounds{All: 20000, PerAddress: 7}, false, 7},
		{Bounds{All: 20000, PerAddress: 7}, true, 7},
	} {
		if got := c.bounds.of(c.local); got != c.want {
			t.Errorf("%+v, local %t: %d, want %d", c.bounds, c.local, got, c.want)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, c := range []struct {
		remote, want string
		local        bool
	}{
		{"192.0.2.7:1234", "192.0.2.7", false},
		{"[::ffff:192.0.2.7]:1234", "192.0.2.7", false},
		{"[2001:db8:1:2:3:4:5:6]:1", "2001:db8:1:2::/64", false},
		{"127.0.0.1:80", "127.0.0.1", true},
		{"10.1.2.3:80", "10.1.2.3", true},
		{"[fe80::1%eth0]:80", "fe80::/64", true},
		{"[fd00::1]:80", "fd00::/64", true},
		{"@", "", true},
	} {
		if got := Address(c.remote); got != c.want || local(c.remote) != c.local {
			t.Errorf("%s: %q, local %t", c.remote, got, local(c.remote))
		}
	}
}

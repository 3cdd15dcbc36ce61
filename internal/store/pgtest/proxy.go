package pgtest

import (
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy is a network between a gateway and its database that loses
// connections.
type Proxy struct {
	listener net.Listener
	server   string
	// cut gives after how many bytes of the server's a new connection is lost,
	// those bytes included; 0: never.
	cut     func() int
	serving sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
	down  bool
}

// NewProxy stands before the server of the URL; through is the URL that leads
// through it. Each connection is lost after a random number of bytes of answers
// up to most; 0 loses none.
func NewProxy(tb testing.TB, server string, most int) (p *Proxy, through string) {
	tb.Helper()
	u, err := url.Parse(server)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p = &Proxy{listener: l, server: u.Host, conns: map[net.Conn]bool{}, cut: func() int {
		if most == 0 {
			return 0
		}
		return 1 + rand.IntN(most)
	}}
	p.serving.Go(p.serve)
	tb.Cleanup(func() {
		_ = l.Close()
		p.Sever()
		p.serving.Wait()
	})
	u.Host = l.Addr().String()
	return p, u.String()
}

func (p *Proxy) serve() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.serving.Go(func() { p.relay(c) })
	}
}

// Down refuses connections, after those that exist were lost; Up takes them
// again.
func (p *Proxy) Down() {
	p.mu.Lock()
	p.down = true
	p.mu.Unlock()
	p.Sever()
}

// Up is the end of Down.
func (p *Proxy) Up() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

// Sever loses every connection.
func (p *Proxy) Sever() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

// keep notes a connection; false when it is not wanted.
func (p *Proxy) keep(list ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range list {
		p.conns[c] = true
	}
	return !p.down
}

func (p *Proxy) relay(client net.Conn) {
	defer client.Close()
	if !p.keep(client) {
		return
	}
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.keep(server) {
		return
	}
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, client)
		delete(p.conns, server)
	}()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	if n := p.cut(); n > 0 {
		_, _ = io.CopyN(client, server, int64(n))
	} else {
		_, _ = io.Copy(client, server)
	}
	_ = client.Close()
	_ = server.Close()
	wg.Wait()
}

package memnet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// ends opens a connection and gives both of its ends.
func ends(t *testing.T) (client, server net.Conn) {
	t.Helper()
	n := New()
	l, err := n.Listen("10.1.2.3:80")
	if err != nil {
		t.Fatal(err)
	}
	client, err = n.Dial(t.Context(), "tcp", "10.1.2.3:80")
	if err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return client, server
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

func TestBytesArriveInOrderAndEndIsEOF(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := ends(t)
		sent := bytes.Repeat([]byte("0123456789abcdef"), 20_000) // several windows
		go func() {
			client.Write(sent)
			client.Close()
		}()
		got, err := io.ReadAll(server)
		if err != nil || !bytes.Equal(got, sent) {
			t.Errorf("got %d bytes, %v; want %d", len(got), err, len(sent))
		}
		_, err = server.Write([]byte("x"))
		wantError(t, err, syscall.EPIPE)
	})
}

func TestWriterWaitsForReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := ends(t)
		done := false
		go func() {
			client.Write(make([]byte, window+1))
			done = true
		}()
		synctest.Wait()
		if done {
			t.Fatal("a writer over the window did not wait")
		}
		server.Read(make([]byte, 1))
		synctest.Wait()
		if !done {
			t.Fatal("a writer with room still waits")
		}
	})
}

func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := ends(t)
		start := time.Now()
		client.SetReadDeadline(start.Add(3 * time.Second))
		_, err := client.Read(make([]byte, 1))
		wantError(t, err, os.ErrDeadlineExceeded)
		var ne net.Error
		if !errors.As(err, &ne) || !ne.Timeout() {
			t.Errorf("%v is no timeout", err)
		}
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("took %v, want 3s", d)
		}

		client.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := client.Write(make([]byte, 2*window))
		wantError(t, err, os.ErrDeadlineExceeded)
		if n != window {
			t.Errorf("wrote %d before the deadline, want %d", n, window)
		}
	})
}

func TestPastDeadlineWakesBlockedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := ends(t)
		got := make(chan error, 1)
		read := func() {
			_, err := client.Read(make([]byte, 1))
			got <- err
		}
		go read()
		synctest.Wait()
		client.SetDeadline(time.Unix(1, 0))
		wantError(t, <-got, os.ErrDeadlineExceeded)

		client.SetDeadline(time.Time{}) // and the connection lives on
		go read()
		server.Write([]byte("x"))
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}

func TestMovedDeadlineDoesNotFireEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := ends(t)
		start := time.Now()
		client.SetReadDeadline(start.Add(time.Second))
		client.SetReadDeadline(start.Add(time.Minute))
		_, err := client.Read(make([]byte, 1))
		wantError(t, err, os.ErrDeadlineExceeded)
		if d := time.Since(start); d != time.Minute {
			t.Errorf("fired after %v", d)
		}
	})
}

func TestHalfClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := ends(t)
		client.Write([]byte("ask"))
		if err := client.(*conn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		_, err := client.Write([]byte("more"))
		wantError(t, err, syscall.EPIPE)
		if got, err := io.ReadAll(server); string(got) != "ask" || err != nil {
			t.Errorf("server read %q, %v", got, err)
		}
		server.Write([]byte("answer"))
		server.Close()
		if got, err := io.ReadAll(client); string(got) != "answer" || err != nil {
			t.Errorf("client read %q, %v", got, err)
		}
	})
}

func TestReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := ends(t)
		server.Write([]byte("lost"))
		server.(*conn).SetLinger(0)
		server.Close()
		_, err := client.Read(make([]byte, 10))
		wantError(t, err, syscall.ECONNRESET)
		var op *net.OpError
		if !errors.As(err, &op) || op.Op != "read" {
			t.Errorf("%#v is no net.OpError of a read", err)
		}
		_, err = client.Write([]byte("x"))
		wantError(t, err, syscall.ECONNRESET)
		_, err = server.Read(make([]byte, 1))
		wantError(t, err, net.ErrClosed)
	})
}

func TestCloseWakesOwnAndPeersCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := ends(t)
		own, peer := make(chan error, 1), make(chan error, 1)
		go func() { _, err := client.Read(make([]byte, 1)); own <- err }()
		go func() { _, err := server.Read(make([]byte, 1)); peer <- err }()
		synctest.Wait()
		client.Close()
		wantError(t, <-own, net.ErrClosed)
		wantError(t, <-peer, io.EOF)
		wantError(t, client.Close(), net.ErrClosed)
		wantError(t, client.SetDeadline(time.Time{}), net.ErrClosed)
	})
}

func TestCloseWakesBlockedWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := ends(t)
		own, peer := make(chan error, 1), make(chan error, 1)
		go func() { _, err := client.Write(make([]byte, 2*window)); own <- err }()
		go func() { _, err := server.Write(make([]byte, 2*window)); peer <- err }()
		synctest.Wait()
		client.Close()
		wantError(t, <-own, net.ErrClosed)
		wantError(t, <-peer, syscall.EPIPE)
	})
}

func TestDialFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New()
		_, err := n.Dial(t.Context(), "tcp", "10.9.9.9:1")
		wantError(t, err, syscall.ECONNREFUSED)
		var op *net.OpError
		if !errors.As(err, &op) || op.Op != "dial" {
			t.Errorf("%#v is no net.OpError of a dial", err)
		}

		_, err = n.Dial(t.Context(), "tcp", "up.invalid:80")
		var dns *net.DNSError
		if !errors.As(err, &dns) || !dns.IsNotFound {
			t.Errorf("%v is no DNS failure", err)
		}

		n.Blackhole("hole:443")
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		_, err = n.Dial(ctx, "tcp", "hole:443")
		wantError(t, err, os.ErrDeadlineExceeded)
		if d := time.Since(start); d != 5*time.Second {
			t.Errorf("gave up after %v", d)
		}
	})
}

func TestListenerCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New()
		l, _ := n.Listen("up-a:0")
		_, err := n.Listen(l.Addr().String())
		wantError(t, err, syscall.EADDRINUSE)
		waiting, err := n.Dial(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		_, err = waiting.Read(make([]byte, 1))
		wantError(t, err, syscall.ECONNRESET)
		_, err = l.Accept()
		wantError(t, err, net.ErrClosed)
		_, err = n.Dial(t.Context(), "tcp", l.Addr().String())
		wantError(t, err, syscall.ECONNREFUSED)
		if again, err := n.Listen(l.Addr().String()); err != nil || again == nil {
			t.Errorf("the address is not free again: %v", err)
		}
	})
}

func TestFullBacklogMakesDialerWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New()
		l, _ := n.Listen("up-a:80")
		for range backlog {
			if _, err := n.Dial(t.Context(), "tcp", "up-a:80"); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := n.Dial(ctx, "tcp", "up-a:80")
		wantError(t, err, os.ErrDeadlineExceeded)
		l.Accept()
		if _, err := n.Dial(t.Context(), "tcp", "up-a:80"); err != nil {
			t.Error(err)
		}
	})
}

package pressure

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"rubicon/internal/lab/memnet"
)

// accepted is a connection of Listen, and what is on its other side.
func accepted(t *testing.T) (served, peer net.Conn) {
	t.Helper()
	network := memnet.New()
	l, err := network.Listen("here:1")
	if err != nil {
		t.Fatal(err)
	}
	peer, err = network.Dial(t.Context(), "tcp", "here:1")
	if err != nil {
		t.Fatal(err)
	}
	served, err = NewConnections(func() Bounds { return Bounds{All: 10} }).Listen(l).Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _, _ = peer.Close(), served.Close(), l.Close() })
	return served, peer
}

// A write deadline bounds how long the client takes nothing, not a write.
func TestPatience(t *testing.T) {
	const size, second = 2 << 20, time.Second
	for name, tt := range map[string]struct {
		pause  time.Duration // between two times that the client takes 32 KiB
		strict bool
		cut    bool
	}{
		"takes it at once":    {0, false, false},
		"takes it slowly":     {second / 4, false, false},
		"takes it too rarely": {3 * second, false, true},
		"slowly, strict":      {second / 4, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				served, peer := accepted(t)
				if tt.strict {
					FixedDeadline(tls.Server(served, nil))
				}
				taken := make(chan int64, 1)
				go func() {
					var n int64
					for {
						m, err := io.CopyN(io.Discard, peer, 32<<10)
						if n += m; err != nil {
							taken <- n
							return
						}
						time.Sleep(tt.pause)
					}
				}()
				if err := served.SetDeadline(time.Now().Add(second)); err != nil {
					t.Fatal(err)
				}
				n, err := served.Write(make([]byte, size))
				if cut := errors.Is(err, os.ErrDeadlineExceeded); cut != tt.cut || !cut && n != size {
					t.Errorf("wrote %d, %v", n, err)
				}
				_ = served.Close()
				if got := <-taken; !tt.cut && got != size {
					t.Errorf("the client got %d", got)
				}
			})
		})
	}
}

// A deadline that is over stays over, and one that was taken back too.
func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served, peer := accepted(t)
		_ = served.SetWriteDeadline(time.Now().Add(time.Second))
		time.Sleep(2 * time.Second)
		if _, err := served.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after the deadline: %v", err)
		}
		_ = served.SetWriteDeadline(time.Time{})
		time.Sleep(time.Hour)
		go func() { _, _ = io.Copy(io.Discard, peer) }()
		if n, err := served.Write(make([]byte, 1<<20)); n != 1<<20 || err != nil {
			t.Errorf("without a deadline: %d, %v", n, err)
		}
		_ = served.Close()
	})
}

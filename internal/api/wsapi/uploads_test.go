package wsapi_test

import (
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestAMessageThatDrips: who sends less than a piece in timers.write is given
// up, however many bytes come now and then.
func TestAMessageThatDrips(t *testing.T) {
	inBubble(t, "timers: {write: 30s}", hello(), hello(), func(t *testing.T, x *virtualInstallation) {
		c := x.raw()
		defer c.Close()
		start := time.Now()
		if _, err := c.Write(frameHead(opText, true, 1<<20)); err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Second):
					_, _ = c.Write(make([]byte, 1<<10))
				}
			}
		}()
		for {
			op, payload, err := readRaw(c, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if op == opClose {
				if code := closeCode(payload); code != 1008 || since(start) != 30*time.Second {
					t.Errorf("closed with %d after %v", code, since(start))
				}
				return
			}
		}
	})
}

// TestMessagesHaveAShare: messages that are not whole count against their
// customer, whose further ones are refused by name while the connections stay.
func TestMessagesHaveAShare(t *testing.T) {
	inBubble(t, "limits: {memory: 256MiB}", hello(), hello(), func(t *testing.T, x *virtualInstallation) {
		var stalled []net.Conn
		for range 4 { // a quarter of the memory, because buffers double
			c := x.raw()
			defer c.Close()
			if _, err := c.Write(append(frameHead(opText, true, 12<<20), make([]byte, 9<<20)...)); err != nil {
				t.Fatal(err)
			}
			stalled = append(stalled, c)
		}
		synctest.Wait()
		c := x.dial()
		c.create(`"input":"hi"`)
		if f := c.next(); f.Error.Code != "concurrency_limit" {
			t.Fatalf("got %s", f.raw)
		}
		for _, s := range stalled {
			s.Close()
		}
		synctest.Wait()
		c.create(`"input":"hi"`)
		c.good()
		_ = c.ws.CloseNow()
	})
}

package pressure

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestUploadShares(t *testing.T) {
	const limit, largest = 1000, 100
	type step struct {
		customer, remote string
		bytes            int64
		used             Share
	}
	for name, steps := range map[string][]step{
		"a customer's quarter":       {{"a", "192.0.2.1:1", 100, ""}, {"a", "192.0.2.2:1", 100, ""}, {"a", "192.0.2.3:1", 50, ""}, {"a", "192.0.2.4:1", 1, OfCustomer}, {"b", "192.0.2.1:1", 100, ""}},
		"an address's half":          {{"a", "192.0.2.1:1", 200, ""}, {"b", "192.0.2.1:2", 200, ""}, {"c", "192.0.2.1:3", 100, ""}, {"d", "192.0.2.1:4", 1, OfAddress}, {"d", "192.0.2.2:4", 1, ""}},
		"three quarters for all":     {{"a", "192.0.2.1:1", 250, ""}, {"b", "192.0.2.2:1", 250, ""}, {"c", "192.0.2.3:1", 250, ""}, {"d", "192.0.2.4:1", 1, OfAll}},
		"one of any size fits":       {{"a", "192.0.2.1:1", 100, ""}},
		"what is refused takes none": {{"a", "192.0.2.1:1", 251, OfCustomer}, {"a", "192.0.2.1:1", 250, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			u := NewUploads(func() int64 { return limit })
			for i, s := range steps {
				if used, ok := u.Begin(s.customer, s.remote).Hold(s.bytes, largest); used != s.used || ok != (s.used == "") {
					t.Errorf("step %d: %q, %t", i, used, ok)
				}
			}
		})
	}
}

func TestUploadsEnd(t *testing.T) {
	u := NewUploads(func() int64 { return 100 })
	one := u.Begin("a", "192.0.2.1:1")
	for _, bytes := range []int64{10, 20, 25, 5} { // it never holds less than before
		if _, ok := one.Hold(bytes, 1); !ok {
			t.Fatalf("%d bytes have no room", bytes)
		}
	}
	if _, ok := u.Begin("a", "192.0.2.1:1").Hold(1, 1); ok {
		t.Error("the share was not used up")
	}
	one.End()
	one.End()
	if len(u.bytes) != 0 {
		t.Errorf("left: %v", u.bytes)
	}
	none := NewUploads(func() int64 { return 0 })
	if _, ok := none.Begin("a", "192.0.2.1:1").Hold(1<<40, 1); !ok {
		t.Error("without a known limit something was refused")
	}
}

// Whoever sends a piece in time may go on; whoever drips is given up.
func TestPace(t *testing.T) {
	const limit = 30 * time.Second
	for name, c := range map[string]struct {
		step  int           // bytes
		every time.Duration // between two steps
		after time.Duration // when it is given up; 0: never
	}{
		"a byte now and then":   {1, 10 * time.Second, limit},
		"a piece in time":       {WriteStep, 20 * time.Second, 0},
		"half a piece in time":  {WriteStep / 2, 14 * time.Second, 0},
		"half a piece too late": {WriteStep / 2, 29 * time.Second, limit},
		"longer than a request": {WriteStep, 29 * time.Second, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				served, client := net.Pipe()
				defer served.Close()
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer client.Close()
					for range 25 {
						time.Sleep(c.every)
						if _, err := client.Write(make([]byte, c.step)); err != nil {
							return
						}
					}
				}()
				start := time.Now()
				pace := NewPace(served, limit, 10*time.Minute)
				var err error
				for buf := make([]byte, WriteStep); err == nil; {
					var n int
					n, err = served.Read(buf)
					pace.Took(n)
				}
				if gone := errors.Is(err, os.ErrDeadlineExceeded); gone != (c.after > 0) || gone && time.Since(start) != c.after {
					t.Errorf("%v after %v", err, time.Since(start))
				} else if !gone && !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				served.Close()
				<-done
			})
		})
	}
}

package ledger_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/books/ledger"
	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
)

// crashURL tells a process of this test that it is the one to be killed.
const crashURL = "RUBICON_CRASH_TEST_URL"

// TestKilledAtAnyPoint kills a process with -9 while it holds and settles, and
// wants a ledger that verifies and everything that the process was told is
// durable.
func TestKilledAtAnyPoint(t *testing.T) {
	if testing.Short() {
		t.Skip("runs processes")
	}
	url := storetest.URL(t)
	for round := range 3 {
		claims := runAndKill(t, url, round)
		f, closeIt, err := openAt(t.Context(), url)
		must(t, err)
		report, err := f.Verify(t.Context())
		must(t, err)
		if !report.OK {
			t.Errorf("round %d: %v", round, report.Differences)
		}
		if len(claims) == 0 {
			t.Errorf("round %d: nothing was done", round)
		}
		for request, kind := range claims {
			list, _, err := f.Transactions(t.Context(), ledger.Filter{RequestID: request, Kind: kind})
			must(t, err)
			if len(list) != 1 {
				t.Errorf("round %d: %s of %s was acknowledged and is lost", round, kind, request)
			}
		}
		// What the next start does.
		holds, err := f.OpenHolds(t.Context())
		must(t, err)
		must(t, f.db.Write(t.Context(), func(tx *store.Tx) error {
			for _, hold := range holds {
				if err := f.releaseIn(tx, hold.Request, hold.Customer); err != nil {
					return err
				}
			}
			return nil
		}))
		closeIt()
	}
}

// runAndKill returns the last thing that was acknowledged of each request.
func runAndKill(t *testing.T, url string, round int) map[string]ledger.Kind {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashChild$")
	cmd.Env = append(os.Environ(), crashURL+"="+url)
	out, err := cmd.StdoutPipe()
	must(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	must(t, cmd.Start())
	claims := map[string]ledger.Kind{}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		// Killing after a number of acknowledgements needs no clock.
		if n == 200+130*round {
			must(t, cmd.Process.Kill())
		}
		if request, kind, ok := strings.Cut(lines.Text(), " "); ok && strings.HasPrefix(request, "req_") {
			claims[request] = ledger.Kind(kind)
		}
	}
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Fatalf("the child ended by itself: %v\n%s", err, stderr.String())
	}
	return claims
}

func TestCrashChild(t *testing.T) {
	url := os.Getenv(crashURL)
	if url == "" {
		t.Skip("only as a child of TestKilledAtAnyPoint")
	}
	f, closeIt, err := openAt(t.Context(), url)
	must(t, err)
	defer closeIt()
	f.topUp(t, "cus_1", 1_000_000)
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	say := func(request string, kind ledger.Kind) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(request, kind)
	}
	for w := range 8 {
		wg.Go(func() {
			for i := 0; t.Context().Err() == nil; i++ {
				request := fmt.Sprintf("req_%d_%d_%d", time.Now().UnixNano(), w, i)
				if f.begin(t.Context(), request, "cus_1", 100) != nil {
					continue
				}
				say(request, ledger.KindHold)
				switch i % 3 {
				case 0:
					if f.settle(t.Context(), request, "cus_1", 1) == nil {
						say(request, ledger.KindSettle)
					}
				case 1:
					if f.release(t.Context(), request, "cus_1") == nil {
						say(request, ledger.KindRelease)
					}
				}
			}
		})
	}
	wg.Wait()
}

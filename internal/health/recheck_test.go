package health

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/config"
	"rubicon/internal/wire/classify"
)

// asked is a provider that is asked about credentials.
type asked struct {
	mu     sync.Mutex
	good   map[string]bool
	at     []time.Duration
	names  []string
	silent bool
	begin  time.Time
}

func (a *asked) ask(ctx context.Context, channel *config.Channel, credential string) error {
	a.mu.Lock()
	a.at = append(a.at, time.Since(a.begin))
	a.names = append(a.names, channel.Name+"/"+credential)
	good, silent := a.good[channel.Name+"/"+credential], a.silent
	a.mu.Unlock()
	if silent {
		<-ctx.Done()
		return ctx.Err()
	}
	if good {
		return nil
	}
	return errors.New("401")
}

func (a *asked) set(do func()) { a.mu.Lock(); defer a.mu.Unlock(); do() }

func TestRechecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kinds []Kind
		r := New(Options{Notify: func(e Event) { kinds = append(kinds, e.Kind) }})
		cfg := configuration()
		r.Configure(cfg)
		a := &asked{good: map[string]bool{}, begin: time.Now()}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.RunRechecks(ctx, a.ask) }()
		refuse := func(channel, cred string) {
			p, ok := r.Allow(route(channel, cred), "c")
			if !ok {
				t.Fatalf("%s/%s is refused", channel, cred)
			}
			p.Done(Result{Failure: classify.Auth})
		}
		usable := func(channel string, i int) bool {
			return r.View(cfg.Channel(channel), upstreamModel).Credentials[i].Usable
		}

		time.Sleep(time.Minute)
		synctest.Wait()
		refuse("a", "k1")
		if err := r.SetCredential("a", "k2", false, "leaked", "ann"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(25 * time.Minute)
		synctest.Wait()
		if usable("a", 0) {
			t.Error("enabled although the re-check failed")
		}
		a.set(func() { a.good["a/k1"], a.good["a/k2"] = true, true })
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		if !usable("a", 0) || usable("a", 1) {
			t.Error("the re-check enables what upstream refused, and nothing that an operator disabled")
		}
		want := []time.Duration{11 * time.Minute, 21 * time.Minute, 31 * time.Minute}
		if diff := cmp.Diff(want, a.at); diff != "" {
			t.Errorf("re-checks:\n%s", diff)
		}
		if diff := cmp.Diff([]Kind{CredentialDisabledEvent, CredentialDisabledEvent, CredentialEnabledEvent}, kinds); diff != "" {
			t.Error(diff)
		}

		refuse("b", "k1") // an operator is quicker
		if err := r.SetCredential("b", "k1", true, "", "ann"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if len(a.at) != 3 {
			t.Errorf("re-checked again: %v", a.names[3:])
		}

		a.set(func() { a.silent = true })
		refuse("b", "k1")
		time.Sleep(12 * time.Minute)
		synctest.Wait()
		if usable("b", 0) {
			t.Error("no answer is no acceptance")
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A restart is no reason to ask earlier: what upstream refused stays refused
// until its re-check is due. A key that was replaced meanwhile starts anew.
func TestRecheckAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{})
		r.Configure(configuration())
		for _, of := range []Route{route("a", "k1"), route("a", "k2"), route("b", "k1")} {
			p, _ := r.Allow(of, "c")
			p.Done(Result{Failure: classify.Auth})
		}
		if err := r.SetCredential("a", "k2", false, "leaked", "ann"); err != nil {
			t.Fatal(err)
		}
		s := r.Export()

		time.Sleep(time.Minute)
		r = New(Options{})
		cfg := configuration()
		for i := range cfg.Channels[0].Credentials { // both keys of a are replaced
			cfg.Channels[0].Credentials[i].Key = config.NewSecret("another")
		}
		r.Configure(cfg)
		r.Import(s, time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		a := &asked{good: map[string]bool{"b/k1": true}, begin: time.Now()}
		ended := make(chan error, 1)
		go func() { ended <- r.RunRechecks(ctx, a.ask) }()
		synctest.Wait()
		v := r.View(cfg.Channel("a"), upstreamModel)
		if k1, k2 := v.Credentials[0], v.Credentials[1]; k1.State != CredentialActive || k2.State != CredentialDisabled || k2.Reason != "leaked" {
			t.Errorf("replaced keys: %+v", v)
		}
		time.Sleep(9*time.Minute - time.Second)
		a.set(func() {
			if v := r.View(cfg.Channel("b"), upstreamModel); v.Usable || len(a.at) > 0 {
				t.Errorf("asked too early: %v, %+v", a.at, v)
			}
		})
		time.Sleep(2 * time.Second)
		if v := r.View(cfg.Channel("b"), upstreamModel); !v.Usable {
			t.Errorf("a refused credential is not re-checked: %+v", v)
		}
		cancel()
		<-ended
	})
}

package health

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/classify"
)

// TestEveryClass states docs/contract.md#s6-counts once more, independently of the
// table: what six failures in a row of one class leave behind.
func TestEveryClass(t *testing.T) {
	counting := []Kind{BreakerOpened}
	want := map[classify.Failure]struct {
		state string
		kinds []Kind
	}{
		classify.Connect:            {StateOpen, counting},
		classify.Overloaded:         {StateOpen, counting},
		classify.Upstream5xx:        {StateOpen, counting},
		classify.BadAnswer:          {StateOpen, counting},
		classify.HeaderTimeout:      {StateOpen, counting},
		classify.AnswerTimeout:      {StateOpen, counting},
		classify.FirstEventTimeout:  {StateOpen, counting},
		classify.FirstOutputTimeout: {StateOpen, counting},
		classify.IdleTimeout:        {StateOpen, counting},
		classify.ReadError:          {StateOpen, counting},
		classify.FailedEvent:        {StateOpen, counting},
		classify.Unknown:            {StateOpen, counting},
		classify.RateLimited:        {StateCooling, []Kind{CooldownStarted}},
		classify.Balance:            {StatePaused, []Kind{CredentialPaused, ChannelPaused}},
		classify.Auth:               {StateNoCredential, []Kind{CredentialDisabledEvent}},
		classify.Unfit:              {StateClosed, []Kind{ChannelUnfit, ChannelUnfit, ChannelUnfit, ChannelUnfit, ChannelUnfit, ChannelUnfit}},
		classify.TotalTimeout:       {StateClosed, nil},
		classify.Deterministic:      {StateClosed, nil},
		classify.BufferLimit:        {StateClosed, nil},
		classify.ClientGone:         {StateClosed, nil},
		classify.GatewayFault:       {StateClosed, nil},
		classify.ConnectionLimit:    {StateClosed, nil},
	}
	for _, f := range classify.All() {
		t.Run(string(f), func(t *testing.T) {
			w, ok := want[f]
			if !ok {
				t.Fatal("this class has no expectation")
			}
			if _, ok := effects[f]; !ok {
				t.Fatal("this class has no row in the table")
			}
			b := newBench(t)
			for range 6 {
				if p, ok := b.r.Allow(route("b", "k1"), "c"); ok {
					p.Done(Result{Failure: f})
				}
			}
			b.state("b", w.state, w.state == StateClosed)
			if diff := cmp.Diff(w.kinds, b.kinds()); diff != "" {
				t.Errorf("events:\n%s", diff)
			}
		})
	}
	if len(want) != len(effects) {
		t.Errorf("%d classes in the table, %d expected", len(effects), len(want))
	}
}

func TestRateLimitEventsCoolAndNeverCount(t *testing.T) {
	b := newBench(t)
	for range 50 {
		b.once(route("b", "k1"), Result{Failure: classify.FailedEvent, RateLimit: true, RetryAfter: time.Second})
		b.state("b", StateCooling, false)
		b.wait(time.Second)
	}
	b.state("b", StateClosed, true)
	if v := b.view("b"); v.ConsecutiveFailures != 0 {
		t.Errorf("%d consecutive failures", v.ConsecutiveFailures)
	}
}

func TestNeverTheCustomersFault(t *testing.T) {
	harmless := map[string]Result{
		"aborted":                   {Aborted: true},
		"aborted with a class":      {Aborted: true, Failure: classify.ReadError, RateLimit: true},
		"client gone":               {Failure: classify.ClientGone},
		"400 class":                 {Failure: classify.Deterministic},
		"our buffer limit":          {Failure: classify.BufferLimit},
		"the request's total limit": {Failure: classify.TotalTimeout},
	}
	for name, res := range harmless {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			for i := range 5000 {
				b.once(route([]string{"a", "b"}[i%2], "k1"), res)
				b.wait(time.Millisecond)
			}
			for _, c := range []string{"a", "b", "k"} {
				b.state(c, StateClosed, true)
			}
			if len(b.events) != 0 {
				t.Errorf("events: %+v", b.events)
			}
		})
	}
}

func TestOneCustomerCannotTakeAChannelFromOthers(t *testing.T) {
	b := newBench(t)
	for range 100 {
		b.allow(route("b", "k1"), "good")
		b.allow(route("b", "k1"), "bad").Done(Result{Failure: classify.ReadError})
		b.wait(time.Second)
	}
	b.state("b", StateClosed, true)
	b.allow(route("b", "k1"), "other").Done(Result{Failure: classify.ReadError})
	b.allow(route("b", "k1"), "other").Done(Result{Failure: classify.ReadError})
	b.state("b", StateOpen, false)
}

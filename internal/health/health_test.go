package health

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rubicon/internal/config"
	"rubicon/internal/wire/classify"
)

func TestHealthy(t *testing.T) {
	b := newBench(t)
	want := View{State: StateClosed, Since: b.at, Usable: true, Ready: true, Factor: 1, Credentials: []CredentialView{
		{Name: "k1", State: CredentialActive, Usable: true, Factor: 1}, {Name: "k2", State: CredentialActive, Usable: true, Factor: 1},
	}}
	if diff := cmp.Diff(want, b.view("a")); diff != "" {
		t.Error(diff)
	}
	want.Credentials = []CredentialView{{State: CredentialActive, Usable: true, Factor: 1}}
	if diff := cmp.Diff(want, b.view("k")); diff != "" {
		t.Error(diff)
	}
}

// What upstream refused without a key has no name to enable: resuming the channel
// puts it right, and nothing else of a channel that is disabled.
func TestResumeOfAKeylessChannel(t *testing.T) {
	b := newBench(t)
	b.fail(Route{Channel: "k", UpstreamModel: "m"}, classify.Auth)
	b.fail(route("a", "k1"), classify.Auth)
	b.state("k", StateNoCredential, false)
	for _, channel := range []string{"k", "a"} {
		if err := b.r.Resume(channel, "fixed", "ann"); err != nil {
			t.Fatal(err)
		}
	}
	b.state("k", StateClosed, true)
	b.credential("a", "k1", CredentialDisabled, false)
}

func TestUnknownChannelIsNotJudged(t *testing.T) {
	b := newBench(t)
	gone := &config.Channel{Name: "gone", Credentials: []config.Credential{key("k1")}}
	for range 10 {
		p := b.allow(Route{"gone", "k1", "m"}, "c")
		p.Alive()
		p.Done(Result{Failure: classify.Auth})
	}
	if v := b.r.View(gone, "m"); !v.Usable || v.State != StateClosed {
		t.Errorf("view %+v", v)
	}
	var none *Permit
	none.Alive()
	none.Done(Result{OK: true})
}

func TestBreakerPerChannelAndModel(t *testing.T) {
	b := newBench(t)
	for range 5 {
		b.fail(route("a", "k1"), classify.Connect)
	}
	v := b.view("a")
	if v.State != StateOpen || v.Usable || v.Reason != "connect" || v.ConsecutiveFailures != 5 || !v.Since.Equal(b.at) || !v.Until.Equal(b.at.Add(10*time.Second)) {
		t.Errorf("view %+v", v)
	}
	b.credential("a", "k2", CredentialActive, true)
	b.refused(route("a", "k2"))
	b.state("b", StateClosed, true)
	if v := b.r.View(b.cfg.Channel("a"), "another"); v.State != StateClosed || !v.Usable {
		t.Errorf("another model of the channel: %+v", v)
	}
	b.wait(30 * time.Second)
	b.state("a", StateHalfOpen, true)
	p := b.allow(route("a", "k2"), "c")
	if !p.Probe() {
		t.Error("the permit does not know that it probes")
	}
	b.state("a", StateHalfOpen, false)
	b.refused(route("a", "k1"))
	p.Done(Result{OK: true})
	for range 2 {
		b.once(route("a", "k1"), Result{OK: true})
	}
	b.state("a", StateClosed, true)
	if diff := cmp.Diff([]Kind{BreakerOpened, BreakerHalfOpen, BreakerClosed}, b.kinds()); diff != "" {
		t.Error(diff)
	}
}

func TestDoneOnce(t *testing.T) {
	b := newBench(t)
	p := b.allow(route("b", "k1"), "c")
	for range 10 {
		p.Done(Result{Failure: classify.Connect})
	}
	if n := b.view("b").ConsecutiveFailures; n != 1 {
		t.Errorf("one permit counted %d times", n)
	}
}

func TestHungProbeFreesItself(t *testing.T) {
	b := newBench(t)
	for range 5 {
		b.fail(route("b", "k1"), classify.Connect)
	}
	b.wait(30 * time.Second)
	hung := b.allow(route("b", "k1"), "c")
	patience := 10*time.Minute + 5*time.Second + probeSlack // timers.answer is the longest, plus connect
	b.wait(patience - time.Second)
	b.refused(route("b", "k1"))
	b.wait(time.Second)
	next := b.allow(route("b", "k1"), "c")
	hung.Done(Result{OK: true})
	b.state("b", StateHalfOpen, false)
	for range 30 { // a slow probe that shows life is not hung
		b.wait(patience / 2)
		next.Alive()
		b.refused(route("b", "k1"))
	}
	next.Done(Result{OK: true})
	b.state("b", StateHalfOpen, true)
}

func TestCooling(t *testing.T) {
	b := newBench(t)
	limited := func(cred string, after time.Duration) {
		t.Helper()
		b.allow(route("a", cred), "c").Done(Result{Failure: classify.RateLimited, RateLimit: true, RetryAfter: after})
	}
	late := []*Permit{b.allow(route("a", "k1"), "c"), b.allow(route("a", "k1"), "c")}
	limited("k1", 20*time.Second)
	b.state("a", StateClosed, true)
	k := b.credential("a", "k1", StateCooling, false)
	if k.Reason != ReasonRateLimited || !k.Until.Equal(b.at.Add(20*time.Second)) || !k.Since.Equal(b.at) || k.Factor != 0.5 {
		t.Errorf("credential %+v", k)
	}
	if f := b.view("a").Factor; f != 0.75 {
		t.Errorf("factor of a channel with one of two credentials at half: %v", f)
	}
	b.refused(route("a", "k1"))
	if _, ok := b.r.Allow(Route{"a", "k1", "another"}, "c"); !ok {
		t.Error("a 429 strikes only its own model")
	}

	late[0].Done(Result{Failure: classify.RateLimited, RetryAfter: time.Second})
	if k := b.credential("a", "k1", StateCooling, false); !k.Until.Equal(b.at.Add(20 * time.Second)) {
		t.Errorf("a later 429 shortened the cooldown to %s", k.Until.Sub(b.at))
	}
	late[1].Done(Result{Failure: classify.RateLimited, RetryAfter: time.Hour})
	k = b.credential("a", "k1", StateCooling, false)
	if !k.Until.Equal(b.at.Add(time.Minute)) || k.Factor != 0.125 {
		t.Errorf("extended to %s at most 60 s, factor %v", k.Until.Sub(b.at), k.Factor)
	}

	b.wait(time.Second)
	limited("k2", 0)
	v := b.view("a")
	if v.State != StateCooling || v.Usable || v.Reason != ReasonRateLimited || !v.Until.Equal(b.at.Add(time.Second)) || !v.Since.Equal(b.at) {
		t.Errorf("with all credentials cooling the channel is %+v", v)
	}
	b.refused(route("a", "k2"))
	if p, ok := b.r.AllowCooling(route("a", "k2"), "c"); !ok {
		t.Error("nothing but a cooldown, and it may not go in spite of it")
	} else {
		p.Done(Result{Aborted: true})
	}
	b.wait(time.Second)
	b.state("a", StateClosed, true)
}

// cools tells how long a 429 without a time, of a request sent now, cools b.
func (b *registryTest) cools() time.Duration {
	b.Helper()
	p, ok := b.r.AllowCooling(route("b", "k1"), "c")
	if !ok {
		b.Fatal("refused")
	}
	p.Done(Result{Failure: classify.RateLimited})
	return b.credential("b", "k1", StateCooling, false).Until.Sub(b.at)
}

func TestCooldownsWithoutATimeDouble(t *testing.T) {
	b := newBench(t)
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		if got := b.cools(); got != want*time.Second {
			t.Errorf("the %d. 429 cools for %s, want %ds", i+1, got, want)
		}
		b.wait(want * time.Second)
	}
	for range 5 { // back to the third step, so that the next one is the fourth
		b.once(route("b", "k1"), Result{OK: true})
	}
	if got := b.cools(); got != 8*time.Second {
		t.Errorf("after five good answers it cools for %s", got)
	}
	for range 100 {
		p, _ := b.r.AllowCooling(route("b", "k1"), "c")
		p.Done(Result{OK: true})
	}
	b.wait(8 * time.Second)
	if got := b.cools(); got != time.Second {
		t.Errorf("after many good answers it cools for %s", got)
	}
	b.wait(time.Second)
	if got := b.cools(); got != 2*time.Second {
		t.Errorf("the second one cools for %s", got)
	}
	b.wait(10 * time.Minute)
	if got := b.cools(); got != time.Second {
		t.Errorf("long after the last one it cools for %s", got)
	}
}

// TestA429OfManyIsOne: requests that were under way together say one thing.
func TestA429OfManyIsOne(t *testing.T) {
	b := newBench(t)
	var together []*Permit
	for range 20 {
		together = append(together, b.allow(route("b", "k1"), "c"))
		b.wait(time.Millisecond)
	}
	for _, p := range together {
		p.Done(Result{Failure: classify.RateLimited})
		if k := b.credential("b", "k1", StateCooling, false); k.Until.Sub(b.at) != time.Second || k.Stated {
			t.Fatalf("cools for %s, stated %t", k.Until.Sub(b.at), k.Stated)
		}
		b.wait(time.Millisecond)
	}
	b.once(route("a", "k1"), Result{Failure: classify.RateLimited, RetryAfter: time.Second})
	if !b.credential("a", "k1", StateCooling, false).Stated {
		t.Error("a time that upstream named is not known as such")
	}
}

// TestQuickFailuresAreNoRow: failures come back before the good answers of
// requests that were sent together with them.
func TestQuickFailuresAreNoRow(t *testing.T) {
	b := newBench(t)
	var good, bad []*Permit
	for range 8 {
		bad = append(bad, b.allow(route("b", "k1"), "c"))
		good = append(good, b.allow(route("b", "k1"), "d"))
		b.wait(time.Millisecond)
	}
	for _, p := range bad {
		p.Done(Result{Failure: classify.Upstream5xx})
	}
	b.state("b", StateClosed, true)
	for _, p := range good {
		p.Done(Result{OK: true})
	}
	long := b.allow(route("b", "k1"), "d")
	b.wait(time.Millisecond)
	for _, customer := range []string{"c", "d", "e", "c", "d"} { // all sent after what is under way
		b.allow(route("b", "k1"), customer).Done(Result{Failure: classify.Upstream5xx})
	}
	b.state("b", StateOpen, false)
	long.Done(Result{OK: true})
}

func TestWeightHalvesAndReturns(t *testing.T) {
	b := newBench(t)
	for _, want := range []float64{0.5, 0.25, 0.125, 0.125} {
		b.fail(route("b", "k1"), classify.RateLimited)
		if f := b.view("b").Factor; f != want {
			t.Errorf("factor %v, want %v", f, want)
		}
		b.wait(b.credential("b", "k1", StateCooling, false).Until.Sub(b.at))
	}
	b.wait(30*time.Second - 1)
	for _, want := range []float64{0.125, 0.25, 0.25, 0.5, 0.5, 1, 1} {
		if f := b.view("b").Factor; f != want {
			t.Errorf("factor %v, want %v", f, want)
		}
		if want == 0.125 {
			b.wait(1)
		} else {
			b.wait(15 * time.Second)
		}
	}
	b.fail(route("b", "k1"), classify.RateLimited)
	if f := b.view("b").Factor; f != 0.5 {
		t.Errorf("factor %v after a full return and one 429", f)
	}
}

func TestOneOfTwoCredentialsIsRefused(t *testing.T) {
	b := newBench(t)
	met := 0
	for range 1000 { // requests: each takes the first usable credential
		for _, k := range b.view("a").Credentials {
			if !k.Usable {
				continue
			}
			p := b.allow(route("a", k.Name), "c")
			if k.Name == "k1" {
				met++
				p.Done(Result{Failure: classify.Auth})
				continue
			}
			p.Done(Result{OK: true})
			break
		}
		b.wait(time.Second)
	}
	if met != 1 {
		t.Errorf("%d requests met the refused credential, want 1", met)
	}
	b.state("a", StateClosed, true)
	if k := b.credential("a", "k1", CredentialDisabled, false); k.Reason != ReasonUpstreamAuth || !k.Until.IsZero() {
		t.Errorf("credential %+v", k)
	}
	b.fail(route("a", "k2"), classify.Auth)
	if v := b.view("a"); v.State != StateNoCredential || v.Usable || v.Reason != ReasonUpstreamAuth || !v.Since.Equal(b.at) {
		t.Errorf("without any credential the channel is %+v", v)
	}
	if diff := cmp.Diff([]Kind{CredentialDisabledEvent, CredentialDisabledEvent}, b.kinds()); diff != "" {
		t.Error(diff)
	}
}

func TestBalance(t *testing.T) {
	b := newBench(t)
	old := []*Permit{b.allow(route("b", "k1"), "c"), b.allow(route("b", "k1"), "c")}
	b.fail(route("b", "k1"), classify.Balance)
	v := b.view("b")
	if v.State != StatePaused || v.Usable || v.Reason != ReasonUpstreamBalance || !v.Until.Equal(b.at.Add(10*time.Minute)) {
		t.Errorf("view %+v", v)
	}
	b.wait(time.Minute)
	old[0].Done(Result{OK: true}) // began before the account was empty
	old[1].Done(Result{Failure: classify.Balance})
	if got := b.view("b"); !got.Until.Equal(v.Until) || got.Usable {
		t.Errorf("results from before the pause changed it: %+v", got)
	}
	b.wait(9*time.Minute - 1)
	b.refused(route("b", "k1"))
	b.wait(1)
	b.state("b", StatePaused, true)
	probe := b.allow(route("b", "k1"), "c")
	if !probe.Probe() {
		t.Error("the permit does not know that it probes")
	}
	b.state("b", StatePaused, false)
	b.refused(route("b", "k1"))
	probe.Done(Result{Aborted: true})
	b.state("b", StatePaused, true)
	b.fail(route("b", "k1"), classify.Balance)
	b.wait(10*time.Minute - 1)
	b.refused(route("b", "k1"))
	b.wait(1)
	hung := b.allow(route("b", "k1"), "c")
	b.wait(20 * time.Minute)
	b.once(route("b", "k1"), Result{OK: true})
	b.state("b", StateClosed, true)
	hung.Done(Result{OK: true})
	b.state("b", StateClosed, true)
	want := []Kind{CredentialPaused, ChannelPaused, CredentialPaused, ChannelPaused, CredentialResumed, ChannelResumed}
	if diff := cmp.Diff(want, b.kinds()); diff != "" {
		t.Error(diff)
	}
}

func TestOneOfTwoCredentialsIsOutOfBalance(t *testing.T) {
	b := newBench(t)
	b.fail(route("a", "k1"), classify.Balance)
	b.state("a", StateClosed, true)
	b.credential("a", "k1", StatePaused, false)
	if diff := cmp.Diff([]Kind{CredentialPaused}, b.kinds()); diff != "" {
		t.Error(diff)
	}
	b.fail(route("a", "k2"), classify.RateLimited)
	v := b.view("a")
	if v.State != StateCooling || v.Usable || !v.Until.Equal(b.at.Add(time.Second)) {
		t.Errorf("one paused, one cooling: %+v", v)
	}
}

func TestOperator(t *testing.T) {
	b := newBench(t)
	for _, err := range []error{
		b.r.Pause("none", "", ""), b.r.Resume("none", "", ""), b.r.SetWeight("public", "none", 1),
		b.r.SetCredential("none", "k1", true, "", ""), b.r.SetCredential("a", "none", true, "", ""),
	} {
		if _, ok := err.(*Unknown); !ok {
			t.Errorf("error %v for something unknown", err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(b.r.Pause("b", "maintenance", "ann"))
	v := b.view("b")
	if v.State != StatePaused || v.Usable || v.Reason != "maintenance" || !v.Since.Equal(b.at) || !v.Until.IsZero() {
		t.Errorf("view %+v", v)
	}
	b.wait(24 * time.Hour)
	b.refused(route("b", "k1"))
	must(b.r.Pause("b", "again", "bob"))
	must(b.r.Resume("b", "", "ann"))
	b.state("b", StateClosed, true)
	want := []Event{
		{Kind: ChannelPaused, Channel: "b", At: b.at.Add(-24 * time.Hour), Reason: "maintenance", Actor: "ann"},
		{Kind: ChannelResumed, Channel: "b", At: b.at, Reason: ReasonOperator, Actor: "ann"},
	}
	if diff := cmp.Diff(want, b.events); diff != "" {
		t.Error(diff)
	}
	b.kinds()

	b.fail(route("b", "k1"), classify.Balance)
	must(b.r.Resume("b", "paid", "ann"))
	b.state("b", StateClosed, true)

	late := b.allow(route("b", "k1"), "c")
	b.fail(route("b", "k1"), classify.Auth)
	must(b.r.SetCredential("b", "k1", true, "", ""))
	late.Done(Result{Failure: classify.Auth})
	b.state("b", StateClosed, true)
	must(b.r.SetCredential("b", "k1", false, "leaked", "ann"))
	if k := b.credential("b", "k1", CredentialDisabled, false); k.Reason != "leaked" {
		t.Errorf("credential %+v", k)
	}
	b.state("b", StateNoCredential, false)

	must(b.r.SetWeight("public", "b", 0))
	if w, ok := b.r.Weight("public", "b"); w != 0 || !ok {
		t.Errorf("weight %d %v", w, ok)
	}
	must(b.r.SetWeight("public", "b", -1))
	if _, ok := b.r.Weight("public", "b"); ok {
		t.Error("the override stays")
	}
}

func TestEarliestReturn(t *testing.T) {
	b := newBench(t)
	all := []Route{route("a", "k1"), route("a", "k2"), route("b", "k1")}
	want := func(in time.Duration, ok bool) {
		t.Helper()
		at, got := b.r.EarliestReturn(all)
		if got != ok || ok && !at.Equal(b.at.Add(in)) {
			t.Errorf("earliest return in %s (%v), want %s (%v)", at.Sub(b.at), got, in, ok)
		}
	}
	want(0, true)
	for range 5 {
		b.fail(route("a", "k1"), classify.Connect)
	}
	b.once(route("b", "k1"), Result{Failure: classify.RateLimited, RetryAfter: 40 * time.Second})
	want(10*time.Second, true)
	if err := b.r.Pause("a", "", ""); err != nil {
		t.Fatal(err)
	}
	want(40*time.Second, true)
	b.wait(40 * time.Second)
	b.fail(route("b", "k1"), classify.Auth)
	want(10*time.Minute, true) // nothing but a re-check
	if err := b.r.Resume("a", "", ""); err != nil {
		t.Fatal(err)
	}
	want(0, true)
	b.allow(route("a", "k1"), "c")
	want(probeRunning, true)
	_ = b.r.Pause("a", "", "")
	_ = b.r.Pause("b", "", "")
	want(0, false)
	if at, ok := b.r.EarliestReturn(nil); ok {
		t.Errorf("no route returns at %s", at)
	}
}

func TestReload(t *testing.T) {
	b := newBench(t)
	for range 5 {
		b.fail(route("a", "k1"), classify.Connect)
	}
	b.fail(route("b", "k1"), classify.Auth)
	_ = b.r.SetWeight("public", "a", 7)
	_ = b.r.SetCredential("a", "k2", false, "leaked", "ann")
	b.kinds()
	old := b.cfg

	b.cfg = configuration()
	b.cfg.Channels[0].Credentials = []config.Credential{{Name: "k2", Key: config.NewSecret("sk-new")}, key("k3")}
	b.r.Configure(b.cfg)
	b.state("a", StateOpen, false)
	b.credential("a", "k2", CredentialDisabled, false) // an operator's order outlives a new key
	b.credential("a", "k3", CredentialActive, true)
	b.state("b", StateNoCredential, false)
	if v := b.r.View(old.Channel("a"), upstreamModel); len(v.Credentials) != 2 || v.Credentials[0].Name != "k1" {
		t.Errorf("a request under the old configuration sees %+v", v)
	}

	b.cfg = configuration()
	b.cfg.Channels[1].Credentials[0].Key = config.NewSecret("sk-new")
	b.r.Configure(b.cfg)
	b.state("b", StateClosed, true) // upstream's refusal was of the old key
	if diff := cmp.Diff([]Kind{CredentialEnabledEvent}, b.kinds()); diff != "" {
		t.Error(diff)
	}

	late := b.allow(route("b", "k1"), "c")
	b.cfg = configuration()
	b.cfg.Channels = b.cfg.Channels[1:]
	b.cfg.Models[0].Channels = b.cfg.Models[0].Channels[1:]
	b.r.Configure(b.cfg)
	late.Done(Result{Failure: classify.Auth}) // of a key that was replaced
	b.state("b", StateClosed, true)
	if _, ok := b.r.Weight("public", "a"); ok {
		t.Error("the weight of a channel that vanished stays")
	}
	b.cfg = configuration()
	b.r.Configure(b.cfg)
	b.state("a", StateClosed, true)
}

func TestSnapshot(t *testing.T) {
	b := newBench(t)
	for range 5 {
		b.fail(route("a", "k1"), classify.Connect)
	}
	b.fail(route("b", "k1"), classify.Auth)
	b.once(route("k", ""), Result{Failure: classify.RateLimited, RetryAfter: 50 * time.Second})
	_ = b.r.SetCredential("a", "k2", false, "leaked", "ann")
	_ = b.r.SetWeight("public", "a", 7)
	want := map[string]View{"a": b.view("a"), "b": b.view("b"), "k": b.view("k")}
	stored, err := json.Marshal(b.r.Export())
	if err != nil {
		t.Fatal(err)
	}
	var s Snapshot
	if err := json.Unmarshal(stored, &s); err != nil {
		t.Fatal(err)
	}

	n := newBench(t)
	n.at = b.at
	n.r.Import(s, n.at)
	for name, w := range want {
		if diff := cmp.Diff(w, n.view(name)); diff != "" {
			t.Errorf("channel %s after a restart:\n%s", name, diff)
		}
	}
	if w, ok := n.r.Weight("public", "a"); w != 7 || !ok {
		t.Errorf("weight %d %v", w, ok)
	}
	if diff := cmp.Diff(s.Channels[0].Credentials, n.r.Export().Channels[0].Credentials, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}

	late := newBench(t)
	late.at = b.at.Add(time.Hour)
	late.r.Import(s, late.at)
	late.state("a", StateHalfOpen, true)
	late.state("k", StateClosed, true)

	early := newBench(t) // a clock that was set back
	early.at = b.at.Add(-1000 * time.Hour)
	early.r.Import(s, early.at)
	if v := early.view("k"); v.Until.Sub(early.at) > time.Minute {
		t.Errorf("cooling until %s from now", v.Until.Sub(early.at))
	}
	if v := early.view("a"); v.Until.Sub(early.at) > 5*time.Minute {
		t.Errorf("open until %s from now", v.Until.Sub(early.at))
	}
	n.r.Import(Snapshot{Channels: []ChannelSnapshot{{Name: "none"}}, Weights: []WeightSnapshot{{Channel: "none"}}}, n.at)
}

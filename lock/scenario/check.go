package scenario

import (
	"fmt"
	"regexp"

	"rubicon/internal/lab/sim"
)

// check finds what would make a scenario say less than it seems to, or what
// would make it race.
func (s *Scenario) check() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if s.Title == "" || s.Why == "" {
		bad("title and why are required")
	}
	if len(s.Requests()) == 0 {
		bad("no request")
	}
	if s.Fault != "" && s.Fault != faultChoosing {
		bad("fault: only %q is known", faultChoosing)
	}
	names := map[string]bool{}
	for _, r := range s.Requests() {
		if names[r.Name] {
			bad("two requests are named %q", r.Name)
		}
		names[r.Name] = true
		if !word.MatchString(r.Name) {
			bad("request %q: a name is one word", r.Name)
		}
		if surfaces[r.Surface].path == "" && r.Call == "" {
			bad("request %s: no such surface: %q", r.Name, r.Surface)
		}
		if _, ok := s.Customers[r.Customer]; !ok && r.Key == nil {
			bad("request %s: no such customer: %q", r.Name, r.Customer)
		}
	}
	for i, st := range s.Steps {
		if n := st.count(); n != 1 {
			bad("step %d says %d things, not one", i+1, n)
		}
	}
	if s.Expect.Calls == nil {
		bad("expect.calls is required: how many calls each channel got")
	}
	if len(s.Requests()) != 1 && s.Expect.asksOfRequest() {
		bad("expect: what concerns one request stands in that request's own expect where there are several")
	}
	for key, u := range s.Upstream {
		for n, call := range u.Script.Calls {
			if why := races(call); why != "" {
				bad("upstream %s: call %d: %s", key, n+1, why)
			}
		}
	}
	return errs
}

var word = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func (st Step) count() int {
	n := 0
	for _, set := range [...]bool{st.Request != nil, st.Start != nil, st.Together != nil, st.Await != "", st.Wait != 0,
		st.Admin != nil, st.Restart != "", st.Store != ""} {
		if set {
			n++
		}
	}
	return n
}

// races says why a script's call would not do the same every time. A reset
// destroys what is still on its way, so that it must not follow at once on
// anything that was written.
func races(call []sim.Step) string {
	wrote := false
	for _, st := range call {
		switch st.Do {
		case "wait":
			wrote = false
		case "reset":
			if wrote {
				return "a reset right behind written bytes may destroy them: put {wait: 10ms} between"
			}
		case "cut":
			if st.How == "reset" {
				return "a cut with reset may destroy what was written: use fin"
			}
		case "gzip", "crlf", "unnamed", "close", "split", "drip", "pause":
		default:
			wrote = true
		}
	}
	return ""
}

package audit

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var surfaces = []Surface{Chat, Messages, Responses, Socket}

// printed writes a report into the test's log.
func (r *auditTest) printed(report *Report) *Report {
	r.Helper()
	for _, x := range report.Results {
		r.Logf("%-15s %-8s %d+%d calls, first %d ms, total %d ms: %s %v", x.Name, x.Grade, x.Primary, x.Fallback, x.First, x.Total, x.Client, x.Findings)
	}
	return report
}

// below gives the cases that are not a pass, with their grades.
func below(report *Report) map[string]Grade {
	out := map[string]Grade{}
	for _, x := range report.Results {
		if x.Grade != Pass {
			out[x.Name] = x.Grade
		}
	}
	return out
}

// With the profile, Rubicon fails none of the sixteen faults. What was cut
// after output is an honest error; what is silent on Responses is one too,
// because it may be running and nothing says that it is not.
func TestRubiconFaults(t *testing.T) {
	cuts := map[string]Grade{"cut": Safe, "stall": Safe, "bad-json": Safe, "no-prefill": Safe}
	silent := map[string]Grade{"cut": Safe, "stall": Safe, "bad-json": Safe, "no-prefill": Safe, "silence": Safe, "slow-start": Safe}
	for surface, want := range map[Surface]map[string]Grade{Chat: cuts, Messages: cuts, Responses: silent, Socket: silent} {
		t.Run(string(surface), func(t *testing.T) {
			inBubble(t, func(r *auditTest) {
				o := r.options(Faults, surface)
				o.Key = r.rubicon(o, "").key
				report := r.printed(r.audit(o))
				if len(report.Results) != 16 {
					r.Errorf("%d faults", len(report.Results))
				}
				if diff := cmp.Diff(want, below(report)); diff != "" {
					r.Error(diff)
				}
				inTime(r, report)
			})
		})
	}
}

// inTime: a first token within 15 s where there is one, an end within the
// profile's longest timer.
func inTime(r *auditTest, report *Report) {
	for _, x := range report.Results {
		if x.First > firstTokenBy.Milliseconds() || x.Total > (idle+5*time.Second).Milliseconds() {
			r.Errorf("%s: first output after %d ms, end after %d ms", x.Name, x.First, x.Total)
		}
	}
}

// With atomic delivery the cuts end in complete answers too, whoever asks for
// it: the request, the model or everything.
func TestRubiconFaultsAtomic(t *testing.T) {
	silent := map[string]Grade{"silence": Safe, "slow-start": Safe}
	for surface, want := range map[Surface]map[string]Grade{Chat: {}, Messages: {}, Responses: silent, Socket: silent} {
		for _, by := range []string{"header", "configuration"} {
			t.Run(string(surface)+"/"+by, func(t *testing.T) {
				inBubble(t, func(r *auditTest) {
					o := r.options(Faults, surface)
					more := ""
					if by == "header" {
						o.Header = http.Header{"Rubicon-Delivery": {"atomic"}}
					} else {
						more = "delivery: atomic\n"
					}
					o.Key = r.rubicon(o, more).key
					report := r.printed(r.audit(o))
					if diff := cmp.Diff(want, below(report)); diff != "" {
						r.Error(diff)
					}
				})
			})
		}
	}
}

// The audit run against Rubicon passes whole.
func TestRubiconContract(t *testing.T) {
	for _, surface := range surfaces {
		t.Run(string(surface), func(t *testing.T) {
			inBubble(t, func(r *auditTest) {
				o := r.options(Contract, surface)
				o.Key = r.rubicon(o, "").key
				report := r.printed(r.audit(o))
				if diff := cmp.Diff(map[string]Grade{}, below(report)); diff != "" {
					r.Error(diff)
				}
			})
		})
	}
}

package audit

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Run plays the suite and judges it. An error means that it could not be
// played, not that the target did badly.
func Run(ctx context.Context, o Options) (*Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	list, err := o.scenes()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	d, err := startProviders(ctx, o)
	defer d.wg.Wait()
	defer stop()
	if err != nil {
		return nil, err
	}
	r := &run{o: o, desk: d, client: newClient(o)}
	report := &Report{Suite: o.Suite, Surface: o.Surface, Target: o.Target, Fast: o.Fast}
	for i := range list {
		if i > 0 {
			r.sleep(ctx, o.Pause)
		}
		res := r.scene(ctx, &list[i])
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		res.N = i + 1
		report.Results = append(report.Results, res)
		if o.Each != nil {
			o.Each(res)
		}
	}
	return report, nil
}

// scenes are the cases of this run.
func (o Options) scenes() ([]auditCase, error) {
	all := contractCases()
	if o.Suite == Faults {
		all = faultCases()
	}
	for _, name := range o.Only {
		if !slices.ContainsFunc(all, func(s auditCase) bool { return s.name == name }) {
			return nil, fmt.Errorf("the suite %s has no case %q", o.Suite, name)
		}
	}
	return slices.DeleteFunc(all, func(s auditCase) bool {
		return !s.applies(o.Surface) || len(o.Only) > 0 && !slices.Contains(o.Only, s.name)
	}), nil
}

// run is what plays the cases.
type run struct {
	o      Options
	desk   *providers
	client *client
	marks  int
}

// auditCase plays one case.
func (r *run) scene(ctx context.Context, s *auditCase) Result {
	var takes []*observation
	if s.every > 0 {
		takes = r.series(ctx, s)
	} else {
		takes = r.asks(ctx, s)
	}
	return r.o.result(s, takes)
}

// requests sends the case's requests one after the other.
func (r *run) asks(ctx context.Context, s *auditCase) []*observation {
	var takes []*observation
	previous := ""
	asks := s.requests
	if asks == nil {
		asks = []clientRequest{{}}
	}
	for _, a := range asks {
		t := r.nextNumber(ctx, s, a, previous, time.Now())
		takes = append(takes, t)
		if len(t.client.ids) > 0 {
			previous = t.client.ids[0]
		}
	}
	return takes
}

// series sends the same request every so often.
func (r *run) series(ctx context.Context, s *auditCase) []*observation {
	n := int(s.during / s.every)
	takes := make([]*observation, n)
	began := time.Now()
	var wg sync.WaitGroup
	for i := range n {
		mark := r.mark(s)
		wg.Go(func() { takes[i] = r.marked(ctx, s, clientRequest{}, asked{mark: mark, began: began}) })
		r.sleep(ctx, r.o.scale(s.every))
	}
	wg.Wait()
	return takes
}

// asked is what belongs to one request alone.
type asked struct {
	mark, previous string
	began          time.Time // of the case
}

func (r *run) nextNumber(ctx context.Context, s *auditCase, a clientRequest, previous string, began time.Time) *observation {
	return r.marked(ctx, s, a, asked{r.mark(s), previous, began})
}

// mark makes the next request's mark.
func (r *run) mark(s *auditCase) string {
	r.marks++
	return fmt.Sprintf("%s.%d.%s", s.name, r.marks, r.o.Seed)
}

// marked sends one request and gathers what both sides saw.
func (r *run) marked(ctx context.Context, s *auditCase, a clientRequest, q asked) *observation {
	t := &observation{ask: a, sent: time.Now()}
	if a.continues && q.previous == "" {
		q.previous = "resp_none"
	}
	if !a.continues {
		q.previous = ""
	}
	if a.unknown {
		q.previous = "resp_0123456789abcdef0123456789abcdef"
	}
	body, err := a.body(r.o.Surface, r.o.modelOf(s.name), q.mark, q.previous)
	if err != nil {
		panic(err.Error()) // constants and texts always encode
	}
	r.desk.assign(q.mark, s, q.began)
	t.client = r.client.ask(ctx, a, body, r.limit(s))
	if a.leaves {
		r.sleep(ctx, waitForRecord)
		t.running = r.desk.running(q.mark)
	} else {
		t.recorded = r.client.recordedUsage(ctx, t.client.header.Get("X-Request-Id"))
	}
	for i := range t.calls {
		t.calls[i] = r.desk.calls(i, q.mark)
	}
	return t
}

// waitForRecord is how long an upstream call may go on after its client has left.
const waitForRecord = time.Second

func (r *run) limit(s *auditCase) time.Duration {
	if s.limit > 0 {
		return r.o.scale(s.limit)
	}
	return r.o.scale(defaultLimit)
}

func (r *run) sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// result judges a case.
func (o Options) result(s *auditCase, takes []*observation) Result {
	res := Result{Name: s.name, About: s.about, Row: s.row, Requests: len(takes), Findings: []Finding{}}
	var all [][]Finding
	for i, t := range takes {
		found := o.judge(s, t, i == len(takes)-1 || s.every > 0)
		all = append(all, found)
		res.Primary += len(t.calls[primary])
		res.Fallback += len(t.calls[fallback])
		res.First = max(res.First, t.client.firstOutput.Milliseconds())
		res.Total = max(res.Total, t.client.total.Milliseconds())
		if t.client.finished() && (&findings{t: t, s: s, c: t.client, whole: wantedText(s, t.ask)}).complete() {
			res.Answered++
		}
		res.Client = t.client.String()
	}
	if s.every > 0 {
		res.Findings = append(res.Findings, series(all, len(takes))...)
		res.Client = fmt.Sprintf("%d of %d answered", res.Answered, len(takes))
	} else {
		res.Findings = append(res.Findings, slices.Concat(all...)...)
	}
	res.grade()
	return res
}

// check judges one request; those before a case's last must simply be answered.
func (o Options) judge(s *auditCase, t *observation, last bool) []Finding {
	w := s.want
	if !last {
		w = want{}
	}
	if o.Suite == Faults {
		return w.grade(t, s, o)
	}
	return w.check(t, s, o)
}

// grade takes the case down to its worst finding.
func (r *Result) grade() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return slices.Index(gradeOrder[:], a.Grade) - slices.Index(gradeOrder[:], b.Grade)
	})
	r.Grade = Pass
	if len(r.Findings) > 0 {
		r.Grade = r.Findings[0].Grade
	}
}

package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// plainProxy is the least that one can put between a client and a provider: the
// standard library's reverse proxy to the primary.
func (r *auditTest) plainProxy(o Options) http.Handler {
	to, _ := url.Parse("http://" + o.Listen[primary])
	p := &httputil.ReverseProxy{
		Rewrite: func(q *httputil.ProxyRequest) {
			q.SetURL(to)
			q.Out.Header.Set("Authorization", "Bearer "+primaryKey)
		},
		Transport:     &http.Transport{DialContext: r.net.Dial, DisableKeepAlives: true},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "proxy: "+err.Error(), http.StatusBadGateway)
		},
	}
	return p
}

// retryingGateway is a gateway that means well and does everything wrong: it tries again
// whatever happened, and always ends well.
type retryingGateway struct {
	http              *http.Client
	upstreams         [2]string
	ending            string
	sendsStatusLate   bool // hands everything over at its end
	ignoresClientLeft bool // does not notice that the client left
	sendsRetryAdvice  bool // tells clients of its upstreams
	miscounts         bool // adds an input token
}

func (r *auditTest) eager(o Options) *retryingGateway {
	return &retryingGateway{http: &http.Client{Transport: &http.Transport{DialContext: r.net.Dial, DisableKeepAlives: true}}, upstreams: o.Listen,
		ending: map[Surface]string{Chat: "data: [DONE]\n\n", Messages: "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
			Responses: "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_eager\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n"}[o.Surface]}
}

// tries is how often it tries: enough to hammer.
const tries = 6

func (e *retryingGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	ctx := r.Context()
	if e.ignoresClientLeft {
		ctx = context.WithoutCancel(ctx)
	}
	if e.sendsRetryAdvice {
		w.Header().Set("X-Served-By", e.upstreams[primary])
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := io.Writer(flushing{w})
	if e.sendsStatusLate {
		out = &bytes.Buffer{}
	}
	for i := range tries {
		if e.try(ctx, r, out, body, e.upstreams[i%2]) {
			break
		}
		if i == tries-1 {
			_, _ = io.WriteString(out, e.ending)
		}
	}
	if b, ok := out.(*bytes.Buffer); ok {
		all := b.Bytes()
		if e.miscounts {
			all = bytes.ReplaceAll(all, []byte(`_tokens":20`), []byte(`_tokens":21`))
		}
		_, _ = w.Write(all)
	}
}

// try copies one upstream's stream; true: it ended well.
func (e *retryingGateway) try(ctx context.Context, r *http.Request, out io.Writer, body []byte, upstream string) bool {
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+upstream+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		return false
	}
	resp, err := e.http.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false
	}
	var seen bytes.Buffer
	_, _ = io.Copy(io.MultiWriter(out, &seen), resp.Body)
	return slices.ContainsFunc([]string{"[DONE]", "response.completed", "message_stop"}, func(s string) bool { return strings.Contains(seen.String(), s) })
}

type flushing struct{ w http.ResponseWriter }

func (f flushing) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	_ = http.NewResponseController(f.w).Flush()
	return n, err
}

// completingGateway is a gateway that goes on where a cut answer stopped: it gives the
// words that it has to the other provider as the assistant's own.
type completingGateway struct {
	*retryingGateway
}

func (m *completingGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	var got bytes.Buffer
	if m.try(r.Context(), r, io.MultiWriter(flushing{w}, &got), body, m.upstreams[primary]) {
		return
	}
	s := &clientView{}
	for _, line := range strings.Split(got.String(), "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			readChat(s, "", []byte(data))
		}
	}
	var q map[string]any
	_ = json.Unmarshal(body, &q)
	turns, _ := q["messages"].([]any)
	if s.text.Len() > 0 {
		q["messages"] = append(turns, fields{"role": "assistant", "content": s.text.String()})
	}
	body, _ = json.Marshal(q)
	if !m.try(r.Context(), r, flushing{w}, body, m.upstreams[fallback]) {
		_, _ = io.WriteString(w, "data: {\"error\":{\"message\":\"cut\",\"type\":\"server_error\",\"code\":null}}\n\n")
	}
}

// A gateway that mends cuts answers them whole, unless the fallback refuses an
// assistant's words at the end.
func TestMendingGateway(t *testing.T) {
	inBubble(t, func(r *auditTest) {
		o := r.options(Faults, Chat)
		o.Only = []string{"cut", "stall", "no-prefill"}
		r.serve(&completingGateway{r.eager(o)})
		if diff := cmp.Diff(map[string]Grade{"no-prefill": Safe}, below(r.printed(r.audit(o)))); diff != "" {
			r.Error(diff)
		}
	})
}

// held gives what was held against each case.
func held(report *Report) map[string][]Check {
	out := map[string][]Check{}
	for _, x := range report.Results {
		for _, f := range x.Findings {
			if !slices.Contains(out[x.Name], f.Check) {
				out[x.Name] = append(out[x.Name], f.Check)
			}
		}
		slices.Sort(out[x.Name])
	}
	return out
}

// A plain reverse proxy passes answers on and repeats nothing; it never makes
// up for a failure, it passes on what its upstream says of itself, and its cuts
// come without a word.
func TestPlainProxyContract(t *testing.T) {
	inBubble(t, func(r *auditTest) {
		o := r.options(Contract, Chat)
		r.serve(r.plainProxy(o))
		got := held(r.printed(r.audit(o)))
		want := map[string][]Check{
			"no-done":            {Ending},
			"failed-event":       {NoAnswer},
			"failed-first":       {NoAnswer},
			"read-error":         {NoAnswer, ErrorShape},
			"reset":              {NoAnswer, ErrorShape},
			"upstream-500":       {NoAnswer},
			"html":               {Ending, FalseFinish, Unreadable},
			"rate-limited":       {NoAnswer},
			"overloaded":         {NoAnswer},
			"unfit":              {NoAnswer},
			"balance":            {NoAnswer},
			"json-500":           {NoAnswer},
			"json-broken":        {NoAnswer, ErrorShape},
			"both-fail":          {Status},
			"leak":               {Leak},
			"auth":               {Leak, Status},
			"cut-lifecycle":      {Ending},
			"first-event-switch": {Hang},
			"header-switch":      {Hang},
			"cut":                {Ending},
			"cut-fin":            {Ending},
			"cut-clean":          {Ending, FalseFinish},
			"cut-half-event":     {Ending},
			"cut-tool":           {Ending},
			"idle-late":          {Hang},
			"no-json":            {FalseFinish, Unreadable},
			"stored-500":         {RetryAdvice},
			"stored-limited":     {NoAnswer},
		}
		for name := range want {
			slices.Sort(want[name])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			r.Error(diff)
		}
	})
}

func TestPlainProxyFaults(t *testing.T) {
	inBubble(t, func(r *auditTest) {
		o := r.options(Faults, Chat)
		r.serve(r.plainProxy(o))
		want := map[string]Grade{"429-once": Safe, "429-lasting": Safe, "500-once": Safe, "503-lasting": Safe, "reset": Safe, "silence": Partial,
			"slow-start": Partial, "cut": Safe, "stall": Fail, "bad-json": Fail, "no-prefill": Safe, "flapping": Safe, "accounting": Safe}
		if diff := cmp.Diff(want, below(r.printed(r.audit(o)))); diff != "" {
			r.Error(diff)
		}
	})
}

// What an eager gateway makes of it: text twice, cuts that look finished,
// second executions of what must run once, and as many tries as it can.
func TestEagerGateway(t *testing.T) {
	want := map[Surface]map[string][]Check{
		Chat: {
			"cut":           {DuplicateOutput, FalseFinish, ReplayEffects},
			"cut-tool":      {RepeatedTool},
			"cut-lifecycle": {UpstreamCalls},
			"both-limited":  {Hammering, FalseFinish, UpstreamCalls},
			"stored":        {ReplayStateful},
			"usage-seen":    {ReplayEffects},
			"no-done":       {DuplicateOutput},
		},
		Responses: {
			"cut":                 {DuplicateOutput, ReplayEffects},
			"failed-event":        {DuplicateOutput},
			"stored":              {ReplayStateful},
			"continued":           {ReplayStateful},
			"unknown-state":       {UpstreamCalls},
			"hosted":              {ReplayEffects},
			"first-event-timeout": {ReplayTimeout},
			"header-timeout":      {ReplayTimeout},
		},
		Messages: {
			"cut":    {DuplicateOutput, ReplayEffects},
			"hosted": {ReplayEffects},
		},
	}
	for surface, cases := range want {
		t.Run(string(surface), func(t *testing.T) {
			inBubble(t, func(r *auditTest) {
				o := r.options(Contract, surface)
				r.serve(r.eager(o))
				got := held(r.printed(r.audit(o)))
				for name, checks := range cases {
					for _, c := range checks {
						if !slices.Contains(got[name], c) {
							r.Errorf("%s: %v, without %s", name, got[name], c)
						}
					}
				}
			})
		})
	}
}

// The crash test fails such a gateway where it must.
func TestEagerGatewayFaults(t *testing.T) {
	inBubble(t, func(r *auditTest) {
		o := r.options(Faults, Chat)
		r.serve(r.eager(o))
		got := below(r.printed(r.audit(o)))
		for _, name := range []string{"cut", "bad-json", "context-length", "content-filter", "no-prefill"} {
			if got[name] != Fail {
				r.Errorf("%s: %s", name, got[name])
			}
		}
	})
}

// Every check can fail: some gateway is caught by it.
func TestEveryCheckCanFail(t *testing.T) {
	seen := map[Check]bool{}
	note := func(report *Report) {
		for _, checks := range held(report) {
			for _, c := range checks {
				seen[c] = true
			}
		}
	}
	for _, surface := range []Surface{Chat, Responses} {
		inBubble(t, func(r *auditTest) {
			o := r.options(Contract, surface)
			r.serve(r.plainProxy(o))
			note(r.audit(o))
		})
		inBubble(t, func(r *auditTest) {
			o := r.options(Contract, surface)
			e := r.eager(o)
			e.sendsStatusLate, e.ignoresClientLeft, e.sendsRetryAdvice, e.miscounts = true, true, true, true
			r.serve(e)
			note(r.audit(o))
		})
		inBubble(t, func(r *auditTest) {
			o := r.options(Contract, surface)
			e := r.eager(o)
			e.ignoresClientLeft = true
			r.serve(e)
			note(r.audit(o))
		})
	}
	for _, c := range Checks() {
		if !seen[c] {
			t.Errorf("no gateway was caught by %s", c)
		}
	}
}

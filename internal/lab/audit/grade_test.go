package audit

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/lab/sim"
)

// heard makes what a client saw of a status and of Chat chunks.
func heard(status int, end endKind, data ...string) *clientView {
	s := &clientView{status: status, header: http.Header{"Content-Type": {"application/json"}}, end: end}
	for _, d := range data {
		if status != http.StatusOK {
			s.readWhole(Chat, []byte(d))
			continue
		}
		s.events++
		readChat(s, "", []byte(d))
	}
	return s
}

func chunk(words string) string {
	return `{"choices":[{"delta":{"content":"` + words + `"}}]}`
}

const (
	finish = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	failed = `{"error":{"message":"broke","type":"server_error","code":"upstream_stream_error"}}`
)

func TestGrade(t *testing.T) {
	s := &auditCase{words: 3}
	soon := want{first: 15 * time.Second}
	refused := want{answer: mustFail, calls: 2, status: []int{400}, codes: []string{"context_length_exceeded"}}
	context := `{"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}}`
	tests := map[string]struct {
		want   want
		client *clientView
		calls  int
		grade  Grade
	}{
		"whole":                     {soon, heard(200, endClean, chunk(answerText(3)), finish, "[DONE]"), 1, Pass},
		"whole without [DONE]":      {soon, heard(200, endClean, chunk(answerText(3)), finish), 1, Pass},
		"whole, four tries":         {soon, heard(200, endClean, chunk(answerText(3)), finish, "[DONE]"), 4, Pass},
		"whole, five tries":         {soon, heard(200, endClean, chunk(answerText(3)), finish, "[DONE]"), 5, Fail},
		"words twice":               {soon, heard(200, endClean, chunk(answerText(2)+answerText(3)), finish, "[DONE]"), 2, Fail},
		"words lost":                {soon, heard(200, endClean, chunk(word(1)+word(3)), finish, "[DONE]"), 1, Fail},
		"cut that looks finished":   {soon, heard(200, endClean, chunk(answerText(2)), "[DONE]"), 1, Fail},
		"just closed":               {soon, heard(200, endClean, chunk(answerText(2))), 1, Fail},
		"broken off":                {soon, heard(200, endBroken, chunk(answerText(2))), 1, Safe},
		"an error behind the words": {soon, heard(200, endClean, chunk(answerText(2)), failed), 1, Safe},
		"an error, then [DONE]": {soon, func() *clientView {
			s := heard(200, endClean, chunk(answerText(2)), failed, "[DONE]")
			s.after = 1
			return s
		}(), 1, Safe},
		"words lost, then an error":   {soon, heard(200, endClean, chunk(word(2)), failed), 1, Fail},
		"a status":                    {soon, heard(502, endClean, failed), 1, Safe},
		"a rate limit":                {soon, heard(429, endClean, failed), 1, Safe},
		"a status that blames":        {soon, heard(404, endClean, failed), 1, Fail},
		"hung":                        {soon, heard(200, endHung), 1, Fail},
		"refused":                     {refused, heard(400, endClean, context), 2, Pass},
		"refused, tried around":       {refused, heard(400, endClean, context), 3, Partial},
		"refused, the reason lost":    {refused, heard(400, endClean, failed), 1, Partial},
		"refused, told as a failure":  {refused, heard(502, endClean, context), 1, Fail},
		"refused, and answered still": {refused, heard(200, endClean, chunk(answerText(3)), finish, "[DONE]"), 1, Fail},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			x := &observation{client: tt.client}
			for range tt.calls {
				x.calls[primary] = append(x.calls[primary], sim.Call{At: time.Unix(1, 0)})
			}
			r := Result{Findings: tt.want.grade(x, s, Options{})}
			r.grade()
			if r.Grade != tt.grade {
				t.Errorf("%s: %v, want %s", r.Grade, r.Findings, tt.grade)
			}
		})
	}
	late := heard(200, endClean, chunk(answerText(3)), finish, "[DONE]")
	late.firstOutput = 2 * time.Second
	if got := soon.grade(&observation{client: late}, s, Options{Fast: true}); len(got) != 1 || got[0].Grade != Partial {
		t.Errorf("late by the fast clock: %v", got)
	}
}

func TestSeries(t *testing.T) {
	one := func(g Grade) []Finding {
		if g == Pass {
			return nil
		}
		return []Finding{{NoAnswer, g, ""}}
	}
	for want, grades := range map[Grade][]Grade{
		Pass:    {Pass, Pass},
		Partial: {Pass, Pass, Pass, Pass, Pass, Pass, Pass, Pass, Pass, Safe},
		Safe:    {Pass, Safe},
		Fail:    {Pass, Pass, Pass, Pass, Pass, Pass, Pass, Pass, Pass, Fail},
	} {
		var all [][]Finding
		for _, g := range grades {
			all = append(all, one(g))
		}
		r := Result{Findings: series(all, len(all))}
		if r.grade(); r.Grade != want {
			t.Errorf("%v: %s, want %s", grades, r.Grade, want)
		}
	}
}

func TestPrefilled(t *testing.T) {
	for body, want := range map[string]int{
		`{"messages":[{"role":"user","content":"w01"}]}`:                                           0,
		`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"w01 w02 "}]}`:   2,
		`{"input":[{"role":"assistant","content":[{"type":"output_text","text":"w01 w02 w03"}]}]}`: 3,
		`{"input":"w01"}`: 0,
		`no JSON`:         0,
	} {
		if got := prefilled([]byte(body)); got != want {
			t.Errorf("%s: %d, want %d", body, got, want)
		}
	}
}

func TestGrades(t *testing.T) {
	var got []string
	for _, g := range []Grade{Pass, Partial, Safe, Fail} {
		line := string(g)
		for _, other := range []Grade{Pass, Partial, Safe, Fail} {
			if g.AtLeast(other) {
				line += " " + string(other)
			}
		}
		got = append(got, line)
	}
	want := []string{"pass pass partial safe fail", "partial partial safe fail", "safe safe fail", "fail fail"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := ParseGrade("good"); ok {
		t.Error("an unknown grade was read")
	}
	if (&Report{}).Reaches(Fail) {
		t.Error("nothing was run, and it is good enough")
	}
}

// A target's words stay inside a table's cell and a terminal's line.
func TestReportIsTame(t *testing.T) {
	r := &Report{Suite: Faults, Surface: Chat, Target: "http://x", Results: []Result{{N: 1, Name: "cut", About: "a", Grade: Fail,
		Client: "error a|b\n\x1b[31m<b>`", Findings: []Finding{{Leak, Fail, "line\nbreak|" + strings.Repeat("x", 1000)}}}}}
	page := r.Markdown()
	if strings.ContainsAny(page, "\x1b") || strings.Count(page, "\n") != 13 || strings.Contains(page, "<b>") || !strings.Contains(page, `a\|b`) || len(page) > 2000 {
		t.Errorf("%q", page)
	}
	if line := r.Results[0].Line(); strings.Contains(line, "\x1b") || strings.Count(line, "\n") != 1 {
		t.Errorf("%q", line)
	}
	raw, err := json.Marshal(r)
	var back struct {
		Suite  string
		Counts map[string]int
	}
	if err != nil || json.Unmarshal(raw, &back) != nil || back.Counts["fail"] != 1 || back.Suite != "faults" {
		t.Errorf("%v %s", err, raw)
	}
}

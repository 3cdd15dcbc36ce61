package audit

import (
	"slices"
)

// Grade is what a case came to, best first.
type Grade string

// The grades; docs/audit.md defines them.
const (
	Pass    Grade = "pass"    // the whole answer once, or the right error, in time
	Partial Grade = "partial" // the answer or the right error, but not as promised: late, misreported
	Safe    Grade = "safe"    // no answer, but an honest error: nothing twice, nothing falsely finished
	Fail    Grade = "fail"    // a hang, a cut that looks finished, text twice, hammering, a wrong error
)

var gradeOrder = [...]Grade{Fail, Safe, Partial, Pass}

// AtLeast reports whether the grade is as good as another.
func (g Grade) AtLeast(other Grade) bool {
	return slices.Index(gradeOrder[:], g) >= slices.Index(gradeOrder[:], other)
}

// ParseGrade reads a grade's name.
func ParseGrade(s string) (Grade, bool) {
	g := Grade(s)
	return g, slices.Contains(gradeOrder[:], g)
}

// Report is one run.
type Report struct {
	Suite   Suite    `json:"suite"`
	Surface Surface  `json:"surface"`
	Target  string   `json:"target"`
	Fast    bool     `json:"fast"`
	Results []Result `json:"results"`
}

// Result is one case.
type Result struct {
	N        int       `json:"n"`
	Name     string    `json:"name"`
	About    string    `json:"about"`
	Row      string    `json:"row,omitempty"` // of the table docs/contract.md#s3
	Grade    Grade     `json:"grade"`
	Findings []Finding `json:"findings"` // what was held against it, worst first
	Requests int       `json:"requests"`
	Answered int       `json:"answered"` // of them with the whole answer
	Primary  int       `json:"primary"`  // calls that the primary got
	Fallback int       `json:"fallback"`
	First    int64     `json:"first_output_ms"` // slowest; 0: no output
	Total    int64     `json:"total_ms"`        // slowest
	Client   string    `json:"client"`          // what the client saw, in a few words
}

// Finding is one promise that was not kept.
type Finding struct {
	Check Check  `json:"check"`
	Grade Grade  `json:"grade"` // what it takes the case down to
	Text  string `json:"text"`
}

// Check names a promise.
type Check string

// Count is how many results have the grade.
func (r *Report) Count(g Grade) int {
	n := 0
	for _, x := range r.Results {
		if x.Grade == g {
			n++
		}
	}
	return n
}

// Reaches reports whether every case is at least that good.
func (r *Report) Reaches(g Grade) bool {
	for _, x := range r.Results {
		if !x.Grade.AtLeast(g) {
			return false
		}
	}
	return len(r.Results) > 0
}

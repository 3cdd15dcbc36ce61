package audit

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"rubicon/internal/lab/sim"
)

// faultRows and contractRows are the tables of docs/audit.md.
func faultRows() (rows []string) {
	for i, s := range faultCases() {
		rows = append(rows, fmt.Sprintf("| %d | `%s` | %s |", i+1, s.name, s.about))
	}
	return rows
}

func contractRows() (rows []string) {
	for _, s := range contractCases() {
		on := "all"
		if s.surfaces != nil {
			var names []string
			for _, x := range s.surfaces {
				names = append(names, string(x))
			}
			on = strings.Join(names, ", ")
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s | %s |", s.name, s.row, s.about, s.want, on))
	}
	return rows
}

// The documentation names every case as it is played, and every check.
func TestDocumentation(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for _, rows := range [][]string{faultRows(), contractRows()} {
		if want := strings.Join(rows, "\n"); !strings.Contains(page, want) {
			t.Errorf("docs/audit.md is stale; this table must stand there:\n%s", want)
		}
	}
	for _, c := range Checks() {
		if !strings.Contains(page, fmt.Sprintf("| `%s` |", c)) {
			t.Errorf("docs/audit.md does not explain %s", c)
		}
	}
}

// Cases have names of their own, and every script plays.
func TestCases(t *testing.T) {
	for suite, list := range map[Suite][]auditCase{Faults: faultCases(), Contract: contractCases()} {
		names := map[string]bool{}
		for _, s := range list {
			if names[s.name] || s.about == "" || s.words == 0 {
				t.Errorf("%s: %q is not fit", suite, s.name)
			}
			names[s.name] = true
		}
	}
	if n := len(faultCases()); n != 16 {
		t.Errorf("%d faults", n)
	}
	for n := 1; n < faultWords; n++ {
		if s := (providerPart{calls: [][]sim.Step{continuing().other(fmt.Sprintf(fromWord, n))}}); len(s.calls[0]) < 4 {
			t.Errorf("nothing behind %d words", n)
		}
	}
}

// Every model that a suite asks for is in what Setup prints, with a fallback.
func TestSetup(t *testing.T) {
	for _, surface := range surfaces {
		o := Options{Surface: surface, Fast: true}
		text, err := Setup(ForLiteLLM, o)
		if err != nil {
			t.Fatal(err)
		}
		var c struct {
			Models []struct {
				Name   string `yaml:"model_name"`
				Params struct {
					Model string
					Base  string `yaml:"api_base"`
				} `yaml:"litellm_params"`
			} `yaml:"model_list"`
			Settings struct{ Fallbacks []map[string][]string } `yaml:"litellm_settings"`
		}
		if err := yaml.Unmarshal([]byte(text), &c); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		generic, err := Setup(ForAny, o)
		if err != nil {
			t.Fatal(err)
		}
		o, _ = o.withDefaults() // the target is not needed for names
		targets := o.targets()
		if len(c.Models) != 2*len(targets) || len(c.Settings.Fallbacks) != len(targets) {
			t.Errorf("%s: %d models, %d fallbacks of %d", surface, len(c.Models), len(c.Settings.Fallbacks), len(targets))
		}
		for _, x := range targets {
			if !strings.Contains(generic, x.name+"\n") {
				t.Errorf("%s: the description lacks %s", surface, x.name)
			}
		}
		if !strings.Contains(generic, "900ms") || !strings.Contains(generic, "--fast") {
			t.Errorf("the description does not say how the timers must be:\n%s", generic)
		}
	}
	for _, o := range []Options{{Suite: "x"}, {Surface: "x"}, {Target: "nowhere"}} {
		if _, err := Setup(ForAny, o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	if _, err := Setup("x", Options{}); err == nil {
		t.Error("an unknown format was taken")
	}
}

package sim

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// minHuge is the smallest event that can be made to size: the frame around an empty delta.
const minHuge = 512

// Check says everything that is wrong with a script, each with its place.
func (s Script) Check() error {
	if len(s.Calls) == 0 {
		return errors.New("no calls")
	}
	var errs []error
	for i, steps := range s.Calls {
		if err := checkCall(steps); err != nil {
			errs = append(errs, fmt.Errorf("call %d: %w", i+1, err))
		}
	}
	return errors.Join(errs...)
}

func checkCall(steps []Step) error {
	if len(steps) == 0 {
		return errors.New("no steps (an empty stream is [end])")
	}
	var errs []error
	for i, s := range steps {
		if err := s.check(); err != nil {
			errs = append(errs, fmt.Errorf("step %d: %w", i+1, err))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, checkOrder(steps))
	}
	return errors.Join(errs...)
}

// check says what is wrong with a step taken alone.
func (s Step) check() error {
	w, ok := words[s.Do]
	if !ok {
		return fmt.Errorf("unknown word %q", s.Do)
	}
	set := s.fields()
	for _, f := range set {
		if f != w.main && !slices.Contains(w.fields, f) {
			return fmt.Errorf("%s: takes no %q", s.Do, f)
		}
	}
	if w.needs != "" && !slices.Contains(set, w.needs) {
		return fmt.Errorf("%s: needs %q", s.Do, w.needs)
	}
	if err := s.checkValues(); err != nil {
		return fmt.Errorf("%s: %w", s.Do, err)
	}
	return nil
}

// checkValues holds the rules about values that the table of words cannot say.
func (s Step) checkValues() error {
	hows := map[string][]string{"cut": {"reset", "fin", "hang", "end"}, "refuse": {"", "reset", "fin"}}
	switch {
	case s.Status != 0 && s.Status != 101 && (s.Status < 200 || s.Status > 599):
		return fmt.Errorf("status %d is none (101, or 200 to 599)", s.Status)
	case s.Do == "reply" && s.Status == 0 && s.JSON == nil && s.Body == nil:
		return errors.New("needs a status, json or body")
	case s.JSON != nil && s.Body != nil:
		return errors.New("json and body exclude each other")
	case hows[s.Do] != nil && !slices.Contains(hows[s.Do], s.How):
		return fmt.Errorf("how is %q, not one of %s", s.How, strings.Join(hows[s.Do], " "))
	case s.For < 0 || s.At < 0 || s.Bytes < 0 || s.Events < 0 || s.Pieces < 0:
		return errors.New("a negative number")
	case s.Do == "huge" && s.Bytes < minHuge:
		return fmt.Errorf("at least %d bytes", minHuge)
	case !slices.Contains([]string{"", "extra", "finish", "every", "none"}, s.UsageOn):
		return fmt.Errorf("usage_on %q is not one of extra, finish, every, none", s.UsageOn)
	case s.Set != nil:
		if v, err := parseOrdered(s.Set); err != nil || !isObject(v) {
			return errors.New("set is no JSON object")
		}
	}
	return nil
}

func isObject(v any) bool { _, ok := v.(object); return ok }

// checkOrder says what is wrong with the sequence: heads after bytes, steps after the end, no end.
func checkOrder(steps []Step) error {
	begun, whole := false, false
	for i, s := range steps {
		w := words[s.Do]
		switch {
		case w.class == classReply && begun:
			return fmt.Errorf("step %d: %s: the head is already written", i+1, s.Do)
		case (s.Do == "gzip" || s.Do == "close") && begun:
			return fmt.Errorf("step %d: %s comes before the head", i+1, s.Do)
		case s.Do == "refuse" && begun:
			return fmt.Errorf("step %d: refuse: bytes were already written", i+1)
		case w.class == classEvent && whole:
			return fmt.Errorf("step %d: %s: the body is already whole", i+1, s.Do)
		case w.class == classEnding && i < len(steps)-1:
			return fmt.Errorf("step %d: nothing comes after %s", i+1, s.Do)
		}
		begun = begun || w.class == classEvent || w.class == classReply
		whole = whole || w.class == classReply && s.wholeBody()
	}
	if last := steps[len(steps)-1]; !words[last.Do].last || last.Events > 0 {
		return errors.New("does not say how it ends: end, reset, fin or hang")
	}
	return nil
}

// wholeBody says that a reply brings its body along.
func (s Step) wholeBody() bool {
	return s.JSON != nil || s.Body != nil || s.Do == "fail" || s.Do == "html"
}

// fields gives the names of the fields that are set, Do apart.
func (s Step) fields() []string {
	var names []string
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name != "do" && !v.Field(i).IsZero() {
			names = append(names, name)
		}
	}
	return names
}

package main

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// declaration announces a change of behaviour.
type declaration struct {
	file       string
	recordings []string
}

var (
	declarationName = regexp.MustCompile(`^[0-9]{4}-[a-z0-9]+(-[a-z0-9]+)*\.md$`)
	fence           = []byte("---\n")
)

// parse reads a declaration: a front matter with the recordings, then the words.
func parse(file string, content []byte) (declaration, error) {
	d := declaration{file: file}
	if !declarationName.MatchString(file) {
		return d, errors.New("a declaration is named like 0007-what-changes.md")
	}
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(content, fence)
	if !ok {
		return d, errors.New("must begin with a front matter: ---, recordings: [names], ---")
	}
	front, words, ok := bytes.Cut(rest, fence)
	if !ok {
		return d, errors.New("the front matter has no end (---)")
	}
	var matter struct {
		Recordings []string `yaml:"recordings"`
	}
	if err := yaml.NewDecoder(bytes.NewReader(front), yaml.Strict()).Decode(&matter); err != nil {
		return d, err
	}
	for _, name := range matter.Recordings {
		d.recordings = append(d.recordings, strings.TrimSuffix(name, ".json"))
	}
	switch sorted := slices.Sorted(slices.Values(d.recordings)); {
	case len(sorted) == 0:
		return d, errors.New("names no recording")
	case len(slices.Compact(sorted)) != len(d.recordings):
		return d, errors.New("names a recording twice")
	case len(bytes.TrimSpace(words)) == 0:
		return d, errors.New("does not say what changes and why")
	}
	return d, nil
}

// announced are the declarations that are new since the base.
type announced struct{ all []declaration }

func (a *announced) add(d declaration) { a.all = append(a.all, d) }

// by finds the declaration that names a recording, "" none.
func (a *announced) by(name string) string {
	for _, d := range a.all {
		if slices.Contains(d.recordings, name) {
			return d.file
		}
	}
	return ""
}

package main

import (
	"crypto/tls"
	"errors"
	"fmt"

	"rubicon/internal/config"
	"rubicon/internal/wire/terminal"
)

type checkCmd struct {
	configFlag
	JSON bool `name:"json" help:"Print the problems as JSON."`
}

// finding is one problem or warning, for programs.
type finding struct {
	Path    string `json:"path"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// checked is what `rubicon check --json` prints.
type checked struct {
	OK       bool      `json:"ok"`
	File     string    `json:"file"`
	Version  string    `json:"version,omitempty"`
	Problems []finding `json:"problems"`
	Warnings []finding `json:"warnings"`
}

func (c *checkCmd) Run(sh *shell) error {
	path, err := c.path()
	if err != nil {
		return err
	}
	cfg, err := config.Load(path, sh.env)
	invalid := (*config.Invalid)(nil)
	if err != nil && !errors.As(err, &invalid) {
		return err
	}
	result := checked{OK: err == nil, File: path, Problems: []finding{}, Warnings: []finding{}}
	if invalid != nil {
		result.Problems = findings(invalid.Problems)
	} else {
		result.Version, result.Warnings = cfg.Version(), findings(cfg.Warnings())
		result.Problems = append(result.Problems, certificate(cfg.TLS)...)
		result.OK = len(result.Problems) == 0
	}
	if err := c.show(sh, result); err != nil {
		return err
	}
	if !result.OK {
		return fmt.Errorf("%s is not valid, problems: %d; correct them and check again", path, len(result.Problems))
	}
	return nil
}

// certificate is what is wrong with the files that tls names: to serve would
// fail for it.
func certificate(t config.TLS) []finding {
	if !t.Enabled() {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(t.Cert, t.Key); err != nil {
		return []finding{{Path: "tls", Message: "the certificate cannot be read: " + err.Error()}}
	}
	return nil
}

func findings(problems []config.Problem) []finding {
	out := make([]finding, len(problems))
	for i, p := range problems {
		out[i] = finding{Path: p.Path, Line: p.Line, Message: p.Message}
	}
	return out
}

func (c *checkCmd) show(sh *shell, result checked) error {
	if c.JSON {
		return sh.json(result)
	}
	for _, p := range result.Problems {
		fmt.Fprintln(sh.out, place(result.File, p)+terminal.Clean(p.Message))
	}
	for _, w := range result.Warnings {
		fmt.Fprintln(sh.out, place(result.File, w)+"warning: "+terminal.Clean(w.Message))
	}
	if result.OK {
		fmt.Fprintf(sh.out, "%s is valid (version %s).\n", result.File, result.Version)
	}
	return nil
}

// place is "file:line: path: ", as editors understand it.
func place(file string, f finding) string {
	text := file
	if f.Line > 0 {
		text += fmt.Sprintf(":%d", f.Line)
	}
	if f.Path != "" {
		text += ": " + terminal.Clean(f.Path)
	}
	return text + ": "
}

package main

import (
	"runtime"
	"runtime/debug"
)

type versionCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// stamped is the version that `make build` has the linker write here.
var stamped string

// build is what the binary knows of itself.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (c *versionCmd) Run(sh *shell) error {
	b := buildInfo()
	if c.JSON {
		return sh.json(b)
	}
	revision := b.Revision
	if b.Modified {
		revision += " (modified)"
	}
	pairs := []string{"rubicon", b.Version}
	for _, p := range [][2]string{{"revision", revision}, {"time", b.Time}, {"go", b.Go}, {"platform", b.Platform}} {
		if p[1] != "" {
			pairs = append(pairs, p[0], p[1])
		}
	}
	sh.facts(pairs...)
	return nil
}

func buildInfo() build {
	b := build{Version: "dev", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	if stamped != "" {
		b.Version = stamped
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

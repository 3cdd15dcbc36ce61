package main

import (
	"errors"
	"fmt"
	"os"

	"rubicon/internal/config"
)

// defaultFile is looked for when no file is named.
const defaultFile = "rubicon.yaml"

// configFlag is -c, for commands that need a configuration.
type configFlag struct {
	Config string `short:"c" placeholder:"FILE" help:"Configuration file. Without it ./rubicon.yaml."`
}

// path is the file to read, or an error that says how to get one.
func (f configFlag) path() (string, error) {
	path := f.Config
	if path == "" {
		path = defaultFile
	}
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return path, nil
	case !errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("cannot read the configuration: %w", err)
	case f.Config != "":
		return "", fmt.Errorf("there is no %s; name another file with -c, or write one with `rubicon init`", path)
	}
	return "", fmt.Errorf("there is no ./%s here; write one with `rubicon init`, or name yours with -c FILE", defaultFile)
}

// load reads the configuration. Its error is one line, whatever is wrong.
func (f configFlag) load(sh *shell) (*config.Config, error) {
	cfg, _, _, err := f.loadFiles(sh)
	return cfg, err
}

// loadFiles is load that also tells where it was read from: the file, and all
// files that it is made of.
func (f configFlag) loadFiles(sh *shell) (cfg *config.Config, path string, files []string, err error) {
	if path, err = f.path(); err != nil {
		return nil, "", nil, err
	}
	cfg, files, err = config.LoadFiles(path, sh.env)
	if invalid := (*config.Invalid)(nil); errors.As(err, &invalid) && len(invalid.Problems) > 0 {
		first := invalid.Problems[0].String()
		if len(invalid.Problems) == 1 {
			return nil, "", nil, fmt.Errorf("%s is not valid: %s", path, first)
		}
		return nil, "", nil, fmt.Errorf("%s has %d problems, the first: %s; `rubicon check -c %s` shows all",
			path, len(invalid.Problems), first, path)
	}
	return cfg, path, files, err
}

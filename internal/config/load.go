package config

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Load reads and parses the file. env looks up an environment variable, as
// os.LookupEnv does. A file that cannot be read gives an error that names it;
// one with problems an *Invalid.
func Load(path string, env func(string) (string, bool)) (*Config, error) {
	c, _, err := LoadFiles(path, env)
	return c, err
}

// LoadFiles is Load that also tells which files the configuration is made of:
// its own and those that it names with ${file:…}, as far as it was read.
func LoadFiles(path string, env func(string) (string, bool)) (c *Config, files []string, err error) {
	files = []string{path}
	src, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, files, fmt.Errorf("configuration %s does not exist (rubicon init writes one): %w", path, fs.ErrNotExist)
	case err != nil:
		return nil, files, fmt.Errorf("reading the configuration: %w", err)
	}
	read := func(name string) (string, error) {
		if !slices.Contains(files, name) {
			files = append(files, name)
		}
		return readSecretFile(name)
	}
	if c, err = parse(src, expander{env: orNone(env), readFile: read}); err != nil {
		return nil, files, err
	}
	if info, err := os.Stat(path); err == nil {
		c.Date = info.ModTime().UTC()
	}
	return c, files, nil
}

// Parse parses a configuration; see Load. Files that it names with ${file:…}
// are read.
func Parse(src []byte, env func(string) (string, bool)) (*Config, error) {
	return parse(src, expander{env: orNone(env), readFile: readSecretFile})
}

// orNone is an environment without variables where none is given.
func orNone(env func(string) (string, bool)) func(string) (string, bool) {
	if env == nil {
		return func(string) (string, bool) { return "", false }
	}
	return env
}

func parse(src []byte, x expander) (*Config, error) {
	root, problem := readTree(src)
	if problem != nil {
		return nil, &Invalid{Problems: []Problem{*problem}}
	}
	d := &decoder{expander: x, lines: map[string]int{}, broken: map[string]bool{}}
	c := Default()
	if root != nil && root.kind != null {
		d.object(root, "", d.root(&c)...)
	}
	for _, p := range c.Validate() {
		if !d.reported(p.Path) {
			d.report(p.Path, "%s", p.Message)
		}
	}
	if err := d.finish(); err != nil {
		return nil, err
	}
	return &c, nil
}

// Version is a short hash of the effective configuration without secrets:
// equal configurations have equal versions, and a changed key does not show.
func (c *Config) Version() string {
	// Struct order and sorted map keys make this JSON canonical.
	content, err := json.Marshal(c)
	if err != nil {
		// Nothing in a Config can fail to encode; this is a fault of the program.
		panic("encoding the configuration: " + err.Error())
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:6])
}

//go:embed sample.yaml
var sample string

// Sample is the commented rubicon.yaml that `rubicon init` writes.
func Sample() []byte { return []byte(sample) }

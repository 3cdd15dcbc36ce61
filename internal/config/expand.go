package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// maxExpansionBytes bounds a file that ${file:…} reads.
const maxExpansionBytes = 64 << 10

// expander replaces references inside one scalar:
//
//	${NAME}        the environment variable
//	${file:/path}  the file's content without trailing line ends
//	$${            a literal ${
//
// It works on parsed scalars, so a value can never change the structure of the
// file, and what it puts in is not expanded again.
type expander struct {
	env      func(string) (string, bool)
	readFile func(string) (string, error)
}

// expand returns the text and every value that was put in; the error names
// what is missing and holds no value.
func (x expander) expand(text string) (out string, values []string, err error) {
	var b strings.Builder
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			b.WriteString(text)
			return b.String(), values, nil
		}
		if at > 0 && text[at-1] == '$' {
			b.WriteString(text[:at-1] + "${")
			text = text[at+2:]
			continue
		}
		name, rest, closed := strings.Cut(text[at+2:], "}")
		if !closed {
			return "", nil, errors.New("a ${ without its } (write $${ for a literal one)")
		}
		value, err := x.lookUp(name)
		if err != nil {
			return "", nil, err
		}
		b.WriteString(text[:at] + value)
		values = append(values, value)
		text = rest
	}
}

func (x expander) lookUp(name string) (string, error) {
	if path, isFile := strings.CutPrefix(name, "file:"); isFile {
		return x.readFile(path)
	}
	if !isEnvName(name) {
		return "", errors.New("${…} must hold the name of an environment variable or file:/path (write $${ for a literal ${)")
	}
	value, set := x.env(name)
	if !set {
		return "", fmt.Errorf("environment variable %s is not set", name)
	}
	return value, nil
}

func isEnvName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// readSecretFile reads a regular file; a pipe or device could block for ever.
func readSecretFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fileProblem(path, err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("file %q is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fileProblem(path, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxExpansionBytes+1))
	if err != nil {
		return "", fileProblem(path, err)
	}
	if len(content) > maxExpansionBytes {
		return "", fmt.Errorf("file %q is larger than 64 KiB", path)
	}
	return strings.TrimRight(string(content), "\r\n"), nil
}

func fileProblem(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("file %q does not exist", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("file %q may not be read", path)
	}
	return fmt.Errorf("file %q cannot be read", path)
}

package config

import "strings"

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	// Path is the place, like models[0].channels[1].channel; empty for the file
	// as a whole.
	Path string
	// Message says what is wrong and what to do. It never holds a secret.
	Message string
	// Line is where in the file, 0 when unknown.
	Line int
}

// String is "path: message".
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Invalid is the error for a configuration with problems: all of them, in the
// order of the file.
type Invalid struct{ Problems []Problem }

// Error lists all problems, one a line.
func (e *Invalid) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

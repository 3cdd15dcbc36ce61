package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	maxFileBytes = 1 << 20
	// maxFlowDepth bounds unclosed brackets before the parser sees the text: its
	// time grows with the square of the depth.
	maxFlowDepth = 200
)

// kind is what a node of the file is.
type kind int

const (
	null kind = iota
	scalar
	list
	mapping
)

// node is a YAML node without what the schema has no use for. Keeping our own
// tree means that no error of the YAML library, with its excerpts of the
// source, is ever on the way to a reader.
type node struct {
	kind     kind
	text     string // scalar: its text, before expansion
	isString bool   // scalar: not a number or boolean
	items    []*node
	entries  []entry
	line     int
}

type entry struct {
	key   string
	line  int
	value *node
}

// has reports whether a mapping has a value for the key; null is none.
func (n *node) has(key string) bool {
	return slices.ContainsFunc(n.entries, func(e entry) bool { return e.key == key && e.value.kind != null })
}

// readTree parses the text of one document. A nil node is an empty file.
func readTree(src []byte) (*node, *Problem) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if problem := checkText(src); problem != nil {
		return nil, problem
	}
	file, err := parseYAML(bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n")))
	if err != nil {
		p := syntaxProblem(err)
		if indentedByTab(src, p.Line) {
			p.Message += " (YAML is indented with spaces, never with tabs)"
		}
		return nil, p
	}
	if len(file.Docs) > 1 {
		return nil, &Problem{Message: "a second document or a directive; the file must be one document"}
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, nil
	}
	b := &treeBuilder{anchors: map[string]*node{}}
	root := b.build(file.Docs[0].Body)
	return root, b.problem
}

func checkText(src []byte) *Problem {
	switch {
	case len(src) > maxFileBytes:
		return &Problem{Message: "the file is larger than 1 MiB"}
	case !utf8.Valid(src):
		return &Problem{Message: "the file is not UTF-8"}
	}
	depth := 0
	for _, c := range src {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
		if depth > maxFlowDepth {
			return &Problem{Message: "more than 200 open brackets"}
		}
	}
	return nil
}

// parseYAML turns a panic of the parser into an error: a bad file must never
// take down a gateway that reloads it.
func parseYAML(src []byte) (file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			file, err = nil, errors.New("unreadable")
		}
	}()
	// Duplicate keys are found by the schema, which knows their path.
	return parser.ParseBytes(src, 0, parser.AllowDuplicateMapKey())
}

// syntaxProblem keeps position and reason of a syntax error, never the excerpt,
// and the reason only where it quotes nothing.
func syntaxProblem(err error) *Problem {
	var syntax *yaml.SyntaxError
	if !errors.As(err, &syntax) || syntax.Token == nil || syntax.Token.Position == nil {
		return &Problem{Message: "not valid YAML"}
	}
	at := syntax.Token.Position
	p := &Problem{Line: at.Line, Message: fmt.Sprintf("not valid YAML at line %d, column %d", at.Line, at.Column)}
	if !strings.ContainsAny(syntax.Message, `"`+"`\t\n") {
		p.Message += ": " + syntax.Message
	}
	if strings.Contains(syntax.Message, "',' or '}'") {
		p.Message += ` (inside {…} a value like "${NAME}" needs quotes)`
	}
	return p
}

// indentedByTab: the usual reason why a file that looks right is not YAML.
func indentedByTab(src []byte, line int) bool {
	lines := bytes.Split(src, []byte("\n"))
	return line >= 1 && line <= len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[line-1], " "), []byte("\t"))
}

// treeBuilder stops at the first thing that is no part of a configuration.
type treeBuilder struct {
	anchors map[string]*node
	problem *Problem
}

func (b *treeBuilder) refuse(n ast.Node, message string) *node {
	if b.problem == nil {
		b.problem = &Problem{Line: lineOf(n), Message: fmt.Sprintf("line %d: %s", lineOf(n), message)}
	}
	return &node{line: lineOf(n)}
}

func (b *treeBuilder) build(n ast.Node) *node {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return &node{line: lineOf(n)}
	case *ast.StringNode:
		return &node{kind: scalar, text: n.Value, isString: true, line: lineOf(n)}
	case *ast.LiteralNode:
		return &node{kind: scalar, text: n.Value.Value, isString: true, line: lineOf(n)}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		// The text as written: amounts never pass through a float.
		return &node{kind: scalar, text: n.GetToken().Value, line: lineOf(n)}
	case *ast.SequenceNode:
		out := &node{kind: list, line: lineOf(n)}
		for _, item := range n.Values {
			out.items = append(out.items, b.build(item))
		}
		return out
	case *ast.MappingNode:
		return b.mapping(n)
	case *ast.MappingValueNode:
		return &node{kind: mapping, line: lineOf(n), entries: []entry{b.entry(n)}}
	case *ast.AnchorNode:
		// Known only after its value: an anchor cannot hold itself.
		value := b.build(n.Value)
		b.anchors[n.Name.GetToken().Value] = value
		return value
	case *ast.AliasNode:
		if value, known := b.anchors[n.Value.GetToken().Value]; known {
			return value
		}
		return b.refuse(n, "an alias without its anchor before it")
	}
	return b.refuse(n, "tags, directives and the like are not supported")
}

func (b *treeBuilder) mapping(n *ast.MappingNode) *node {
	out := &node{kind: mapping, line: lineOf(n)}
	for _, value := range n.Values {
		out.entries = append(out.entries, b.entry(value))
	}
	return out
}

func (b *treeBuilder) entry(n *ast.MappingValueNode) entry {
	switch key := n.Key.(type) {
	case *ast.StringNode:
		return entry{key: key.Value, line: lineOf(key), value: b.build(n.Value)}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return entry{key: key.GetToken().Value, line: lineOf(key), value: b.build(n.Value)}
	}
	return entry{value: b.refuse(n.Key, "a key must be plain text (merge keys are not supported)")}
}

func lineOf(n ast.Node) int {
	if n == nil {
		return 0
	}
	if token := n.GetToken(); token != nil && token.Position != nil {
		return token.Position.Line
	}
	return 0
}

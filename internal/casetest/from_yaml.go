package casetest

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// The parts of a YAML document that a draft is made of.

func encode(root *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func put(m *yaml.Node, key string, value *yaml.Node) {
	m.Content = append(m.Content, scalar(key), value)
}

func single(key string, value *yaml.Node) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	put(m, key, value)
	return m
}

func listOf(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: items}
}

// plain is a number or a boolean, spelled as it is.
func plain(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

func quote(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
}

// plainWords is what every YAML reader takes for the text it is, apart from the
// reserved words.
var (
	plainWords    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*[.]?$`)
	reservedWords = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|null|y|n)$`)
)

// scalar is a text: plain where it is words, as a block where it has lines that
// a block holds exactly, else in quotes.
func scalar(s string) *yaml.Node {
	switch {
	case plainWords.MatchString(s) && !reservedWords.MatchString(s):
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	case blockHolds(s):
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.LiteralStyle}
	}
	return quote(s)
}

func blockHolds(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") || strings.ContainsAny(body[:1], " \t\n") {
		return false
	}
	for l := range strings.SplitSeq(body, "\n") {
		if strings.TrimRight(l, " \t") != l {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0xfeff)
	})
}

// text is somebody's text, secrets hidden.
func (w *writer) text(s string) *yaml.Node { return scalar(w.clean(s)) }

// value is a JSON value, its keys in their order and its numbers as they are
// spelled. As an expectation, a text that would be read as an expression is
// written as one that matches it alone.
func (w *writer) value(raw []byte, expectation bool) *yaml.Node {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	n := w.next(dec, expectation)
	for i := 1; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if v := n.Content[i]; v.Kind == yaml.ScalarNode && blockHolds(v.Value) {
			n.Style, v.Style = 0, yaml.LiteralStyle // lines are easier to read, and to trim
		}
	}
	return n
}

func (w *writer) next(dec *json.Decoder, expectation bool) *yaml.Node {
	t, err := dec.Token()
	if err != nil {
		return plain("null") // no JSON: the reader of what is written finds the difference
	}
	switch v := t.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		if v == '{' {
			n.Kind = yaml.MappingNode
		}
		for dec.More() {
			if v == '{' {
				key, _ := dec.Token()
				name, _ := key.(string)
				n.Content = append(n.Content, inFlow(w.clean(name)))
			}
			n.Content = append(n.Content, w.next(dec, expectation))
		}
		_, _ = dec.Token() // the closing one
		return n
	case string:
		v = w.clean(v)
		if expectation {
			v = literal(v)
		}
		return inFlow(v)
	case json.Number:
		return plain(string(v))
	case bool:
		if v {
			return plain("true")
		}
		return plain("false")
	}
	return plain("null")
}

// inFlow is a text between braces, where no block can be.
func inFlow(s string) *yaml.Node {
	if strings.Contains(s, "\n") {
		return quote(s)
	}
	return scalar(s)
}

// literal is an expected text that matches s alone, also where s looks like an
// expression.
func literal(s string) string {
	if re, bad := parseExpression(s); re == nil && bad == nil {
		return s
	}
	return "/^" + regexp.QuoteMeta(s) + "$/"
}

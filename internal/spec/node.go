package spec

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
)

// NodeKind is what a YAML value is.
type NodeKind int

// The kinds of a Node. A BrokenNode has been reported already: decoders pass it
// over in silence.
const (
	BrokenNode NodeKind = iota
	NullNode
	TextNode
	BoolNode
	NumberNode
	NonFiniteNode // .nan, .inf
	DateNode      // a plain date or timestamp
	MappingNode
	SequenceNode
)

// Node is a YAML value with its place. Aliases are resolved: an aliased value
// is the anchor's own Node. Merge keys are resolved too, explicit keys winning.
type Node struct {
	Kind  NodeKind
	Text  string  // of a scalar: its text as written, quotes and folding undone
	Pairs []Pair  // of a mapping, in file order
	Items []*Node // of a sequence
	Flow  bool    // a collection written with braces or brackets
	Range diag.Range
}

// Pair is one key of a mapping and its value. Keys are taken by their text, so
// 1 and "1" are the same key.
type Pair struct {
	Key   string
	Range diag.Range // of the key
	Value *Node
}

// Get returns the value of key in a mapping, or nil.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for _, p := range n.Pairs {
		if p.Key == key {
			return p.Value
		}
	}
	return nil
}

// looksLikeText reports whether a mapping is {x} or {{x}}: braces around words,
// with no value anywhere.
func (n *Node) looksLikeText() bool {
	for _, p := range n.Pairs {
		if p.Value.Kind != NullNode {
			return false
		}
	}
	return n.Kind == MappingNode && n.Flow
}

// noun names what the node is, for "needs X, not Y".
func (n *Node) noun() string {
	switch n.Kind {
	case NullNode:
		return "nothing"
	case TextNode:
		return "text"
	case BoolNode:
		return "a boolean"
	case NumberNode, NonFiniteNode:
		return "a number"
	case DateNode:
		return "a date"
	case MappingNode:
		return "a mapping"
	case SequenceNode:
		return "a list"
	default:
		return "an unreadable value"
	}
}

var (
	jsonNumber  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	looseNumber = regexp.MustCompile(`^([-+]?)([0-9]*)(?:(\.)([0-9]*))?([eE][-+]?[0-9]+)?$`)
)

// maxExponent bounds the exponents of numbers: what no IEEE double holds would
// be infinite for most readers of our JSON.
const maxExponent = 308

// number returns the exact JSON form of a NumberNode, or says why it has none.
// Spellings with one meaning (+1, .5, 5.) are put right; those that YAML
// versions read differently (0755, 1_000, 0x1F) are refused.
func (n *Node) number() (num json.Number, problem string) {
	text := n.Text
	if !jsonNumber.MatchString(text) {
		m := looseNumber.FindStringSubmatch(text)
		if m == nil || m[2] == "" && m[4] == "" {
			return "", "is not a plain decimal number"
		}
		sign, whole, fraction, exponent := strings.TrimPrefix(m[1], "+"), m[2], m[4], m[5]
		if whole == "" {
			whole = "0"
		}
		if fraction != "" {
			fraction = "." + fraction
		}
		text = sign + whole + fraction + exponent
		if !jsonNumber.MatchString(text) {
			return "", "has leading zeros, which YAML reads as octal"
		}
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if e, err := strconv.Atoi(text[i+1:]); err != nil || e > maxExponent || e < -maxExponent {
			return "", "is out of range"
		}
	}
	return json.Number(text), ""
}

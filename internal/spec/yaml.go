package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/archmax-ai/archmax/internal/diag"
)

// This is the one file that knows the YAML library. Its nodes and its error
// texts stop here; what the library lets through (duplicate keys, further
// documents, unknown tags, lost text, alias bombs) is caught here.

// Bounds on a document, so that junk costs little.
const (
	maxBytes   = 16 << 20
	maxDepth   = 200    // nested collections
	maxAliased = 200000 // nodes that aliases and merges repeat, in all
)

// ReadYAML reads the one YAML document in src as a tree of Nodes. All problems
// come in one pass. The tree is nil when the text is no YAML at all; with lesser
// problems (a duplicate key, an unknown tag) it is there, the values in question
// Broken, so that a caller can go on and report its own. An empty document is a
// NullNode. The diagnostics carry file.
func ReadYAML(file string, src []byte) (*Node, diag.List) {
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	d := NewDecoder()
	if len(src) > maxBytes {
		d.shapef(diag.Unreadable, startOfFile, "", "split it, or keep large texts in files of their own",
			"the file is larger than %d MiB", maxBytes>>20)
		return nil, d.Diagnostics(file)
	}
	s := newSource(src)
	if off, what := badByte(src); off >= 0 {
		d.shapef(diag.Encoding, s.span(off, off+1), "", "save the file as UTF-8 text", "%s", what)
		return nil, d.Diagnostics(file)
	}
	doc, next, stage, err := parseYAML(bytes.NewReader(src))
	if err != nil {
		p := locate(s, stage, err.Error())
		d.shapef(p.code, p.at, "", p.hint, "%s", p.message)
		return nil, d.Diagnostics(file)
	}
	if next != nil {
		off := s.offset(next.Line, next.Column)
		d.shapef(diag.Documents, s.span(off, off+len(s.rest(off))), "", "keep one document in the file: remove what follows",
			"a second document starts here, where the file holds one")
	}
	if doc == nil || len(doc.Content) == 0 {
		return &Node{Kind: NullNode, Range: startOfFile}, d.Diagnostics(file)
	}
	b := &builder{s: s, d: d, built: map[*yaml.Node]*Node{}, open: map[*yaml.Node]bool{}, sizes: map[*Node]int{}}
	root := b.node(doc.Content[0], 0)
	return root, d.Diagnostics(file)
}

var startOfFile = diag.Range{Start: diag.Position{Line: 1, Column: 1}, End: diag.Position{Line: 1, Column: 1}}

// badByte returns the offset of the first byte that no YAML text holds, or -1.
func badByte(src []byte) (int, string) {
	for i := 0; i < len(src); {
		c, size := rune(src[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(src[i:])
		}
		switch {
		case c == utf8.RuneError && size == 1:
			return i, fmt.Sprintf("the byte 0x%02X is not UTF-8", src[i])
		case c == 0:
			return i, "a NUL byte has no place in a text file"
		case c < ' ' && c != '\t' && c != '\n' && c != '\r', c == 0x7F, c > 0x7F && c < 0xA0 && c != 0x85,
			c == 0xFFFE, c == 0xFFFF:
			return i, fmt.Sprintf("the control character U+%04X has no place in a text file", c)
		}
		i += size
	}
	return -1, ""
}

// stage says how far parseYAML came.
type stage int

const (
	inDocument stage = iota
	afterDocument
)

// parseYAML parses one document and looks for a second. Whatever the library
// throws comes back as an error.
func parseYAML(r io.Reader) (doc, next *yaml.Node, at stage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	dec := yaml.NewDecoder(r)
	var first, second yaml.Node
	if err := dec.Decode(&first); errors.Is(err, io.EOF) {
		return nil, nil, at, nil
	} else if err != nil {
		return nil, nil, at, err
	}
	at = afterDocument
	if err := dec.Decode(&second); errors.Is(err, io.EOF) {
		return &first, nil, at, nil
	} else if err != nil {
		return &first, nil, at, err
	}
	return &first, &second, at, nil
}

// yamlError returns the library's error for a text, "" when it parses. It is
// how locate tries out where a text goes wrong.
func yamlError(src []byte) string {
	_, _, _, err := parseYAML(bytes.NewReader(src))
	if err != nil {
		return err.Error()
	}
	return ""
}

// bytesRead returns how much of src the library had asked for when it failed:
// the problem is in front of that, by little.
func bytesRead(src []byte) int {
	r := &slowReader{src: src}
	_, _, _, _ = parseYAML(r)
	return r.at
}

// slowReader hands out one byte at a time, so that the library cannot read ahead.
type slowReader struct {
	src []byte
	at  int
}

func (r *slowReader) Read(p []byte) (int, error) {
	if r.at >= len(r.src) || len(p) == 0 {
		return 0, io.EOF
	}
	p[0] = r.src[r.at]
	r.at++
	return 1, nil
}

// builder turns the library's nodes into ours.
type builder struct {
	s       *source
	d       *Decoder
	built   map[*yaml.Node]*Node // anchored nodes, finished
	open    map[*yaml.Node]bool  // anchored nodes, being built
	sizes   map[*Node]int        // nodes below and with a node, aliases counted each time
	aliased int
}

func (b *builder) node(y *yaml.Node, depth int) *Node {
	off := b.s.offset(y.Line, y.Column)
	if y.Kind == yaml.AliasNode {
		return b.alias(y, off)
	}
	if y.Anchor != "" {
		b.open[y] = true
		defer delete(b.open, y)
	}
	n := &Node{Range: b.s.span(off, off)}
	switch {
	case depth > maxDepth:
		b.d.shapef(diag.Depth, b.s.span(off, off+1), "", "", "this is nested deeper than %d levels", maxDepth)
	case y.Kind == yaml.MappingNode:
		b.mapping(n, y, off, depth)
	case y.Kind == yaml.SequenceNode:
		b.sequence(n, y, off, depth)
	case y.Kind == yaml.ScalarNode:
		b.scalar(n, y, off)
	}
	size := 1
	for _, p := range n.Pairs {
		size += b.sizes[p.Value]
	}
	for _, item := range n.Items {
		size += b.sizes[item]
	}
	b.sizes[n] = min(size, maxAliased+1)
	if y.Anchor != "" {
		b.built[y] = n
	}
	return n
}

func (b *builder) broken(off, end int, code diag.Code, hint, format string, args ...any) *Node {
	at := b.s.span(off, end)
	b.d.shapef(code, at, "", hint, format, args...)
	return &Node{Kind: BrokenNode, Range: at}
}

func (b *builder) alias(y *yaml.Node, off int) *Node {
	end := off + 1 + len(y.Value)
	n := b.built[y.Alias]
	if n == nil {
		return b.broken(off, end, diag.Alias, "write the value out",
			"the alias `*%s` stands inside its own anchor", y.Value)
	}
	if b.aliased > maxAliased {
		return &Node{Kind: BrokenNode, Range: b.s.span(off, end)} // said once
	}
	if b.aliased += b.sizes[n]; b.aliased > maxAliased {
		return b.broken(off, end, diag.Alias, "write the values out, or repeat less",
			"aliases repeat more than %d values up to here", maxAliased)
	}
	return n
}

func (b *builder) sequence(n *Node, y *yaml.Node, off, depth int) {
	n.Kind, n.Flow = SequenceNode, y.Style&yaml.FlowStyle != 0
	if !b.tagged(n, y, off, "!!seq") {
		return
	}
	for _, item := range y.Content {
		n.Items = append(n.Items, b.node(item, depth+1))
	}
	if len(n.Items) > 0 {
		n.Range.End = later(n.Range.Start, n.Items[len(n.Items)-1].Range.End)
		return
	}
	n.Range = b.s.span(off, b.closing(off, ']'))
}

func (b *builder) mapping(n *Node, y *yaml.Node, off, depth int) {
	n.Kind, n.Flow = MappingNode, y.Style&yaml.FlowStyle != 0
	if !b.tagged(n, y, off, "!!map") {
		return
	}
	if len(y.Content) == 0 {
		n.Range = b.s.span(off, b.closing(off, '}'))
		return
	}
	explicit := map[string]diag.Range{}
	var merge *Node
	mergeAt := 0 // index in n.Pairs at which the merged pairs go
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, text, ok := b.key(y.Content[i], depth)
		value := b.node(y.Content[i+1], depth+1)
		n.Range.End = later(n.Range.End, key.End, value.Range.End)
		if !ok {
			continue
		}
		if first, twice := explicit[text]; twice {
			b.d.shapef(diag.DuplicateKey, key, "", "keep one of the two",
				"the key `%s` is on line %d and again on line %d", brief(text), first.Start.Line, key.Start.Line)
			continue
		}
		explicit[text] = key
		if y.Content[i].Kind == yaml.ScalarNode && y.Content[i].Tag == "!!merge" {
			merge, mergeAt = value, len(n.Pairs)
			continue
		}
		n.Pairs = append(n.Pairs, Pair{Key: text, Range: key, Value: value})
	}
	if merge != nil {
		n.Pairs = slices.Insert(n.Pairs, mergeAt, b.merged(merge, explicit)...)
	}
}

// merged returns the pairs that `<<: from` adds; of a list, earlier mappings win.
func (b *builder) merged(from *Node, explicit map[string]diag.Range) []Pair {
	sources := []*Node{from}
	if from.Kind == SequenceNode {
		sources = from.Items
	}
	var pairs []Pair
	seen := map[string]bool{}
	for _, m := range sources {
		switch m.Kind {
		case MappingNode:
		case BrokenNode:
			continue
		default:
			b.d.shapef(diag.Alias, m.Range, "", "merge a mapping, `<<: *anchor`, or quote the key: \"<<\"",
				"`<<` merges mappings, and this is %s", m.noun())
			continue
		}
		for _, p := range m.Pairs {
			if _, own := explicit[p.Key]; !own && !seen[p.Key] {
				seen[p.Key] = true
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}

// key reads a mapping key as text.
func (b *builder) key(y *yaml.Node, depth int) (at diag.Range, text string, ok bool) {
	n := b.node(y, depth+1)
	switch n.Kind {
	case BrokenNode:
		return n.Range, "", false
	case MappingNode, SequenceNode:
		b.d.shapef(diag.ComplexKey, n.Range, "", "if braces or brackets are part of a text, put the whole text in quotes",
			"a key must be text, and this is %s", n.noun())
		return n.Range, "", false
	}
	return n.Range, n.Text, true
}

func (b *builder) scalar(n *Node, y *yaml.Node, off int) {
	start := b.s.skipProperties(off)
	if y.Anchor == "" && y.Style&yaml.TaggedStyle == 0 {
		start = off
	}
	n.Text = y.Value
	end := start
	switch {
	case y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		end = b.s.quotedEnd(start)
		n.Kind = TextNode
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		end = start + len(bytes.TrimRight(b.s.rest(start), " \t"))
		n.Kind = TextNode
	default:
		if y.Value != "" {
			end = b.s.plainEnd(start, y.Value)
		}
		n.Kind = plainKind(y)
	}
	n.Range = b.s.span(off, end)
	plain := y.Style&^yaml.TaggedStyle == 0
	if !b.tagged(n, y, off, "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!merge") {
		return
	}
	if plain {
		b.lostText(end)
	}
}

// plainKind says what YAML takes an unquoted scalar for.
func plainKind(y *yaml.Node) NodeKind {
	switch y.Tag {
	case "!!null":
		return NullNode
	case "!!bool":
		return BoolNode
	case "!!int":
		return NumberNode
	case "!!float":
		if i := bytes.IndexAny([]byte(y.Value), "0123456789"); i < 0 {
			return NonFiniteNode
		}
		return NumberNode
	case "!!timestamp":
		return DateNode
	case "!!str":
		if y.Style&yaml.TaggedStyle == 0 && jsonNumber.MatchString(y.Value) {
			return NumberNode // 1e999: the library gives up and calls it text
		}
	}
	return TextNode
}

// tagged checks an explicit tag: the standard ones are allowed where the value
// is what they say, every other is text the author lost (`when: !done`).
func (b *builder) tagged(n *Node, y *yaml.Node, off int, allowed ...string) bool {
	written := b.s.text[min(off, len(b.s.text)):]
	if y.Anchor == "" && y.Style&yaml.TaggedStyle == 0 && !bytes.HasPrefix(written, []byte("!")) {
		return true
	}
	if y.Style&yaml.TaggedStyle == 0 && (y.Tag == "!!seq" || y.Tag == "!!map" || y.Tag == "!!str") {
		return true
	}
	ok := slices.Contains(allowed, y.Tag)
	if ok && y.Kind == yaml.ScalarNode && y.Style&yaml.TaggedStyle != 0 {
		untagged := *y
		untagged.Style, untagged.Tag = 0, ""
		actual := untagged.ShortTag()
		ok = y.Tag == "!!str" || actual == y.Tag || y.Tag == "!!float" && actual == "!!int"
		if ok && y.Tag == "!!str" {
			n.Kind = TextNode
		} else if ok {
			n.Kind = plainKind(y)
		}
	}
	if ok {
		return true
	}
	end := off
	for end < len(b.s.text) && !isSpace(b.s.text[end]) {
		end++
	}
	n.Kind, n.Pairs, n.Items = BrokenNode, nil, nil
	b.d.shapef(diag.Tag, b.s.span(off, end), "", fmt.Sprintf("if it is text, put it in quotes: \"%s\"", brief(string(b.s.rest(off)))),
		"`%s` is a YAML tag, which this file has no use for", brief(string(b.s.text[off:end])))
	return false
}

// lostText reports a comment that was probably meant as text: `p: color #fff`.
func (b *builder) lostText(end int) {
	text, hash := b.s.text, end
	for hash < len(text) && (text[hash] == ' ' || text[hash] == '\t') {
		hash++
	}
	if hash == end || hash+1 >= len(text) || text[hash] != '#' || isSpace(text[hash+1]) {
		return
	}
	tail := b.s.rest(hash)
	b.d.shapef(diag.LostText, b.s.span(hash, hash+len(tail)), "",
		"put the whole text in quotes, or write a space after # for a comment",
		"`%s` is a comment here, not part of the value", brief(string(tail)))
}

// closing returns the offset behind the first bracket at or behind off.
func (b *builder) closing(off int, bracket byte) int {
	tail := b.s.text[min(off, len(b.s.text)):]
	if i := bytes.IndexByte(tail, bracket); i >= 0 {
		return off + i + 1
	}
	return off
}

// later returns the last of the positions.
func later(at diag.Position, others ...diag.Position) diag.Position {
	for _, o := range others {
		if o.Line > at.Line || o.Line == at.Line && o.Column > at.Column {
			at = o
		}
	}
	return at
}

// brief shortens a text for a message, to one line.
func brief(s string) string {
	const most = 60
	out := make([]rune, 0, most)
	for _, c := range s {
		if len(out) == most {
			return string(out) + "…"
		}
		if c < ' ' || c == 0x7F || c == 0x85 || c == 0x2028 || c == 0x2029 {
			c = ' '
		}
		out = append(out, c)
	}
	return string(out)
}

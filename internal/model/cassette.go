package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/spec"
)

// MaxCassette is the largest cassette, in bytes, that is read.
const MaxCassette = 16 << 20

// Cassette is a file of model answers (model.md, "Cassettes"). It is immutable
// after loading.
type Cassette struct {
	File   string
	Strict bool // fingerprints are compared
	Calls  []*Exchange

	queues map[queue][]*Exchange
}

// queue is what the calls of a cassette are taken in order for.
type queue struct {
	session string
	role    Role
}

// Exchange is one call of a cassette: checks on what is asked, recorded facts,
// and the answer or the fault that is given.
type Exchange struct {
	Number int        // from 1, in the file
	Range  diag.Range // of the call

	Role    Role   // agent when the file names none
	Session string // "" for the root session
	State   string // "" checks nothing
	Tools   []string
	Last    *TextPattern

	Fingerprint string

	Text      string
	ToolCalls []Call
	Reasoning string
	Finish    string
	Model     string
	Usage     Usage
	Fault     *Fault // given after Text has been streamed; nil: an answer
}

// Fault is a failed attempt.
type Fault struct {
	Status     int           // 0: a broken stream
	RetryAfter time.Duration // negative when absent
	Message    string
	Final      bool // recorded after the retries were spent: not retried again
}

// TextPattern is a text that must be contained, or, written /pattern/flags, an
// RE2 regular expression that must match.
type TextPattern struct {
	source string
	re     *regexp.Regexp
}

// NewTextPattern reads a pattern; the error says what is wrong with it.
func NewTextPattern(s string) (*TextPattern, error) {
	p := &TextPattern{source: s}
	end := strings.LastIndex(s, "/")
	if !strings.HasPrefix(s, "/") || end == 0 {
		return p, nil
	}
	flags := s[end+1:]
	if strings.Trim(flags, "imsU") != "" {
		return p, nil // a path, not an expression
	}
	expr := s[1:end]
	if flags != "" {
		expr = "(?" + flags + ")" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("%s is no regular expression: %s", s, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	p.re = re
	return p, nil
}

// Match reports whether text holds the pattern.
func (p *TextPattern) Match(text string) bool {
	if p.re != nil {
		return p.re.MatchString(text)
	}
	return strings.Contains(text, p.source)
}

// String is the pattern as written.
func (p *TextPattern) String() string { return p.source }

// LoadCassette reads a cassette strictly: every problem in one pass, with its
// place. The cassette is nil when there are errors.
func LoadCassette(file string, src []byte) (*Cassette, diag.List) {
	root, list := spec.ReadYAML(file, src)
	if root == nil {
		return nil, list
	}
	d := spec.NewDecoder()
	c := DecodeCassette(d, root, file, "")
	list = append(list, d.Diagnostics(file)...)
	list.Sort()
	if list.HasErrors() {
		return nil, list
	}
	return c, list
}

// DecodeCassette reads a cassette from a mapping within another file: a case's
// `model`. Problems go to d.
func DecodeCassette(d *spec.Decoder, n *spec.Node, file, field string) *Cassette {
	c := &Cassette{File: file}
	m, ok := d.Mapping(n, field, "version", "strict", "calls")
	if !ok {
		return c
	}
	if v, ok := m.Int("version", 1); ok && v != 1 {
		d.Errorf(diag.BadValue, m.Get("version").Range, m.At("version"), "", "a cassette of version %d needs a newer archmax; this one reads version 1", v)
	}
	c.Strict, _ = m.Bool("strict")
	if !m.Require("calls", n.Range, "list the model's answers in order") {
		return c
	}
	items, _ := m.List("calls")
	for i, item := range items {
		field := spec.Join(m.At("calls"), strconv.Itoa(i))
		ex := decodeExchange(d, item, field)
		if ex == nil {
			continue
		}
		ex.Number = i + 1
		if c.Strict && ex.Fingerprint == "" && ex.Fault == nil {
			d.Errorf(diag.MissingKey, item.Range, spec.Join(field, "fingerprint"), "record the cassette with --record, or remove `strict`",
				"`fingerprint` is missing, which `strict` compares")
		}
		c.Calls = append(c.Calls, ex)
	}
	c.index()
	return c
}

func (c *Cassette) index() {
	c.queues = map[queue][]*Exchange{}
	for _, ex := range c.Calls {
		k := queue{ex.Session, ex.Role}
		c.queues[k] = append(c.queues[k], ex)
	}
}

// Unused returns the numbers of the calls that were not taken; used gives, per
// session and role, how many were.
func (c *Cassette) Unused(used func(session string, role Role) int) []int {
	seen := map[queue]int{}
	numbers := []int{}
	for _, ex := range c.Calls {
		k := queue{ex.Session, ex.Role}
		if seen[k] >= used(ex.Session, ex.Role) {
			numbers = append(numbers, ex.Number)
		}
		seen[k]++
	}
	return numbers
}

var sessionSuffix = regexp.MustCompile(`^(~[0-9]+)*$`)

func decodeExchange(d *spec.Decoder, n *spec.Node, field string) *Exchange {
	m, ok := d.Mapping(n, field, "role", "session", "state", "tools", "last", "messages", "fingerprint", "model",
		"text", "reasoning", "tool_calls", "finish", "usage", "error")
	if !ok {
		return nil
	}
	ex := &Exchange{Range: n.Range, Role: RoleAgent}
	if r, ok := m.OneOf("role", string(RoleAgent), string(RoleGrader), string(RoleJudge), string(RoleSummary)); ok {
		ex.Role = Role(r)
	}
	if s, ok := m.String("session"); ok {
		if !sessionSuffix.MatchString(s) {
			d.Errorf(diag.BadValue, m.Get("session").Range, m.At("session"), "leave it out for the session itself",
				"a child is named by its suffix, \"~1\", not `%s`", s)
		}
		ex.Session = s
	}
	ex.State, _ = m.String("state")
	if items, ok := m.List("tools"); ok {
		for i, item := range items {
			if s, ok := d.Text(item, spec.Join(m.At("tools"), strconv.Itoa(i))); ok {
				ex.Tools = append(ex.Tools, s)
			}
		}
	}
	if s, ok := m.Text("last"); ok {
		p, err := NewTextPattern(s)
		if err != nil {
			d.Errorf(diag.BadValue, m.Get("last").Range, m.At("last"), "", "%v", err)
		}
		ex.Last = p
	}
	m.Int("messages", 0) // a fact for the reader of the file, checked by the fingerprint
	ex.Fingerprint, _ = m.Text("fingerprint")
	ex.Model, _ = m.Text("model")
	ex.Text, _ = m.String("text")
	ex.Reasoning, _ = m.String("reasoning")
	ex.Finish, _ = m.Text("finish")
	ex.ToolCalls = decodeCalls(d, m)
	ex.Usage = decodeUsage(d, m)
	if m.Has("error") {
		ex.Fault = decodeFault(d, m)
		if m.Has("tool_calls") {
			d.Errorf(diag.BadValue, m.KeyRange("tool_calls"), m.At("tool_calls"), "make the answer a call of its own, after the fault",
				"a call with an `error` gives no answer")
		}
	}
	if !m.Has("text") && !m.Has("tool_calls") && !m.Has("error") {
		d.Errorf(diag.MissingKey, n.Range, field, "an answer that says nothing is `text: \"\"`",
			"the call gives no answer: it needs `text`, `tool_calls` or `error`")
	}
	return ex
}

func decodeCalls(d *spec.Decoder, parent spec.Map) []Call {
	items, _ := parent.List("tool_calls")
	var calls []Call
	for i, item := range items {
		m, ok := d.Mapping(item, spec.Join(parent.At("tool_calls"), strconv.Itoa(i)), "name", "args", "id")
		if !ok || !m.Require("name", item.Range, "the tool that the model calls") {
			continue
		}
		var c Call
		c.Name, _ = m.Text("name")
		c.ID, _ = m.Text("id")
		c.Args = decodeArgs(d, m)
		calls = append(calls, c)
	}
	return calls
}

// decodeArgs reads a call's arguments: a mapping, written as JSON in the order
// of the file, or a text, given as it is, whatever it holds.
func decodeArgs(d *spec.Decoder, m spec.Map) string {
	n := m.Get("args")
	if n == nil {
		return ""
	}
	switch n.Kind {
	case spec.TextNode:
		return n.Text
	case spec.BrokenNode, spec.NullNode:
		return ""
	case spec.MappingNode:
		var b bytes.Buffer
		writeJSON(d, &b, n, m.At("args"))
		return b.String()
	}
	d.Errorf(diag.WrongType, n.Range, m.At("args"), "for arguments that are no JSON object, write the text the model sends, in quotes",
		"`args` must be a mapping, or the arguments as text")
	return ""
}

// writeJSON writes a node as JSON, its keys in the order of the file and its
// numbers exact.
func writeJSON(d *spec.Decoder, b *bytes.Buffer, n *spec.Node, field string) {
	switch n.Kind {
	case spec.MappingNode:
		b.WriteByte('{')
		for i, p := range n.Pairs {
			if i > 0 {
				b.WriteByte(',')
			}
			writeScalar(b, p.Key)
			b.WriteByte(':')
			writeJSON(d, b, p.Value, spec.Join(field, p.Key))
		}
		b.WriteByte('}')
	case spec.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(d, b, item, spec.Join(field, strconv.Itoa(i)))
		}
		b.WriteByte(']')
	default:
		v, _ := d.Any(n, field)
		writeScalar(b, v)
	}
}

func writeScalar(b *bytes.Buffer, v any) {
	out, err := encodeJSON(v)
	if err != nil {
		out = []byte("null") // d has reported the value
	}
	b.Write(out)
}

func decodeUsage(d *spec.Decoder, parent spec.Map) Usage {
	if !parent.Has("usage") {
		return Usage{}
	}
	m, ok := d.Mapping(parent.Get("usage"), parent.At("usage"), "input", "output", "cache_read", "cache_write")
	if !ok {
		return Usage{}
	}
	number := func(key string) int64 {
		n, _ := m.Int(key, 0)
		return int64(n)
	}
	u := Usage{
		Known: true, InputTokens: number("input"), OutputTokens: number("output"),
		CacheReadTokens: number("cache_read"), CacheWriteTokens: number("cache_write"),
	}
	if u.CacheReadTokens+u.CacheWriteTokens > u.InputTokens {
		d.Errorf(diag.BadValue, m.Node.Range, m.Field, "", "`input` is the inclusive total, and cannot be less than `cache_read` and `cache_write` together")
	}
	return u
}

func decodeFault(d *spec.Decoder, parent spec.Map) *Fault {
	m, ok := d.Mapping(parent.Get("error"), parent.At("error"), "status", "retry_after", "message", "final")
	if !ok {
		return nil
	}
	f := &Fault{RetryAfter: -1}
	if status, ok := m.Int("status", 0); ok {
		if status != 0 && (status < 300 || status > 599) {
			d.Errorf(diag.BadValue, m.Get("status").Range, m.At("status"), "leave it out for a broken stream", "`status` must be an HTTP error status, not %d", status)
		}
		f.Status = status
	}
	if m.Has("retry_after") {
		if num, ok := d.Number(m.Get("retry_after"), m.At("retry_after")); ok {
			s, err := num.Float64()
			if err != nil || s < 0 || s > 1e9 {
				d.Errorf(diag.BadValue, m.Get("retry_after").Range, m.At("retry_after"), "", "`retry_after` must be a number of seconds, not %s", num)
			}
			f.RetryAfter = time.Duration(s * float64(time.Second))
		}
	}
	f.Message, _ = m.String("message")
	f.Final, _ = m.Bool("final")
	return f
}

// compactArgs is a call's arguments as decodeArgs would give them; ok is false
// when they are no JSON object.
func compactArgs(args string) (string, bool) {
	if !isObject([]byte(args)) {
		return "", false
	}
	dec := json.NewDecoder(strings.NewReader(args))
	dec.UseNumber()
	var b bytes.Buffer
	if err := copyJSON(dec, &b); err != nil {
		return "", false
	}
	return b.String(), true
}

// copyJSON copies one value, keys in order, every string in one spelling.
func copyJSON(dec *json.Decoder, b *bytes.Buffer) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	open, ok := t.(json.Delim)
	if !ok {
		writeScalar(b, t)
		return nil
	}
	b.WriteString(open.String())
	for first := true; dec.More(); first = false {
		if !first {
			b.WriteByte(',')
		}
		if open == '{' {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			writeScalar(b, key)
			b.WriteByte(':')
		}
		if err := copyJSON(dec, b); err != nil {
			return err
		}
	}
	end, err := dec.Token()
	if err != nil {
		return err
	}
	b.WriteString(end.(json.Delim).String())
	return nil
}

package validate

import (
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/spec"
)

// The kernel decides calls, and a list holds globs. This file finds texts that
// globs match, so that the kernel can be asked about them: samples of one glob,
// and a text that two globs both match.

// pattern is one alternative of a glob, its braces expanded: segments between
// slashes.
type pattern []segment

// segment is what one path segment must be; nil is `**`, any number of segments.
type segment []token

// token is one character of a segment, or a `*`.
type token struct {
	star bool
	lit  rune     // when ranges is nil and any is false
	any  bool     // `?`
	not  bool     // of a class: what is not in ranges
	set  []spread // of a class
}

// spread is a range of characters, both ends included.
type spread struct{ low, high rune }

// maxAlternatives bounds the expansion of braces: a glob beyond it is left alone.
const maxAlternatives = 64

// words stand for a `*` in samples. Between them they differ in length, case and
// characters, so that a denial that covers all of them covers about everything.
var words = []string{"any", "0", "Zz.q"}

// samples is how many samples of an alternative there are.
const samples = 9

// patternsOf reads a glob; nothing when it is malformed or too wide. References
// stand for a word of their own, the same in every glob.
func patternsOf(g *spec.Glob) []pattern {
	var patterns []pattern
	for _, text := range expand(literal(g)) {
		p := pattern{}
		for _, part := range splitSegments(text) {
			if part == "**" {
				p = append(p, nil)
				continue
			}
			s, ok := parseSegment(part)
			if !ok {
				return nil
			}
			p = append(p, s)
		}
		patterns = append(patterns, p)
	}
	return patterns
}

// literal is the glob's text with each reference replaced by a word, which is as
// good as any value: it is escaped and matches only itself.
func literal(g *spec.Glob) string {
	if len(g.Parts) == 0 || len(g.Parts) == 1 && g.Parts[0].Ref == nil {
		return g.Text
	}
	var b strings.Builder
	for _, part := range g.Parts {
		b.WriteString(part.Text)
		if part.Ref != nil {
			b.WriteString(spec.EscapeGlob("value-of-" + strings.Join(append([]string{part.Ref.Name}, part.Ref.Path...), "-")))
		}
	}
	return b.String()
}

// expand resolves the braces of a glob, nested ones too. Too many alternatives
// and unbalanced braces give none.
func expand(text string) []string {
	done, todo := []string{}, []string{text}
	for len(todo) > 0 {
		text, todo = todo[len(todo)-1], todo[:len(todo)-1]
		open, commas, end := brace(text)
		switch {
		case open < 0:
			done = append(done, text)
		case end < 0:
			return nil
		default:
			from := open + 1
			for _, to := range append(commas, end) {
				todo = append(todo, text[:open]+text[from:to]+text[end+1:])
				from = to + 1
			}
		}
		if len(done)+len(todo) > maxAlternatives {
			return nil
		}
	}
	slices.Reverse(done) // the order they are written in
	return done
}

// brace finds the first brace of a glob, its own commas and its end; open is -1
// when there is none, end -1 when it is not closed.
func brace(text string) (open int, commas []int, end int) {
	open, end = -1, -1
	depth, class := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			if depth++; open < 0 {
				open = i
			}
		case c == ',' && depth == 1:
			commas = append(commas, i)
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return open, commas, i
			}
		}
	}
	return open, nil, end
}

// splitSegments splits a glob without braces at its slashes. Empty and "."
// segments are in no canonical path; a closing slash means all below.
func splitSegments(text string) []string {
	parts := strings.Split(text, "/")
	last := len(parts) - 1
	if last > 0 && parts[last] == "" {
		parts[last] = "**"
	}
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" || s == "." })
}

func parseSegment(text string) (segment, bool) {
	s := segment{}
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; c {
		case '*':
			s = append(s, token{star: true})
		case '?':
			s = append(s, token{any: true})
		case '\\':
			if i++; i == len(runes) {
				return nil, false
			}
			s = append(s, token{lit: runes[i]})
		case '[':
			t, next, ok := parseClass(runes, i+1)
			if !ok {
				return nil, false
			}
			s, i = append(s, t), next
		default:
			s = append(s, token{lit: c})
		}
	}
	return s, true
}

// parseClass reads a class from behind its bracket; next is the closing one.
func parseClass(runes []rune, i int) (t token, next int, ok bool) {
	if i < len(runes) && (runes[i] == '^' || runes[i] == '!') {
		t.not = true
		i++
	}
	char := func() (c rune, ok bool) {
		if i < len(runes) && runes[i] == '\\' {
			i++
		}
		if i >= len(runes) {
			return 0, false
		}
		i++
		return runes[i-1], true
	}
	for i < len(runes) && runes[i] != ']' {
		low, ok := char()
		high := low
		if ok && i+1 < len(runes) && runes[i] == '-' && runes[i+1] != ']' {
			i++
			high, ok = char()
		}
		if !ok {
			return t, 0, false
		}
		t.set = append(t.set, spread{low, high})
	}
	return t, i, i < len(runes) && t.set != nil
}

// takes reports whether a single-character token matches c.
func (t *token) takes(c rune) bool {
	if t.set == nil {
		return t.any || t.lit == c
	}
	in := slices.ContainsFunc(t.set, func(s spread) bool { return s.low <= c && c <= s.high })
	return in != t.not
}

// pick is a character that the token matches and, when there is a second one,
// that too.
func (t *token) pick(also *token) (rune, bool) {
	if also == nil {
		also = &token{any: true}
	}
	candidates := []rune{t.lit, also.lit, 'x', '0', 'Q', '_', '~', 'é'}
	for _, s := range slices.Concat(t.set, also.set) {
		candidates = append(candidates, s.low, s.high)
	}
	for _, c := range candidates {
		if c != 0 && c != '/' && t.takes(c) && also.takes(c) {
			return c, true
		}
	}
	return 0, false
}

// sample is the n-th text that the pattern matches, n from 0 to samples-1: they
// differ in the words that stand for `*` and in how many segments stand for
// `**`. False when no text matches.
func (p pattern) sample(n int) (string, bool) {
	word, depth := words[n%3], []int{1, 2, 0}[n/3%3]
	var parts []string
	for _, s := range p {
		if s == nil {
			parts = append(parts, slices.Repeat([]string{word}, depth)...)
			continue
		}
		text, ok := s.sample(word)
		if !ok {
			return "", false
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "/"), true
}

func (s segment) sample(word string) (string, bool) {
	var b strings.Builder
	for i := range s {
		if s[i].star {
			b.WriteString(word)
			continue
		}
		c, ok := s[i].pick(nil)
		if !ok {
			return "", false
		}
		b.WriteRune(c)
	}
	return b.String(), true
}

// meet finds a text that both patterns match.
func meet(a, b pattern) (string, bool) {
	m := meeting{a: a, b: b, hopeless: map[[2]int]bool{}}
	parts, ok := m.from(0, 0)
	if !ok {
		return "", false
	}
	if len(parts) == 0 {
		return words[0], true // only `**` on both sides
	}
	slices.Reverse(parts)
	return strings.Join(parts, "/"), true
}

// meeting is the search for a common text; what was tried in vain is kept, so
// that its time is bounded by the product of the lengths.
type meeting struct {
	a, b     pattern
	hopeless map[[2]int]bool
}

// from returns the segments of a common text of a[i:] and b[j:], last first.
func (m *meeting) from(i, j int) (parts []string, ok bool) {
	if i == len(m.a) && j == len(m.b) {
		return nil, true
	}
	if m.hopeless[[2]int{i, j}] {
		return nil, false
	}
	step := func(i, j int, text string, fits bool) bool {
		if !fits {
			return false
		}
		if parts, ok = m.from(i, j); ok && text != "" {
			parts = append(parts, text)
		}
		return ok
	}
	aMore, bMore := i < len(m.a), j < len(m.b)
	switch {
	case aMore && m.a[i] == nil:
		if step(i+1, j, "", true) {
			return parts, true
		}
		if bMore && m.b[j] != nil {
			text, fits := m.b[j].sample(words[0])
			step(i, j+1, text, fits)
		} else if bMore {
			step(i, j+1, "", true)
		}
	case bMore && m.b[j] == nil:
		if step(i, j+1, "", true) {
			return parts, true
		}
		if aMore {
			text, fits := m.a[i].sample(words[0])
			step(i+1, j, text, fits)
		}
	case aMore && bMore:
		text, fits := meetSegments(m.a[i], m.b[j])
		step(i+1, j+1, text, fits)
	}
	if !ok {
		m.hopeless[[2]int{i, j}] = true
	}
	return parts, ok
}

// meetSegments finds a text that both segments match: row by row, a cell being
// reached by dropping a star, feeding a character to one, or by a common
// character.
func meetSegments(a, b segment) (string, bool) {
	const fresh = -1
	type cell struct {
		from rune // what was added on the way here; 0 for nothing
		prev int  // the cell before; fresh when not reached
	}
	width := len(b) + 1
	cells := make([]cell, (len(a)+1)*width)
	for k := range cells {
		cells[k].prev = fresh
	}
	cells[0].prev = 0
	reach := func(at, to int, c rune) {
		if cells[to].prev == fresh {
			cells[to] = cell{c, at}
		}
	}
	for i := range len(a) + 1 {
		for j := range width {
			at := i*width + j
			if cells[at].prev == fresh {
				continue
			}
			aStar, bStar := i < len(a) && a[i].star, j < len(b) && b[j].star
			if aStar {
				reach(at, at+width, 0)
			}
			if bStar {
				reach(at, at+1, 0)
			}
			switch {
			case aStar && j < len(b) && !bStar:
				if c, ok := b[j].pick(nil); ok {
					reach(at, at+1, c)
				}
			case bStar && i < len(a) && !aStar:
				if c, ok := a[i].pick(nil); ok {
					reach(at, at+width, c)
				}
			case i < len(a) && j < len(b) && !aStar && !bStar:
				if c, ok := a[i].pick(&b[j]); ok {
					reach(at, at+width+1, c)
				}
			}
		}
	}
	at := len(cells) - 1
	if cells[at].prev == fresh {
		return "", false
	}
	var text []rune
	for at != 0 {
		if c := cells[at].from; c != 0 {
			text = append(text, c)
		}
		at = cells[at].prev
	}
	if len(text) == 0 {
		return words[0], true // stars on both sides
	}
	slices.Reverse(text)
	return string(text), true
}

package spec

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/archmax-ai/archmax/internal/diag"
)

// source is a text with an index of its lines. YAML counts more characters as
// line breaks than editors do (NEL, LS and PS too), so there are two indexes,
// and a place goes from YAML's line and column over a byte offset to the
// position a person sees.
type source struct {
	text  []byte
	yaml  []int // byte offset of each line as YAML counts
	shown []int // as editors count: LF, CRLF, CR
	ascii bool

	// The last place found; the next one is usually to its right.
	lastLine, lastColumn, lastOffset int
	lastShown                        int // offset
	lastPosition                     diag.Position
}

func newSource(text []byte) *source {
	s := &source{text: text, yaml: []int{0}, shown: []int{0}, ascii: true}
	for i := 0; i < len(text); {
		c, size := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			s.ascii = false
			c, size = utf8.DecodeRune(text[i:])
		}
		i += size
		switch c {
		case '\r':
			if i < len(text) && text[i] == '\n' {
				i++
			}
			fallthrough
		case '\n':
			s.yaml, s.shown = append(s.yaml, i), append(s.shown, i)
		case '\u0085', '\u2028', '\u2029':
			s.yaml = append(s.yaml, i)
		}
	}
	return s
}

// offset returns the byte offset of YAML's 1-based line and column, clamped to
// the text.
func (s *source) offset(line, column int) int {
	if line < 1 {
		return 0
	}
	if line > len(s.yaml) {
		return len(s.text)
	}
	off, col := s.yaml[line-1], 1
	if s.ascii {
		return min(off+max(0, column-1), len(s.text))
	}
	if line == s.lastLine && column >= s.lastColumn {
		off, col = s.lastOffset, s.lastColumn
	}
	for ; col < column && off < len(s.text); col++ {
		_, size := utf8.DecodeRune(s.text[off:])
		off += size
	}
	s.lastLine, s.lastColumn, s.lastOffset = line, col, off
	return off
}

// position returns the place of a byte offset, as an editor shows it.
func (s *source) position(off int) diag.Position {
	off = max(0, min(off, len(s.text)))
	line := sort.SearchInts(s.shown, off+1)
	start := s.shown[line-1]
	if s.ascii {
		return diag.Position{Line: line, Column: off - start + 1}
	}
	column := 1
	if s.lastPosition.Line == line && s.lastShown <= off {
		start, column = s.lastShown, s.lastPosition.Column
	}
	column += utf8.RuneCount(s.text[start:off])
	s.lastShown, s.lastPosition = off, diag.Position{Line: line, Column: column}
	return s.lastPosition
}

// span returns the range between two byte offsets.
func (s *source) span(from, to int) diag.Range {
	start := s.position(from)
	return diag.Range{Start: start, End: s.position(max(from, to))}
}

// rest returns what follows off on its line.
func (s *source) rest(off int) []byte {
	tail := s.text[min(off, len(s.text)):]
	if i := bytes.IndexAny(tail, "\r\n"); i >= 0 {
		return tail[:i]
	}
	return tail
}

// lineStart returns the offset at which the line of off starts.
func (s *source) lineStart(off int) int {
	return s.shown[sort.SearchInts(s.shown, min(off, len(s.text))+1)-1]
}

// skipProperties returns the offset behind any anchor and tag at off.
func (s *source) skipProperties(off int) int {
	for off < len(s.text) && (s.text[off] == '&' || s.text[off] == '!') {
		for off < len(s.text) && !isSpace(s.text[off]) {
			off++
		}
		for off < len(s.text) && isSpace(s.text[off]) {
			off++
		}
	}
	return off
}

// plainEnd returns the offset behind a plain scalar that starts at off and
// reads as value, its line breaks folded.
func (s *source) plainEnd(off int, value string) int {
	if bytes.HasPrefix(s.text[min(off, len(s.text)):], []byte(value)) {
		return off + len(value)
	}
	for i := 0; i < len(value) && off < len(s.text); {
		if isSpace(value[i]) {
			for i < len(value) && isSpace(value[i]) {
				i++
			}
			for off < len(s.text) && isSpace(s.text[off]) {
				off++
			}
			continue
		}
		if value[i] != s.text[off] {
			break
		}
		i, off = i+1, off+1
	}
	return off
}

// quotedEnd returns the offset behind a quoted scalar whose quote is at off.
func (s *source) quotedEnd(off int) int {
	if off >= len(s.text) {
		return off
	}
	quote := s.text[off]
	for i := off + 1; i < len(s.text); i++ {
		switch {
		case quote == '"' && s.text[i] == '\\':
			i++
		case s.text[i] != quote:
		case quote == '\'' && i+1 < len(s.text) && s.text[i+1] == '\'':
			i++
		default:
			return i + 1
		}
	}
	return len(s.text)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

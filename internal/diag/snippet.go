package diag

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// maxSnippet is how many code points of a source line a snippet shows.
const maxSnippet = 160

// widths measures characters as terminals draw them, whatever the locale says,
// so that the same file gives the same caret everywhere.
var widths = &runewidth.Condition{EastAsianWidth: false, StrictEmojiNeutral: true}

// Snippet returns the source line on which r starts, and a line that puts
// carets under r when printed right below it: tabs stay tabs and a wide
// character takes two cells. A range over several lines is marked to the end of
// its first; a very long line is cut around the range; control characters show
// as "�", so a source cannot drive the terminal. Both strings are empty when r
// has no place in src.
func Snippet(src []byte, r Range) (line, caret string) {
	raw, ok := sourceLine(src, r.Start.Line)
	if !ok || r.Start.Column < 1 {
		return "", ""
	}
	text := printable(raw)
	from := min(r.Start.Column-1, len(text))
	to := len(text)
	if r.End.Line == r.Start.Line {
		to = min(r.End.Column-1, len(text))
	}
	to = max(to, from)

	cutLeft, cutRight := false, false
	if len(text) > maxSnippet {
		low := max(0, from-maxSnippet/3)
		high := min(len(text), low+maxSnippet)
		cutLeft, cutRight = low > 0, high < len(text)
		text, from, to = text[low:high], from-low, min(to, high)-low
	}

	var pad strings.Builder
	if cutLeft {
		pad.WriteByte(' ')
	}
	for _, c := range text[:from] {
		if c == '\t' {
			pad.WriteByte('\t')
		} else {
			pad.WriteString(strings.Repeat(" ", widths.RuneWidth(c)))
		}
	}
	marked := 0
	for _, c := range text[from:to] {
		marked += widths.RuneWidth(c)
	}
	caret = pad.String() + strings.Repeat("^", max(1, marked))

	line = string(text)
	if cutLeft {
		line = "…" + line
	}
	if cutRight {
		line += "…"
	}
	return line, caret
}

// sourceLine returns line n (1-based); lines end with LF, CRLF or CR.
func sourceLine(src []byte, n int) (string, bool) {
	s := strings.TrimPrefix(string(src), "\uFEFF")
	for i := 1; ; i++ {
		end := strings.IndexAny(s, "\r\n")
		if i == n {
			if end < 0 {
				return s, n > 0
			}
			return s[:end], true
		}
		if end < 0 || n < 1 {
			return "", false
		}
		if strings.HasPrefix(s[end:], "\r\n") {
			end++
		}
		s = s[end+1:]
	}
}

// printable decodes s, one element a code point, with control characters and
// broken bytes replaced.
func printable(s string) []rune {
	out := make([]rune, 0, len(s))
	for _, c := range s {
		if c != '\t' && (c == utf8.RuneError || unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)) {
			c = '�'
		}
		out = append(out, c)
	}
	return out
}

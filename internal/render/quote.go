package render

import (
	"strings"
	"unicode/utf8"
)

// quoter writes a speaker's words behind a prefix, neutralised. Words may arrive
// in pieces, even within a character.
type quoter struct {
	filler
	rest string // the beginning of a character
}

// newQuoter returns a quoter for a terminal of columns (0: unbounded); the last
// one stays free.
func newQuoter(write func(string), prefix string, columns int) quoter {
	return quoter{filler: newFiller(write, prefix+" ", prefix+" ", max(0, columns-1))}
}

func (q *quoter) add(text string) {
	text = q.rest + text
	q.rest = ""
	for len(text) > 0 {
		if !utf8.FullRuneInString(text) {
			q.rest = text
			return
		}
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '\n':
			q.newline()
		case r == ' ':
			q.blank(1)
		case r == '\t':
			q.blank(len(safe(r)))
		case r == '\r':
			// Half of a line break, or nothing a terminal should act on.
		case unsafeRune(r):
			q.char(safe(r), width(safe(r)))
		default:
			q.char(text[:size], columnsOf(r))
		}
		text = text[size:]
	}
}

// end writes what was held back and closes the open line.
func (q *quoter) end() {
	q.word = append(q.word, strings.Repeat("\uFFFD", len(q.rest))...)
	q.wide += len(q.rest)
	q.rest = ""
	q.pause()
}

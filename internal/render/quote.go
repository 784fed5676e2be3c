package render

import (
	"strings"
	"unicode/utf8"
)

// quoter writes a speaker's words line by line behind a prefix, wrapped between
// words when it has a width. Words may arrive in pieces, even within a
// character: the last word is held back until it is known to be whole, line
// breaks until a word follows, so words neither begin nor end in empty lines.
type quoter struct {
	write   func(string)
	prefix  string // in front of every line
	columns int    // for the text behind the prefix; 0: unbounded

	begun  bool   // something was written
	open   bool   // a line is begun
	col    int    // columns used in it
	breaks int    // line breaks before word
	space  string // blanks before word
	word   string
	rest   string // the beginning of a character
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
		text = text[size:]
		switch r {
		case '\n':
			q.flush()
			q.breaks++
			q.space = ""
		case ' ', '\t':
			q.flush()
			q.space += safe(r)
		case '\r':
			// Half of a line break, or nothing a terminal should act on.
		default:
			s := safe(r)
			q.word += s
			// East Asian text breaks anywhere; a word longer than a line must.
			if width(s) > 1 || q.columns > 0 && width(q.word) >= q.columns {
				q.flush()
			}
		}
	}
}

// flush writes the word held back, on a new line if it does not fit.
func (q *quoter) flush() {
	if q.word == "" {
		return
	}
	n := width(q.word)
	if q.begun {
		for range q.breaks {
			q.endLine()
		}
	}
	q.breaks = 0
	if q.open && q.columns > 0 && q.col+len(q.space)+n > q.columns {
		q.endLine()
		q.space = ""
	}
	if !q.open {
		q.write(q.prefix + " ")
		q.open, q.col = true, 0
	}
	q.write(q.space + q.word)
	q.col += len(q.space) + n
	q.space, q.word, q.begun = "", "", true
}

// endLine ends the open line, or leaves an empty one.
func (q *quoter) endLine() {
	if !q.open {
		q.write(q.prefix)
	}
	q.write("\n")
	q.open = false
}

// pause lets another line in between; the text goes on below it.
func (q *quoter) pause() {
	q.flush()
	if q.open {
		q.endLine()
		q.breaks = max(0, q.breaks-1)
	}
}

// end writes what was held back and closes the open line.
func (q *quoter) end() {
	q.word += strings.Repeat("\uFFFD", len(q.rest))
	q.rest = ""
	q.pause()
}

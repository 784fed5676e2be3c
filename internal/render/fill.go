package render

import (
	"strings"
	"unicode/utf8"
)

// maxHeld is how many bytes of one word a filler holds back. A word may be
// longer without growing wider: combining characters take no column.
const maxHeld = 4096

// A filler writes text line by line, wrapped between words when it has a width.
// It measures every character once, when it comes, so it takes time linear in
// the text whatever that holds. The last word is held back until it is known to
// be whole, line breaks until a word follows, so text neither begins nor ends in
// empty lines.
type filler struct {
	write   func(string)
	lead    string // in front of the first line
	hang    string // in front of the lines after it
	columns int    // of a whole line; 0: unbounded
	room    int    // columns behind lead and hang

	begun  bool // something was written
	open   bool // a line is begun
	col    int  // columns used in it
	breaks int  // line breaks before word
	space  int  // blanks before word
	word   []byte
	wide   int // columns of word
}

// minRoom is the narrowest stretch that text is wrapped to.
const minRoom = 20

// newFiller returns a filler for lines of columns (0: unbounded).
func newFiller(write func(string), lead, hang string, columns int) filler {
	f := filler{write: write, lead: lead, hang: hang}
	if columns > 0 {
		front := max(width(lead), width(hang))
		f.room = max(minRoom, columns-front)
		f.columns = front + f.room
	}
	return f
}

// char adds one character, or an escape sequence, that takes w columns.
func (f *filler) char(s string, w int) {
	if f.columns > 0 && f.wide+w > f.room {
		f.flush() // a word longer than a line must break
	}
	f.word = append(f.word, s...)
	f.wide += w
	// East Asian text breaks anywhere.
	if w > 1 || f.columns > 0 && f.wide >= f.room || len(f.word) >= maxHeld {
		f.flush()
	}
}

// blank ends a word with n blanks.
func (f *filler) blank(n int) {
	f.flush()
	f.space += n
}

// newline ends a word with a line break.
func (f *filler) newline() {
	f.flush()
	f.breaks++
	f.space = 0
}

// flush writes the word held back, on a new line if it does not fit.
func (f *filler) flush() {
	if len(f.word) == 0 {
		return
	}
	if f.begun {
		for range f.breaks {
			f.endLine()
		}
	}
	f.breaks = 0
	if f.open && f.columns > 0 && f.col+f.space+f.wide > f.columns {
		f.endLine()
		f.space = 0
	}
	if !f.open {
		f.write(f.front())
		f.open, f.col = true, width(f.front())
	}
	f.write(strings.Repeat(" ", f.space) + string(f.word))
	f.col += f.space + f.wide
	f.space, f.word, f.wide, f.begun = 0, f.word[:0], 0, true
}

func (f *filler) front() string {
	if f.begun {
		return f.hang
	}
	return f.lead
}

// endLine ends the open line, or leaves an empty one.
func (f *filler) endLine() {
	if !f.open {
		f.write(strings.TrimRight(f.front(), " "))
	}
	f.write("\n")
	f.open = false
}

// pause lets another line in between; the text goes on below it.
func (f *filler) pause() {
	f.flush()
	if f.open {
		f.endLine()
		f.breaks = max(0, f.breaks-1)
	}
}

// columnsOf is how many columns r takes, on its own.
func columnsOf(r rune) int {
	switch {
	case ' ' <= r && r <= '~':
		return 1
	case r == '\uFE0F': // makes the sign before it a wide one
		return 1
	}
	return width(string(r))
}

// styled adds a line that was cleaned and then painted: the escape sequences in
// it are ours and take no column.
func (f *filler) styled(text string) {
	for len(text) > 0 {
		if text[0] == '\x1b' {
			n := strings.IndexByte(text, 'm') + 1
			f.char(text[:n], 0)
			text = text[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		if r == ' ' {
			f.blank(1)
		} else {
			f.char(text[:size], columnsOf(r))
		}
		text = text[size:]
	}
}

// wrapped writes one painted line behind an indent, wrapped to a terminal of
// columns (0: not at all); what does not fit hangs one level further in.
func wrapped(write func(string), indent string, columns int, text string) {
	if columns <= 0 {
		write(indent + text + "\n")
		return
	}
	f := newFiller(write, indent, indent+"  ", columns)
	f.styled(text)
	f.pause()
}

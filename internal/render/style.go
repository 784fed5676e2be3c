package render

import (
	"io"
	"os"

	"github.com/charmbracelet/lipgloss"
	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// Style says how to draw on one stream. The zero Style is a pipe: no colour,
// ASCII marks, nothing cut to a width.
type Style struct {
	Color  bool // ANSI colours
	Glyphs bool // ✔ ◆ ✖ and friends; else ASCII marks
	TTY    bool // the stream is a terminal that can redraw a line
	Width  int  // columns; 0: unbounded

	// Console says that the stream is a terminal, a dumb one too: the control
	// characters of others must not reach it.
	Console bool
}

// Detect returns the style of the stream w. It looks through nothing: a wrapped
// file is a pipe, so a caller that wraps its streams uses NewStyle. lookup is
// os.LookupEnv.
func Detect(w io.Writer, lookup func(string) (string, bool)) Style {
	f, ok := w.(*os.File)
	if !ok {
		return NewStyle(false, 0, lookup)
	}
	tty := isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
	width := 0
	if tty {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			width = n
		}
	}
	return NewStyle(tty, width, lookup)
}

// NewStyle returns the style of a stream of which the caller knows whether it
// is a terminal and how wide. Colour and glyphs need a terminal and an unset
// (or empty, as no-color.org has it) NO_COLOR; a CLICOLOR_FORCE other than 0
// wins over both. A dumb terminal gets neither colour nor cursor movement.
func NewStyle(tty bool, width int, lookup func(string) (string, bool)) Style {
	get := func(name string) string {
		v, _ := lookup(name)
		return v
	}
	s := Style{TTY: tty, Width: width, Console: tty}
	if !tty {
		s.Width = 0
	}
	if get("TERM") == "dumb" {
		s.TTY = false
	}
	s.Color = s.TTY && get("NO_COLOR") == ""
	if force := get("CLICOLOR_FORCE"); force != "" && force != "0" {
		s.Color = true
	}
	s.Glyphs = s.Color
	return s
}

// Plain is s without colour and glyphs: --no-color.
func (s Style) Plain() Style {
	s.Color, s.Glyphs = false, false
	return s
}

// An accent is an inline colour.
type accent struct{ c *color.Color }

// ink makes an accent that does not ask fatih/color's global switch: whether a
// stream has colour is its Style's to say.
func ink(attrs ...color.Attribute) accent {
	c := color.New(attrs...)
	c.EnableColor()
	return accent{c}
}

// The accents.
var (
	noInk  = accent{}
	bold   = ink(color.Bold)
	dim    = ink(color.Faint)
	green  = ink(color.FgGreen)
	yellow = ink(color.FgYellow)
	red    = ink(color.FgRed)
	cyan   = ink(color.FgCyan)
)

// paint colours text, when s has colour.
func (s Style) paint(a accent, text string) string {
	if !s.Color || a.c == nil || text == "" {
		return text
	}
	return a.c.Sprint(text)
}

// A mark is a symbol with its ASCII fallback.
type mark struct {
	glyph, ascii string
	ink          accent
}

// The marks.
var (
	markState   = mark{"●", "*", cyan}
	markOK      = mark{"✔", "[ok]", green}
	markParked  = mark{"◆", "[parked]", yellow}
	markFailed  = mark{"✖", "[failed]", red}
	markReject  = mark{"✖", "[rejected]", red}
	markGo      = mark{"→", "->", cyan}
	markIn      = mark{"←", "<-", cyan}
	markReset   = mark{"↺", "[reset]", yellow}
	markRouted  = mark{"↯", "[error]", red}
	markTool    = mark{"▸", "-", dim}
	markError   = mark{"✖", "x", red}
	markBlocked = mark{"⊘", "[blocked]", red}
	markWarning = mark{"▲", "[warning]", yellow}
	markFact    = mark{"·", ".", dim}
	markStop    = mark{"◆", "=", yellow}
	markQuote   = mark{"│", "|", dim}
	markPerson  = mark{"»", ">", cyan}
)

func (s Style) mark(m mark) string {
	if s.Glyphs {
		return s.paint(m.ink, m.glyph)
	}
	return s.paint(m.ink, m.ascii)
}

// width is how many columns a terminal gives text: wide characters take two,
// colours none.
func width(text string) int { return lipgloss.Width(text) }

// cut shortens one line of text to n columns, ending it in "…".
func cut(text string, n int) string {
	if n <= 0 || width(text) <= n {
		return text
	}
	if n == 1 {
		return "…"
	}
	return lipgloss.NewStyle().Inline(true).MaxWidth(n-1).Render(text) + "…"
}

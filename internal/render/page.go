package render

import (
	"io"
	"strings"
)

// page gathers what is printed in one write.
type page struct {
	style Style
	b     strings.Builder
	gap   bool // a blank line is due before the next one
}

// line adds a line, indented by level, as it is: a command, or what was laid out
// to fit.
func (p *page) line(level int, text string) {
	p.due()
	p.b.WriteString(strings.Repeat("  ", level) + text + "\n")
}

// wrap adds a line, indented by level and wrapped to the terminal.
func (p *page) wrap(level int, text string) {
	p.due()
	wrapped(p.add, strings.Repeat("  ", level), p.style.Width, text)
}

func (p *page) add(text string) { p.b.WriteString(text) }

// due adds the blank line that is due.
func (p *page) due() {
	if p.gap {
		p.b.WriteByte('\n')
		p.gap = false
	}
}

// blank separates what came from what comes; nothing at the end of a page.
func (p *page) blank() { p.gap = p.b.Len() > 0 }

// field adds a named value within a record, nothing when it is empty.
func (p *page) field(name, value string) {
	if value != "" {
		p.wrap(1, p.style.paint(dim, name+":")+" "+value)
	}
}

// heading adds the name of a section.
func (p *page) heading(name string) {
	p.blank()
	p.line(0, p.style.paint(bold, name))
}

// text adds a paragraph of somebody else's words, wrapped to the terminal.
func (p *page) text(level int, text string) {
	p.due()
	indent := strings.Repeat("  ", level)
	q := quoter{filler: newFiller(p.add, indent, indent, p.style.Width)}
	q.add(text)
	q.end()
}

func (p *page) to(w io.Writer) error {
	_, err := io.WriteString(w, p.b.String())
	return err
}

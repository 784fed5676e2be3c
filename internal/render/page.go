package render

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// page gathers what is printed in one write.
type page struct {
	style Style
	b     strings.Builder
	gap   bool // a blank line is due before the next one
}

// line adds a line, indented by level.
func (p *page) line(level int, text string) {
	if p.gap {
		p.b.WriteByte('\n')
		p.gap = false
	}
	p.b.WriteString(strings.Repeat("  ", level) + text + "\n")
}

// blank separates what came from what comes; nothing at the end of a page.
func (p *page) blank() { p.gap = p.b.Len() > 0 }

// field adds a named value within a record, nothing when it is empty.
func (p *page) field(name, value string) {
	if value != "" {
		p.line(1, p.style.paint(dim, name+":")+" "+value)
	}
}

// heading adds the name of a section.
func (p *page) heading(name string) {
	p.blank()
	p.line(0, p.style.paint(bold, name))
}

// text adds a paragraph of somebody else's words, wrapped to the terminal.
func (p *page) text(level int, text string) {
	text = strings.TrimRight(Clean(text), "\n ")
	if w := p.style.Width; w > 0 {
		text = lipgloss.NewStyle().Width(max(20, w-2*level)).Render(text)
	}
	for line := range strings.Lines(text) {
		p.line(level, strings.TrimRight(line, " \n"))
	}
}

func (p *page) to(w io.Writer) error {
	_, err := io.WriteString(w, p.b.String())
	return err
}

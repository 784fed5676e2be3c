package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/spec"
)

// maxDrawn is how many states a drawing may have; beyond it a list is easier to
// read.
const maxDrawn = 30

// GraphText draws the machine for a person: a box a state, a line an edge, or a
// list when it has more than thirty states or the terminal is too narrow. A path
// that is not nil marks what a session did.
func GraphText(w io.Writer, st Style, m *spec.Machine, p *runtime.Path) error {
	pg := &page{style: st}
	graphHead(pg, m, p)
	d := newDrawing(st, m, p)
	if len(m.States) > maxDrawn || !d.fits() {
		graphList(pg, m, p)
	} else {
		pg.b.WriteString(d.String())
		pg.blank()
		for _, text := range wrapLegend(d.legend(), st.Width) {
			pg.line(0, st.paint(dim, text))
		}
	}
	for _, text := range strays(st, m, p) {
		pg.line(0, text)
	}
	return pg.to(w)
}

// wrapLegend breaks a legend between its items so that each line has at most
// limit columns; 0 is no bound.
func wrapLegend(legend string, limit int) (lines []string) {
	const gap = "   "
	for _, item := range strings.Split(legend, gap) {
		last := len(lines) - 1
		if last < 0 || limit > 0 && width(lines[last]+gap+item) > limit {
			lines = append(lines, item)
		} else {
			lines[last] += gap + item
		}
	}
	return lines
}

func graphHead(pg *page, m *spec.Machine, p *runtime.Path) {
	head := pg.style.paint(bold, m.Slug)
	if m.Title != "" {
		head += "  " + OneLine(m.Title)
	}
	pg.line(0, head)
	if p != nil {
		at := "nowhere yet"
		if p.At != "" {
			at = "at " + OneLine(p.At)
		}
		if p.Resets > 0 {
			at += ", reset " + times(p.Resets)
		}
		pg.line(0, pg.style.paint(dim, "the session is "+at))
	}
	pg.blank()
}

// strays are the moves of a session that the machine no longer has: its workflow
// was changed since.
func strays(st Style, m *spec.Machine, p *runtime.Path) (lines []string) {
	if p == nil {
		return nil
	}
	known := map[runtime.Hop]bool{}
	for _, h := range hops(m) {
		known[h.Hop] = true
	}
	for _, h := range sortedHops(p) {
		if !known[h] {
			lines = append(lines, fmt.Sprintf("%s the session also went from %s to %s (%s), and the workflow has no such edge now",
				st.mark(markWarning), OneLine(h.From), OneLine(h.To), times(p.Taken[h])))
		}
	}
	return lines
}

// hop is an edge as it is drawn.
type hop struct {
	runtime.Hop
	label string // the edge's type, or on_error; "" for none
	about string // the description
}

// hops are all edges of the machine, in file order.
func hops(m *spec.Machine) (all []hop) {
	for _, s := range m.States {
		for _, e := range s.Transitions {
			h := hop{Hop: runtime.Hop{From: s.Slug, To: e.To}, about: e.Description}
			if e.Type != spec.None {
				h.label = string(e.Type)
			}
			all = append(all, h)
		}
		if s.OnError != "" {
			all = append(all, hop{Hop: runtime.Hop{From: s.Slug, To: s.OnError, OnError: true}, label: "on_error"})
		}
	}
	return all
}

// entries are the triggers of a state, with how often the session came in by
// them.
func entries(s *spec.State, p *runtime.Path) string {
	var ids []string
	for _, t := range s.Triggers {
		id := OneLine(t.ID)
		if p != nil && p.Triggers[t.ID] > 0 {
			id += " " + times(p.Triggers[t.ID])
		}
		ids = append(ids, id)
	}
	return strings.Join(ids, ", ")
}

func times(n int) string { return fmt.Sprintf("×%d", n) }

// kindOf names a state's kind, and that it ends the turn.
func kindOf(s *spec.State) string {
	if s.Terminal() {
		return string(s.Kind) + ", end"
	}
	return string(s.Kind)
}

// graphList writes the machine as text: a paragraph a state.
func graphList(pg *page, m *spec.Machine, p *runtime.Path) {
	st := pg.style
	byState := map[string][]hop{}
	for _, h := range hops(m) {
		byState[h.From] = append(byState[h.From], h)
	}
	for _, s := range m.States {
		head := st.paint(bold, s.Slug) + "  " + st.paint(dim, kindOf(s))
		if s.Title != "" {
			head += "  " + OneLine(s.Title)
		}
		if in := entries(s, p); in != "" {
			head += "  " + st.paint(cyan, "<- "+in)
		}
		if p != nil && p.Entered[s.Slug] > 0 {
			head += "  " + st.paint(green, times(p.Entered[s.Slug]))
		}
		if p != nil && p.At == s.Slug {
			head += " " + st.mark(markStop)
		}
		pg.line(0, head)
		for _, h := range byState[s.Slug] {
			arrow := markGo
			if h.OnError {
				arrow = markRouted
			}
			text := st.mark(arrow) + " " + h.To
			if h.label != "" && !h.OnError {
				text += " (" + h.label + ")"
			}
			if p != nil && p.Taken[h.Hop] > 0 {
				text += " " + st.paint(green, times(p.Taken[h.Hop]))
			}
			if h.about != "" {
				text += "  " + st.paint(dim, OneLine(h.about))
			}
			pg.line(1, cut(text, max(0, st.Width-2)))
		}
	}
}

package runtime

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// Hop is one edge of a machine: a declared transition, or an on_error route.
type Hop struct {
	From, To string
	OnError  bool
}

// Path is the way a session took through its machine, with counts.
type Path struct {
	Entered  map[string]int // by state; every arrival in it counts
	Taken    map[Hop]int
	Triggers map[string]int // by trigger id: openings
	Resets   int
	At       string // the position; "" before the first step
}

// PathOf reads a session's way out of its trail. Steps that move nowhere
// (sub-workflows) are passed over.
func PathOf(trail []session.Step) *Path {
	p := &Path{Entered: map[string]int{}, Taken: map[Hop]int{}, Triggers: map[string]int{}}
	for _, s := range trail {
		switch s.Kind {
		case session.StepSubWorkflow:
			continue
		case session.StepTrigger:
			p.Triggers[s.Reason]++
		case session.StepReset:
			p.Resets++
		default:
			p.Taken[Hop{p.At, s.To, s.Kind == session.StepOnError}]++
		}
		p.Entered[s.To]++
		p.At = s.To
	}
	return p
}

// Mermaid draws the machine, with a session's path marked when there is one.
// Node ids are numbers, since a slug may be a word of Mermaid's own, such as
// `end`; names appear as quoted labels. Kinds have shapes: an agent state is a
// box, a human one a hexagon, code a subroutine, a grader a rhombus; a terminal
// state has a heavy border, and is round when an agent's.
func Mermaid(m *spec.Machine, p *Path) string {
	g := mermaid{m: m, p: p, ids: map[string]string{}}
	for i, s := range m.States {
		g.ids[s.Slug] = fmt.Sprintf("s%d", i+1)
	}
	g.line("flowchart TD")
	g.nodes()
	g.triggers()
	for _, s := range m.States {
		for _, e := range s.Transitions {
			label := ""
			if e.Type != spec.None {
				label = string(e.Type)
			}
			g.edge(Hop{s.Slug, e.To, false}, label)
		}
		if s.OnError != "" {
			g.edge(Hop{s.Slug, s.OnError, true}, "on_error")
		}
	}
	g.styles()
	return g.b.String()
}

type mermaid struct {
	m   *spec.Machine
	p   *Path
	ids map[string]string
	b   strings.Builder

	links int      // drawn so far: linkStyle counts them
	taken []string // the numbers of those that the session took
}

func (g *mermaid) line(format string, args ...any) {
	fmt.Fprintf(&g.b, format+"\n", args...)
}

func (g *mermaid) nodes() {
	for _, s := range g.m.States {
		open, end := "[", "]"
		switch {
		case s.Kind == spec.Human:
			open, end = "{{", "}}"
		case s.Kind == spec.Code:
			open, end = "[[", "]]"
		case s.Kind == spec.Grader:
			open, end = "{", "}"
		case s.Terminal():
			open, end = "([", "])"
		}
		label := mermaidText(s.Slug)
		if title := strings.TrimSpace(s.Title); title != "" {
			label += "<br/>" + mermaidText(title)
		}
		if g.p != nil && g.p.Entered[s.Slug] > 0 {
			label += fmt.Sprintf("<br/>×%d", g.p.Entered[s.Slug])
		}
		g.line("  %s%s\"%s\"%s", g.ids[s.Slug], open, label, end)
	}
}

// triggers draws the entries to the machine.
func (g *mermaid) triggers() {
	n := 0
	for _, t := range g.m.Triggers() {
		n++
		g.line("  t%d>\"%s\"]", n, mermaidText(t.ID))
		count := 0
		if g.p != nil {
			count = g.p.Triggers[t.ID]
		}
		g.link(fmt.Sprintf("t%d", n), g.ids[t.State], "-->", "", count)
	}
}

func (g *mermaid) edge(h Hop, label string) {
	arrow, count := "-->", 0
	if h.OnError {
		arrow = "-.->"
	}
	if g.p != nil {
		count = g.p.Taken[h]
	}
	g.link(g.ids[h.From], g.ids[h.To], arrow, label, count)
}

func (g *mermaid) link(from, to, arrow, label string, count int) {
	if count > 0 {
		label = strings.TrimSpace(fmt.Sprintf("%s ×%d", label, count))
		g.taken = append(g.taken, fmt.Sprint(g.links))
	}
	if label != "" {
		arrow += fmt.Sprintf("|\"%s\"|", mermaidText(label))
	}
	g.line("  %s %s %s", from, arrow, to)
	g.links++
}

// styles sets apart the terminal states and what the session did.
func (g *mermaid) styles() {
	var terminal, entered []string
	for _, s := range g.m.States {
		if s.Terminal() {
			terminal = append(terminal, g.ids[s.Slug])
		}
		if g.p != nil && g.p.Entered[s.Slug] > 0 {
			entered = append(entered, g.ids[s.Slug])
		}
	}
	g.class("terminal", "stroke-width:3px", terminal)
	g.class("taken", "fill:#d7ebff,stroke:#1f6feb,color:#000", entered)
	if g.p != nil && g.ids[g.p.At] != "" {
		g.class("here", "stroke:#d1242f,stroke-width:4px", []string{g.ids[g.p.At]})
	}
	if len(g.taken) > 0 {
		g.line("  linkStyle %s stroke:#1f6feb,stroke-width:3px", strings.Join(g.taken, ","))
	}
}

func (g *mermaid) class(name, style string, ids []string) {
	if len(ids) > 0 {
		g.line("  classDef %s %s", name, style)
		g.line("  class %s %s", strings.Join(ids, ","), name)
	}
}

// mermaidEscapes are the characters that mean something inside a quoted label,
// as numeric entities: quotes end it, and its text is Markdown and HTML.
var mermaidEscapes = strings.NewReplacer(
	`"`, "#34;", "#", "#35;", "&", "#38;", "<", "#60;", ">", "#62;", "`", "#96;",
	"%%", "#37;#37;", // begins a comment or, with a brace, a directive
)

// mermaidText is a text on one line, as a label: without what would drive the
// terminal that it may be printed on.
func mermaidText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.Join(strings.Fields(s), " "))
	return mermaidEscapes.Replace(s)
}

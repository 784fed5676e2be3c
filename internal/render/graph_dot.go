package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/spec"
)

// GraphMermaid writes the machine for Mermaid; it is what artifacts/graph.mmd
// holds, with the path marked.
func GraphMermaid(w io.Writer, m *spec.Machine, p *runtime.Path) error {
	_, err := io.WriteString(w, runtime.Mermaid(m, p))
	return err
}

// GraphDOT writes the machine for Graphviz. Every id is quoted, since a slug may
// be a word of DOT's own, such as `node`.
func GraphDOT(w io.Writer, m *spec.Machine, p *runtime.Path) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("digraph %s {", dotText(m.Slug))
	line("  rankdir=TB;")
	line("  node [fontname=\"Helvetica\"];")
	line("  edge [fontname=\"Helvetica\"];")
	for _, s := range m.States {
		line("  %s [%s];", dotText(s.Slug), dotNode(s, p))
	}
	for _, t := range m.Triggers() {
		line("  %s [shape=cds, label=%s];", dotText("trigger "+t.ID), dotText(OneLine(t.ID)))
		var count int
		if p != nil {
			count = p.Triggers[t.ID]
		}
		line("  %s -> %s%s;", dotText("trigger "+t.ID), dotText(t.State), dotEdge("", "", count))
	}
	for _, h := range hops(m) {
		style, count := "", 0
		if h.OnError {
			style = "style=dashed"
		}
		if p != nil {
			count = p.Taken[h.Hop]
		}
		line("  %s -> %s%s;", dotText(h.From), dotText(h.To), dotEdge(h.label, style, count))
	}
	line("}")
	_, err := io.WriteString(w, b.String())
	return err
}

// dotShapes set the kinds apart.
var dotShapes = map[spec.Kind]string{spec.Agent: "box", spec.Human: "hexagon", spec.Code: "component", spec.Grader: "diamond"}

func dotNode(s *spec.State, p *runtime.Path) string {
	label := s.Slug
	if title := OneLine(s.Title); title != "" {
		label += "\n" + title
	}
	attrs := []string{"shape=" + dotShapes[s.Kind]}
	if s.Terminal() {
		attrs = append(attrs, "peripheries=2")
	}
	if p != nil && p.Entered[s.Slug] > 0 {
		label += "\n" + times(p.Entered[s.Slug])
		attrs = append(attrs, "style=filled", `fillcolor="#d7ebff"`)
	}
	if p != nil && p.At == s.Slug {
		attrs = append(attrs, `color="#d1242f"`, "penwidth=3")
	}
	return strings.Join(append(attrs, "label="+dotText(label)), ", ")
}

func dotEdge(label, style string, count int) string {
	var attrs []string
	if style != "" {
		attrs = append(attrs, style)
	}
	if count > 0 {
		label = strings.TrimSpace(label + " " + times(count))
		attrs = append(attrs, `color="#1f6feb"`, "penwidth=2")
	}
	if label != "" {
		attrs = append(attrs, "label="+dotText(label))
	}
	if len(attrs) == 0 {
		return ""
	}
	return " [" + strings.Join(attrs, ", ") + "]"
}

// dotText quotes a text for DOT, where a backslash begins an escape.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// sortedHops are the edges a session took, in a stable order.
func sortedHops(p *runtime.Path) []runtime.Hop {
	var all []runtime.Hop
	for h := range p.Taken {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b runtime.Hop) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
	return all
}

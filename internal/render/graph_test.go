package render

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// graphOf has every kind of state, a slug that is a word of Mermaid's and of
// DOT's, and titles that would break a label.
const graphed = `title: "Refunds | [all] \"now\""
instructions: x
states:
  graph:
    title: "A [box] \"quoted\" | piped\nand <b>broken</b>\e[31m #1 \\ ` + "`tick`" + `"
    triggers: { manual: , web-form: { session: ticket } }
    on_error: end
    transitions:
      - { to: check, description: Ready. }
  check:
    type: code
    script: scripts/check.js
    transitions:
      - { to: judge, description: It holds. }
      - { to: graph, description: It does not. }
  judge:
    type: grader
    instructions: Good enough.
    transitions: [{ to: review, description: Good. }]
  review:
    type: human
    instructions: Decide.
    transitions:
      - { to: end, description: Fine., type: approve }
      - { to: graph, description: Again., type: refine }
  end:
`

func graphMachine(t testing.TB, src string) *spec.Machine {
	t.Helper()
	m, list := spec.Parse("refund", "workflows/refund/workflow.yaml", []byte(src))
	if m == nil {
		t.Fatal(list)
	}
	return m
}

// walked is the trail of a session that went round once, failed, was reset and
// waits for a person.
func walked() *runtime.Path {
	step := func(to string, kind session.TrailKind, reason string) session.Step {
		return session.Step{To: to, Kind: kind, Reason: reason}
	}
	return runtime.PathOf([]session.Step{
		step("graph", session.StepTrigger, "manual"),
		step("check", session.StepAgent, ""),
		step("graph", session.StepCode, ""),
		step("", session.StepSubWorkflow, ""),
		step("end", session.StepOnError, ""),
		step("graph", session.StepReset, ""),
		step("check", session.StepAgent, ""),
		step("judge", session.StepCode, ""),
		step("review", session.StepGrader, ""),
	})
}

func TestGraphGoldens(t *testing.T) {
	m := graphMachine(t, graphed)
	for _, tt := range []struct {
		name string
		draw func(io.Writer) error
	}{
		{"graph_console.txt", func(w io.Writer) error { return GraphText(w, console, m, walked()) }},
		{"graph_pipe.txt", func(w io.Writer) error { return GraphText(w, pipe, m, nil) }},
		{"graph_pipe_session.txt", func(w io.Writer) error { return GraphText(w, pipe, m, walked()) }},
		{"graph.mmd", func(w io.Writer) error { return GraphMermaid(w, m, nil) }},
		{"graph_session.mmd", func(w io.Writer) error { return GraphMermaid(w, m, walked()) }},
		{"graph.dot", func(w io.Writer) error { return GraphDOT(w, m, nil) }},
		{"graph_session.dot", func(w io.Writer) error { return GraphDOT(w, m, walked()) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := golden(t, tt.name, tt.draw)
			if again := golden(t, tt.name, tt.draw); again != text {
				t.Error("two drawings of one machine differ")
			}
		})
	}
}

// What Mermaid and DOT read of a line: ids of our own, and quoted labels with
// nothing in them that ends a label or means something to HTML or Markdown.
var (
	mermaidLine = regexp.MustCompile(`^(flowchart TD|  s\d+(\[|\[\[|\{|\{\{|\(\[)"([^"<>` + "`" + `]|<br/>)*"(\]|\]\]|\}|\}\}|\]\))|  t\d+>"[^"<>]*"\]|  [st]\d+ (-->|-\.->)(\|"[^"<>]*"\|)? s\d+|  (classDef|class|linkStyle) [-\w,:.#]+ [-\w,:.#]+)$`)
	dotLine     = regexp.MustCompile(`^(digraph "refund" \{|\}|  (rankdir=TB|node \[fontname="Helvetica"\]|edge \[fontname="Helvetica"\]|"([^"\\]|\\["\\])*"( -> "[^"]*")?( \[((\w+=("([^"\\]|\\["\\n])*"|\w+))(, )?)+\])?);)$`)
)

func TestLabelsAreEscaped(t *testing.T) {
	m := graphMachine(t, graphed)
	for _, p := range []*runtime.Path{nil, walked()} {
		for _, tt := range []struct {
			name string
			draw func(io.Writer, *spec.Machine, *runtime.Path) error
			line *regexp.Regexp
		}{{"mermaid", GraphMermaid, mermaidLine}, {"dot", GraphDOT, dotLine}} {
			var b bytes.Buffer
			if err := tt.draw(&b, m, p); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(b.String(), "\x1b") {
				t.Errorf("%s: a title drives the terminal", tt.name)
			}
			for line := range strings.Lines(b.String()) {
				if !tt.line.MatchString(strings.TrimSuffix(line, "\n")) {
					t.Errorf("%s: %s", tt.name, line)
				}
			}
		}
	}
}

// generated is a machine of n states with random edges.
func generated(t testing.TB, r *rand.Rand, n int) *spec.Machine {
	t.Helper()
	var b strings.Builder
	b.WriteString("instructions: x\nstates:\n")
	for i := range n {
		fmt.Fprintf(&b, "  s%d:\n    title: State %d\n", i, i)
		if i == 0 {
			b.WriteString("    triggers: { manual: }\n")
		}
		if r.IntN(4) == 0 {
			fmt.Fprintf(&b, "    on_error: s%d\n", r.IntN(n))
		}
		targets := r.Perm(n)[:min(n, r.IntN(4))]
		if len(targets) > 0 {
			b.WriteString("    transitions:\n")
		}
		for _, to := range targets {
			fmt.Fprintf(&b, "      - { to: s%d, description: Go. }\n", to)
		}
	}
	return graphMachine(t, b.String())
}

// A reader who follows the lines of a drawing finds the edges of the machine.
func TestTheLinesOfADrawingLeadWhereTheEdgesDo(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for i := range 2 * maxDrawn {
		m := generated(t, r, i/2+1)
		st := Style{Glyphs: true}
		if i%2 == 1 { // as tight as it gets
			st.TTY, st.Width = true, minInner+4+maxDrawn
		}
		var b bytes.Buffer
		if err := GraphText(&b, st, m, nil); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, h := range hops(m) {
			want = append(want, h.From+">"+h.To)
		}
		if diff := cmp.Diff(want, traced(t, b.String())); diff != "" {
			t.Fatalf("edges (-machine +drawing):\n%s\n%s", diff, b.String())
		}
	}
}

// traced follows every line of a drawing with the eye: right from the box to the
// corner, then along the lane to the arrow head.
func traced(t *testing.T, drawing string) (edges []string) {
	t.Helper()
	var grid [][]rune
	for line := range strings.Lines(drawing) {
		grid = append(grid, []rune(strings.TrimSuffix(line, "\n")))
	}
	at := func(row, col int) rune {
		if row < 0 || row >= len(grid) || col >= len(grid[row]) {
			return ' '
		}
		return grid[row][col]
	}
	// corner is where a row's line turns, from the column it starts at.
	corner := func(row, col int) int {
		for slices.Contains([]rune("─┼"), at(row, col)) {
			col++
		}
		return col
	}
	box := ""
	for row, line := range grid {
		if text := strings.Fields(string(line)); len(text) > 2 && strings.Contains(string(line), "agent") {
			box = text[1]
		}
		start := slices.Index(line, '├')
		if start < 0 {
			continue
		}
		col := corner(row, start+1)
		target := ""
		for _, dir := range []int{-1, 1} {
			if turn := at(row, col); turn == '┐' && dir < 0 || turn == '┘' && dir > 0 {
				continue
			}
			for to := row + dir; slices.Contains([]rune("│┤┐┘┼"), at(to, col)); to += dir {
				if head := slices.Index(grid[to], '◀'); head >= 0 && corner(to, head+1) == col {
					target = strings.Fields(string(grid[to]))[1]
				}
				if c := at(to, col); c == '┐' || c == '┘' {
					break
				}
			}
		}
		edges = append(edges, box+">"+target)
	}
	return edges
}

func TestALargeMachineIsListed(t *testing.T) {
	m := generated(t, rand.New(rand.NewPCG(1, 2)), maxDrawn+1)
	var b bytes.Buffer
	if err := GraphText(&b, noColour, m, nil); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.ContainsAny(text, "┌+") {
		t.Error("it is drawn")
	}
	for _, s := range m.States {
		if !strings.Contains(text, "\n"+s.Slug+"  agent") {
			t.Errorf("%s is not listed", s.Slug)
		}
	}
	if got, want := strings.Count(text, "  -> ")+strings.Count(text, "  [error] "), len(hops(m)); got != want {
		t.Errorf("%d edges are listed, want %d", got, want)
	}
}

func TestADrawingFitsTheTerminalOrIsAList(t *testing.T) {
	m := graphMachine(t, graphed)
	for _, columns := range []int{20, 30, 31, 34, 40, 60, 80, 200} {
		st := Style{Glyphs: true, TTY: true, Width: columns}
		var b bytes.Buffer
		if err := GraphText(&b, st, m, walked()); err != nil {
			t.Fatal(err)
		}
		drawn := strings.Contains(b.String(), "┌")
		if drawn != (columns >= 31) { // 24 columns of text, two borders, two of the arrow, three tight lanes
			t.Errorf("%d columns: drawn is %v", columns, drawn)
		}
		for line := range strings.Lines(b.String()) {
			if drawn && strings.ContainsAny(line, "│║┌╔╭└╚╰") && width(strings.TrimRight(line, "\n")) > columns {
				t.Errorf("%d columns: too wide: %s", columns, line)
			}
		}
	}
}

func TestAPathThatTheMachineNoLongerHasIsTold(t *testing.T) {
	m := graphMachine(t, "instructions: x\nstates:\n  a:\n    triggers: { manual: }\n")
	p := runtime.PathOf([]session.Step{{To: "a", Kind: session.StepTrigger, Reason: "manual"}, {To: "gone", Kind: session.StepAgent}})
	var b bytes.Buffer
	if err := GraphText(&b, pipe, m, p); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "went from a to gone (×1), and the workflow has no such edge now") {
		t.Error(b.String())
	}
}

func TestAPathIsCounted(t *testing.T) {
	p := walked()
	want := &runtime.Path{
		Entered:  map[string]int{"graph": 3, "check": 2, "end": 1, "judge": 1, "review": 1},
		Triggers: map[string]int{"manual": 1},
		Taken: map[runtime.Hop]int{
			{From: "graph", To: "check"}: 2, {From: "check", To: "graph"}: 1, {From: "graph", To: "end", OnError: true}: 1,
			{From: "check", To: "judge"}: 1, {From: "judge", To: "review"}: 1,
		},
		Resets: 1, At: "review",
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

func TestTheLegendKeepsToTheWidth(t *testing.T) {
	legend := "─ agent   ═ person decides   ┄ code"
	for limit, want := range map[int][]string{
		0:  {legend},
		35: {legend},
		34: {"─ agent   ═ person decides", "┄ code"},
		10: {"─ agent", "═ person decides", "┄ code"}, // an item is not broken
	} {
		if diff := cmp.Diff(want, wrapLegend(legend, limit)); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", limit, diff)
		}
	}
}

package render

import (
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/spec"
)

// A drawing is the boxes of a machine, one below the other in the order of the
// file, and to their right a lane for each state that edges lead to: an edge
// leaves its box on a row of its own, runs right to the lane of its target, and
// the lane runs up or down to the target's box. Two lanes share a column when
// they do not overlap.
type drawing struct {
	style Style
	path  *runtime.Path
	rows  []drawnRow
	lanes []*lane
	inner int // columns between a box's borders
	cols  int // columns of lanes
	pitch int // from one lane's column to the next: 2, or 1 where room is short
}

// drawnRow is one line of the drawing.
type drawnRow struct {
	kind        rowKind
	state       *spec.State
	left, right string // of a text row
	ink         accent
	lane        *lane // that an edge row runs to, or a head row receives
	taken       bool  // the session went along this edge
}

type rowKind int

const (
	topRow rowKind = iota
	headRow
	textRow
	edgeRow
	bottomRow
)

// lane is a vertical line: rows first to last, in a column.
type lane struct {
	target         string
	head           int   // the row of the target's head
	sources        []int // the rows of the edges
	first, last    int
	column         int
	takenFrom      map[int]bool // rows of edges that the session took
	takenA, takenB int          // the stretch of the lane that it went along
}

// minInner is the narrowest box that is readable.
const minInner, maxInner = 24, 44

func newDrawing(st Style, m *spec.Machine, p *runtime.Path) *drawing {
	d := &drawing{style: st, path: p, inner: minInner}
	lanes := map[string]*lane{}
	for _, h := range hops(m) {
		if lanes[h.To] == nil {
			lanes[h.To] = &lane{target: h.To, takenFrom: map[int]bool{}}
			d.lanes = append(d.lanes, lanes[h.To])
		}
	}
	edges := hops(m)
	for _, s := range m.States {
		d.add(drawnRow{kind: topRow, state: s})
		if l := lanes[s.Slug]; l != nil {
			l.head = len(d.rows)
		}
		d.head(s, lanes[s.Slug])
		if in := entries(s, p); in != "" {
			d.add(drawnRow{kind: textRow, state: s, left: "starts: " + in, ink: cyan})
		}
		if title := OneLine(s.Title); title != "" {
			d.add(drawnRow{kind: textRow, state: s, left: title, ink: dim})
		}
		for len(edges) > 0 && edges[0].From == s.Slug {
			d.edge(s, edges[0], lanes[edges[0].To])
			edges = edges[1:]
		}
		d.add(drawnRow{kind: bottomRow, state: s})
	}
	d.layout()
	return d
}

func (d *drawing) add(r drawnRow) {
	d.inner = min(maxInner, max(d.inner, width(r.left)+width(r.right)+3))
	d.rows = append(d.rows, r)
}

func (d *drawing) head(s *spec.State, l *lane) {
	r := drawnRow{kind: headRow, state: s, left: s.Slug, right: kindOf(s), lane: l, ink: bold}
	if d.path != nil {
		if n := d.path.Entered[s.Slug]; n > 0 {
			r.left += " " + times(n)
			r.ink = green
		}
		if d.path.At == s.Slug {
			r.left += " " + d.pick("◆", "(here)")
			r.ink = yellow
		}
	}
	d.add(r)
}

func (d *drawing) edge(s *spec.State, h hop, l *lane) {
	r := drawnRow{kind: edgeRow, state: s, left: h.To, right: h.label, lane: l}
	if h.OnError {
		r.ink = dim
	}
	if d.path != nil && d.path.Taken[h.Hop] > 0 {
		r.taken, r.ink = true, green
		r.right = strings.TrimSpace(r.right + " " + times(d.path.Taken[h.Hop]))
		l.takenFrom[len(d.rows)] = true
	}
	r.left = d.pick("→ ", "> ") + r.left
	l.sources = append(l.sources, len(d.rows))
	d.add(r)
}

// layout gives every lane its stretch and the first column that is free along
// it; shorter lanes are nearer to the boxes.
func (d *drawing) layout() {
	for _, l := range d.lanes {
		l.first, l.last = l.head, l.head
		l.takenA, l.takenB = l.head, l.head
		for _, row := range l.sources {
			l.first, l.last = min(l.first, row), max(l.last, row)
			if l.takenFrom[row] {
				l.takenA, l.takenB = min(l.takenA, row), max(l.takenB, row)
			}
		}
	}
	byLength := slices.Clone(d.lanes)
	slices.SortStableFunc(byLength, func(a, b *lane) int { return (a.last - a.first) - (b.last - b.first) })
	var columns [][]*lane
	for _, l := range byLength {
		l.column = 0
		for l.column < len(columns) && overlaps(columns[l.column], l) {
			l.column++
		}
		if l.column == len(columns) {
			columns = append(columns, nil)
		}
		columns[l.column] = append(columns[l.column], l)
	}
	d.cols, d.pitch = len(columns), 2
	if d.style.Width > 0 && d.width()-d.inner+minInner > d.style.Width {
		d.pitch = 1
	}
	if over := d.width() - d.style.Width; d.style.Width > 0 && over > 0 {
		d.inner -= over
	}
}

func overlaps(column []*lane, l *lane) bool {
	for _, o := range column {
		if l.first <= o.last && o.first <= l.last {
			return true
		}
	}
	return false
}

// width is the columns of the whole: two borders, an arrow head, the lanes.
func (d *drawing) width() int { return d.inner + 2 + 2 + d.pitch*d.cols }

// fits reports whether the boxes are still readable at the terminal's width.
func (d *drawing) fits() bool { return d.inner >= minInner }

func (d *drawing) pick(glyph, ascii string) string {
	if d.style.Glyphs {
		return glyph
	}
	return ascii
}

func (d *drawing) legend() string {
	return d.pick("─ agent   ═ person decides   ┄ code   ┉ grader   rounded: an end   on_error: where a failure goes",
		"- agent   = person decides   . code   ~ grader   ( ): an end   on_error: where a failure goes")
}

// String draws all rows.
func (d *drawing) String() string {
	var b strings.Builder
	for i := range d.rows {
		b.WriteString(strings.TrimRight(d.box(d.rows[i])+d.margin(i), " ") + "\n")
	}
	return b.String()
}

// box is a row up to and with its right border.
func (d *drawing) box(r drawnRow) string {
	edge := d.border(r.state)
	switch r.kind {
	case topRow:
		return edge.corners[0] + strings.Repeat(edge.across, d.inner) + edge.corners[1]
	case bottomRow:
		return edge.corners[2] + strings.Repeat(edge.across, d.inner) + edge.corners[3]
	}
	room := d.inner - 2
	right := cut(r.right, room/2)
	left := cut(r.left, room-width(right)-1)
	gap := strings.Repeat(" ", room-width(left)-width(right))
	side := edge.down
	if r.kind == edgeRow {
		side = d.pick(edge.out, "+")
	}
	rightInk := dim
	if r.taken {
		rightInk = green
	}
	return edge.down + " " + d.style.paint(r.ink, left) + gap + d.style.paint(rightInk, right) + " " + side
}

type border struct {
	corners      [4]string // top left, top right, bottom left, bottom right
	across, down string
	out          string // the right side of an edge's row
}

// border sets the kinds apart, and terminal states by their corners.
func (d *drawing) border(s *spec.State) border {
	b := border{[4]string{"┌", "┐", "└", "┘"}, "─", "│", "├"}
	switch s.Kind {
	case spec.Human:
		b = border{[4]string{"╔", "╗", "╚", "╝"}, "═", "║", "╟"}
	case spec.Code:
		b.across = "┄"
	case spec.Grader:
		b.across = "┉"
	}
	if s.Terminal() {
		b.corners = [4]string{"╭", "╮", "╰", "╯"}
	}
	if d.style.Glyphs {
		return b
	}
	b = border{[4]string{"+", "+", "+", "+"}, map[spec.Kind]string{spec.Agent: "-", spec.Human: "=", spec.Code: ".", spec.Grader: "~"}[s.Kind], "|", "+"}
	if s.Terminal() {
		b.corners = [4]string{"(", ")", "(", ")"}
	}
	return b
}

// margin is what stands right of the boxes in a row: the lanes, and the line
// that runs between the box and the row's lane.
func (d *drawing) margin(row int) string {
	r := d.rows[row]
	reach := -1 // the column that the row's line runs to
	taken := false
	if (r.kind == edgeRow || r.kind == headRow) && r.lane != nil {
		reach = r.lane.column
		taken = r.taken || r.kind == headRow && len(r.lane.takenFrom) > 0
	}
	var b strings.Builder
	write := func(text string, hot bool) {
		ink := noInk
		if hot {
			ink = green
		}
		b.WriteString(d.style.paint(ink, text))
	}
	dash := d.pick("─", "-")
	switch {
	case reach >= 0 && r.kind == headRow:
		write(d.pick("◀", "<")+dash, taken)
	case reach >= 0:
		write(dash+dash, taken)
	default:
		write("  ", false)
	}
	for c := range d.cols {
		l := d.at(row, c)
		switch {
		case c == reach:
			write(d.joint(row, r.lane), taken || r.lane.hot(row))
		case l != nil && c < reach:
			write(d.pick("┼", "|"), taken)
		case l != nil:
			write(d.pick("│", "|"), l.hot(row))
		case c < reach:
			write(dash, taken)
		default:
			write(" ", false)
		}
		switch {
		case d.pitch == 1:
		case c < reach:
			write(dash, taken)
		default:
			write(" ", false)
		}
	}
	return b.String()
}

// hot reports whether the session went along the lane at a row.
func (l *lane) hot(row int) bool {
	return len(l.takenFrom) > 0 && l.takenA <= row && row <= l.takenB
}

// at is the lane that runs through a column at a row.
func (d *drawing) at(row, column int) *lane {
	for _, l := range d.lanes {
		if l.column == column && l.first <= row && row <= l.last {
			return l
		}
	}
	return nil
}

// joint is where a row's line meets its lane.
func (d *drawing) joint(row int, l *lane) string {
	up, down := row > l.first, row < l.last
	switch {
	case !d.style.Glyphs:
		return "+"
	case up && down:
		return "┤"
	case up:
		return "┘"
	case down:
		return "┐"
	}
	return "─"
}

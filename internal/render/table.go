package render

import (
	"slices"
	"strings"
)

// gutter is the space between two columns.
const gutter = 2

// maxPad is how wide a column of an unbounded table is made; a longer cell is
// whole and stands out.
const maxPad = 256

// minName is how much of an overlong first cell is kept beside the last column.
const minName = 8

// A column of a table. A table that is too wide for the terminal first cuts the
// columns that have a min, the widest first; then it leaves out whole columns,
// in the order of leave; those that never leave (leave 0) are cut when nothing
// else helps.
type column struct {
	name  string
	min   int // width that it keeps; 0: never cut
	leave int
	right bool // numbers
}

// table lays rows out to fit the terminal.
type table struct {
	columns []column
	rows    [][]string // plain text, cleaned; a note has two cells
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// note adds a row of a first cell and free text over the other columns.
func (t *table) note(first, text string) { t.rows = append(t.rows, []string{first, text}) }

// fit returns the width of each column, -1 for one that is left out. No column
// needs more than the whole limit.
func (t *table) fit(limit int) []int {
	most := limit
	if limit <= 0 {
		most = maxPad
	}
	natural := make([]int, len(t.columns))
	leaves := 0
	for i, c := range t.columns {
		natural[i] = width(c.name)
		for _, row := range t.rows {
			if len(row) == len(t.columns) || i == 0 {
				natural[i] = max(natural[i], width(row[i]))
			}
		}
		natural[i] = min(natural[i], most)
		leaves = max(leaves, c.leave)
	}
	if limit <= 0 {
		return natural
	}
	var widths []int
	for gone := range leaves + 1 {
		widths = slices.Clone(natural)
		for i, c := range t.columns {
			if c.leave > 0 && c.leave <= gone {
				widths[i] = -1
			}
		}
		t.shrink(widths, limit, func(c column) int { return c.min })
		if over(widths, limit) > 0 && gone == leaves-1 && natural[0] > t.columns[0].min {
			// An overlong name is cut further before the last other column leaves.
			t.shrink(widths, limit, func(c column) int { return min(c.min, minName) })
		}
		if over(widths, limit) <= 0 {
			return widths
		}
	}
	t.shrink(widths, limit, func(c column) int { return 1 })
	return widths
}

// shrink takes columns from the widest column that may give one, until the
// table fits or none may. least is the width a column keeps, 0: all of it.
func (t *table) shrink(widths []int, limit int, least func(column) int) {
	for n := over(widths, limit); n > 0; n-- {
		widest := -1
		for i, c := range t.columns {
			if l := least(c); l > 0 && widths[i] > l && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// over is by how many columns a table is too wide.
func over(widths []int, limit int) int {
	total := -gutter
	for _, w := range widths {
		if w >= 0 {
			total += w + gutter
		}
	}
	return total - limit
}

// print adds the table to the page; paint colours a cell of a column.
func (t *table) print(p *page, paint func(column, cell string) accent) {
	limit := p.style.Width
	widths := t.fit(limit)
	var head []string
	for _, c := range t.columns {
		head = append(head, c.name)
	}
	p.line(0, t.layout(p.style, head, widths, func(string, string) accent { return bold }))
	for _, row := range t.rows {
		if len(row) != len(t.columns) {
			if limit > 0 {
				row[0] = cut(row[0], widths[0])
			}
			line := row[0] + strings.Repeat(" ", max(0, widths[0]-width(row[0]))+gutter) + row[1]
			p.line(0, cut(line, limit))
			continue
		}
		p.line(0, t.layout(p.style, row, widths, paint))
	}
}

func (t *table) layout(st Style, cells []string, widths []int, paint func(column, cell string) accent) string {
	var b strings.Builder
	for i, cell := range cells {
		if widths[i] < 0 {
			continue
		}
		if i > 0 {
			b.WriteString(strings.Repeat(" ", gutter))
		}
		text := cell
		if st.Width > 0 {
			text = cut(cell, widths[i])
		}
		pad := strings.Repeat(" ", max(0, widths[i]-width(text)))
		text = st.paint(paint(t.columns[i].name, cell), text)
		if t.columns[i].right {
			b.WriteString(pad + text)
		} else {
			b.WriteString(text + pad)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

package render

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/diag"
)

// SuiteSummary is the line of standard output: of one suite its own, of several
// the sums, and what is wrong beside the cases.
func SuiteSummary(suites []*casetest.Suite, filter string) string {
	var passed, failed, skipped, discovered, results int
	var wrong []string
	alike := len(suites) > 0
	for _, s := range suites {
		p, f, k := s.Counts()
		passed, failed, skipped = passed+p, failed+f, skipped+k
		discovered += s.Discovered
		results += len(s.Results)
		alike = alike && !s.Broken && s.Summary() == suites[0].Summary()
		switch {
		case s.Broken:
			wrong = append(wrong, s.Workflow+": cannot be run")
		case s.Error != "":
			wrong = append(wrong, s.Workflow+": "+s.Error)
		}
	}
	switch {
	case len(suites) == 1, alike && results+discovered == 0:
		return OneLine(suites[0].Summary())
	case results+failed == 0 && filter != "" && discovered > 0:
		return OneLine(fmt.Sprintf("no cases matched '%s' (%d discovered)", filter, discovered))
	}
	counts := fmt.Sprintf("%d passed, %d failed, %d skipped", passed, failed, skipped)
	return OneLine(strings.Join(append([]string{counts}, wrong...), "; "))
}

// SuiteCoverage prints a coverage table, and a line for everything that no case
// went through, with its place in the workflow.
func SuiteCoverage(w io.Writer, st Style, c *casetest.Coverage) error {
	p := &page{style: st}
	t := table{columns: []column{
		{name: "coverage of " + OneLine(c.Workflow), min: 12}, {name: "covered", right: true}, {name: "of", right: true}, {name: "percent", right: true},
	}}
	for _, row := range []struct {
		what string
		casetest.Share
	}{{"states", c.States}, {"edges", c.Edges}, {"human edges", c.HumanEdges}, {"error routes", c.ErrorRoutes}} {
		percent := "-"
		if row.Total > 0 {
			// Rounded down: 100 % is said of all alone.
			percent = fmt.Sprintf("%.1f%%", math.Floor(1000*float64(row.Covered)/float64(row.Total))/10)
		}
		t.row(row.what, fmt.Sprint(row.Covered), fmt.Sprint(row.Total), percent)
	}
	t.print(p, func(string, string) accent { return noInk })
	for _, i := range c.Uncovered() {
		p.line(0, st.paint(yellow, OneLine(i.String())))
	}
	return p.to(w)
}

// SuiteGitHub prints what went wrong in a suite, its warnings and what its cases
// do not cover as workflow commands that GitHub turns into annotations.
func SuiteGitHub(w io.Writer, s *casetest.Suite, place StepPlace) error {
	var b strings.Builder
	for _, r := range s.Results {
		title := s.Workflow + "/" + r.ID
		if r.Status == casetest.Failed {
			for _, f := range failuresOf(r, place) {
				message := f.message
				if r.Drift != nil && strings.Contains(message, r.Error) {
					message += driftText(r.Drift)
				}
				annotate(&b, "error", f.file, f.at.Start.Line, f.at.Start.Column, title, message)
			}
		}
		for _, warning := range r.Warnings {
			annotate(&b, "warning", r.File, 0, 0, title, warning)
		}
	}
	annotateSuite(&b, s)
	if s.Coverage != nil {
		for _, i := range s.Coverage.Uncovered() {
			text := strings.TrimPrefix(i.String(), fmt.Sprintf("%s:%d:%d: ", i.File, i.Line, i.Column))
			annotate(&b, "notice", i.File, i.Line, i.Column, s.Workflow+": not covered", text)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// annotateSuite tells what is wrong with a suite beside its cases, where that is
// known to be.
func annotateSuite(b *strings.Builder, s *casetest.Suite) {
	if s.Error == "" {
		return
	}
	placed := false
	for _, d := range s.Problems {
		if d.Severity != diag.Error {
			continue
		}
		message := d.Message
		if d.Hint != "" {
			message += "\n" + d.Hint
		}
		annotate(b, "error", d.File, d.Range.Start.Line, d.Range.Start.Column, s.Workflow+": "+d.Code, message)
		placed = true
	}
	if placed {
		return
	}
	file := ""
	if s.Coverage != nil && len(s.Coverage.Items) > 0 {
		file = s.Coverage.Items[0].File
	}
	annotate(b, "error", file, 0, 0, s.Workflow, s.Error)
}

func driftText(d *casetest.Drift) string {
	var b strings.Builder
	for _, c := range d.Checks {
		expected := c.Expected
		if expected == "" {
			expected = "(anything)"
		}
		fmt.Fprintf(&b, "\n%s: expected %s, asked %s", c.What, OneLine(expected), OneLine(c.Asked))
	}
	return b.String()
}

// annotate adds one workflow command. Text is neutralised first, so that no
// control character reaches the log.
func annotate(b *strings.Builder, level, file string, line, column int, title, message string) {
	var props []string
	if file != "" {
		props = append(props, "file="+githubProperty.Replace(Clean(file)))
	}
	if line > 0 {
		props = append(props, fmt.Sprintf("line=%d,col=%d", line, column))
	}
	props = append(props, "title="+githubProperty.Replace(Clean(title)))
	fmt.Fprintf(b, "::%s %s::%s\n", level, strings.Join(props, ","), githubData.Replace(Clean(message)))
}

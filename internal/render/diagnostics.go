package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
)

// Diagnostics is what `validate --json` prints.
type Diagnostics struct {
	Version   int                   `json:"version"`
	Valid     bool                  `json:"valid"`
	Workflows []WorkflowDiagnostics `json:"workflows"`
}

// WorkflowDiagnostics is what was found in one workflow.
type WorkflowDiagnostics struct {
	Workflow    string       `json:"workflow"`
	Valid       bool         `json:"valid"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Diagnostic is one problem; the place is absent when there is none in the
// file. Lines and columns count from 1, the end is exclusive.
type Diagnostic struct {
	Severity  diag.Severity `json:"severity"`
	Code      string        `json:"code"`
	Message   string        `json:"message"`
	File      string        `json:"file"`
	Line      int           `json:"line"` // what is about a file as a whole stands at its beginning
	Column    int           `json:"column"`
	EndLine   int           `json:"endLine"`
	EndColumn int           `json:"endColumn"`
	Field     string        `json:"field"`
	Hint      string        `json:"hint,omitempty"`
}

// Checked is a workflow with what was found in it.
type Checked struct {
	Workflow string
	List     diag.List
}

// valid reports whether a list passes; strict fails warnings too.
func valid(l diag.List, strict bool) bool {
	errors, warnings := l.Count()
	return errors == 0 && (!strict || warnings == 0)
}

// NewDiagnostics shapes the findings, in the order given.
func NewDiagnostics(checked []Checked, strict bool) Diagnostics {
	doc := Diagnostics{Version: Version, Valid: true, Workflows: []WorkflowDiagnostics{}}
	for _, c := range checked {
		wf := WorkflowDiagnostics{Workflow: c.Workflow, Valid: valid(c.List, strict), Diagnostics: []Diagnostic{}}
		for _, d := range c.List {
			if !d.Range.Start.Known() {
				d.Range.Start = diag.Position{Line: 1, Column: 1}
			}
			if !d.Range.End.Known() {
				d.Range.End = d.Range.Start
			}
			wf.Diagnostics = append(wf.Diagnostics, Diagnostic{
				Severity: d.Severity, Code: string(d.Code), Message: d.Message, File: d.File,
				Line: d.Range.Start.Line, Column: d.Range.Start.Column,
				EndLine: d.Range.End.Line, EndColumn: d.Range.End.Column, Field: d.Field, Hint: d.Hint,
			})
		}
		doc.Valid = doc.Valid && wf.Valid
		doc.Workflows = append(doc.Workflows, wf)
	}
	return doc
}

// Source returns the bytes of a file that a diagnostic names, false when they
// cannot be had.
type Source func(file string) ([]byte, bool)

// DiagnosticsText prints each problem: "path:line:col: error[code]: message",
// the source line with a caret, the hint. source may be nil.
func DiagnosticsText(w io.Writer, st Style, list diag.List, source Source) error {
	p := &page{style: st}
	for _, d := range list {
		p.diagnostic(d, source)
	}
	return p.to(w)
}

func (p *page) diagnostic(d diag.Diagnostic, source Source) {
	line := ""
	if place := d.Place(); place != "" {
		line = p.style.paint(bold, OneLine(place)+":") + " "
	}
	a := red
	if d.Severity == diag.Warning {
		a = yellow
	}
	p.line(0, line+p.style.paint(a, fmt.Sprintf("%s[%s]", d.Severity, d.Code))+": "+OneLine(d.Message))
	if source != nil && d.File != "" && d.Range.Start.Known() {
		if content, ok := source(d.File); ok {
			if text, caret := diag.Snippet(content, d.Range); text != "" {
				p.line(2, strings.TrimRight(text, " \t"))
				p.line(2, p.style.paint(a, caret))
			}
		}
	}
	if d.Hint != "" {
		p.line(1, p.style.paint(cyan, "hint:")+" "+OneLine(d.Hint))
	}
}

// DiagnosticsGitHub prints each problem as a workflow command that GitHub
// turns into an annotation.
func DiagnosticsGitHub(w io.Writer, list diag.List) error {
	var b strings.Builder
	for _, d := range list {
		var props []string
		add := func(name, value string) { props = append(props, name+"="+githubProperty.Replace(value)) }
		if d.File != "" {
			add("file", d.File)
		}
		if s, e := d.Range.Start, d.Range.End; s.Known() {
			add("line", fmt.Sprint(s.Line))
			if e.Line > 0 {
				add("endLine", fmt.Sprint(e.Line))
			}
			add("col", fmt.Sprint(s.Column))
			if e.Line == s.Line && e.Column > 0 {
				add("endColumn", fmt.Sprint(e.Column))
			}
		}
		add("title", string(d.Code))
		message := d.Message
		if d.Hint != "" {
			message += "\n" + d.Hint
		}
		fmt.Fprintf(&b, "::%s %s::%s\n", d.Severity, strings.Join(props, ","), githubData.Replace(message))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// What GitHub's workflow commands ask to be escaped, in a message and in a
// property (actions/toolkit, command.ts).
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// ValidateSummary is the line of `validate`: "valid — 0 errors, 2 warnings".
func ValidateSummary(list diag.List, strict bool) string {
	errors, warnings := list.Count()
	word := "valid"
	if !valid(list, strict) {
		word = "invalid"
	}
	return fmt.Sprintf("%s — %s, %s", word, plural(errors, "error"), plural(warnings, "warning"))
}

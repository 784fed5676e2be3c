// Package diag holds the diagnostics of archmax: what is wrong, where, and
// what to do about it. It is a leaf: it imports nothing of ours and prints
// nothing. Whoever finds a problem returns a Diagnostic; the loader adds the
// file; the renderer adds source text and colour.
//
// A nil List is a valid, empty one. Every Code has an entry in the table of
// codes.go, which also generates docs/diagnostics.md.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says whether a diagnostic stops a load.
type Severity string

// The two severities. An error stops run, test and validate alike; a warning
// stops nothing (but fails `validate --strict`).
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Position is a place in a text file: 1-based line and 1-based column, counted
// in Unicode code points. The zero Position means "no place in the file".
type Position struct{ Line, Column int }

// Known reports whether p is a place.
func (p Position) Known() bool { return p.Line > 0 }

// Range is the stretch of source that a diagnostic is about. End is exclusive
// and may equal Start.
type Range struct{ Start, End Position }

// Diagnostic is one problem. File is relative to the workspace root, with
// slashes. Field is a dotted path such as states.review.transitions.0.to.
type Diagnostic struct {
	Severity Severity
	Code     string
	Message  string
	File     string
	Range    Range
	Field    string
	Hint     string
}

// Error words the diagnostic as one line, without colour:
// "file:line:col: error[code]: message".
func (d Diagnostic) Error() string {
	var b strings.Builder
	b.WriteString(d.Place())
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s[%s]: %s", d.Severity, d.Code, d.Message)
	return b.String()
}

// Place is "file:line:col", as much of it as is known.
func (d Diagnostic) Place() string {
	switch {
	case d.File == "" && !d.Range.Start.Known():
		return ""
	case !d.Range.Start.Known():
		return d.File
	default:
		return fmt.Sprintf("%s:%d:%d", d.File, d.Range.Start.Line, d.Range.Start.Column)
	}
}

// List is any number of diagnostics.
type List []Diagnostic

// HasErrors reports whether the list holds an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Count returns how many errors and warnings the list holds.
func (l List) Count() (errors, warnings int) {
	for _, d := range l {
		if d.Severity == Error {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}

// Sort puts the list in the stable order file, line, column, code, message.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Range.Start.Line, b.Range.Start.Line),
			cmp.Compare(a.Range.Start.Column, b.Range.Start.Column),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message),
		)
	})
}

// In returns the list with file set on every diagnostic that names none.
func (l List) In(file string) List {
	for i := range l {
		if l[i].File == "" {
			l[i].File = file
		}
	}
	return l
}

// Err returns nil when the list holds no error, else an error that carries the
// whole list.
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return ListError{l}
}

// ListError is a List as an error; its text is the first error and how many
// more there are.
type ListError struct{ List List }

// Error is one line.
func (e ListError) Error() string {
	n, _ := e.List.Count()
	for _, d := range e.List {
		if d.Severity == Error {
			if n == 1 {
				return d.Error()
			}
			return fmt.Sprintf("%s (and %d more; see `archmax validate`)", d.Error(), n-1)
		}
	}
	return "no error"
}

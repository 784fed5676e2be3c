// Package diagtest is the notation in which tests say where a diagnostic is
// expected: a marker ⟦code⟧ in the source, right before the place.
package diagtest

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/archmax-ai/archmax/internal/diag"
)

// Place is where a diagnostic starts, and its code.
type Place struct {
	Line, Column int
	Code         string
}

// Marker matches one marker.
var Marker = regexp.MustCompile(`⟦([a-z-]+)⟧`)

// Marked takes the markers ⟦code⟧ out of a source: each stands right before the
// place at which a diagnostic of that code is expected.
func Marked(src string) (clean string, want []Place) {
	var b strings.Builder
	last := 0
	for _, m := range Marker.FindAllStringSubmatchIndex(src, -1) {
		b.WriteString(src[last:m[0]])
		so := strings.TrimPrefix(b.String(), "\uFEFF")
		lineStart := strings.LastIndex(so, "\n") + 1
		want = append(want, Place{
			Line:   strings.Count(so, "\n") + 1,
			Column: utf8.RuneCountInString(so[lineStart:]) + 1,
			Code:   src[m[2]:m[3]],
		})
		last = m[1]
	}
	b.WriteString(src[last:])
	return b.String(), want
}

// Places is where the diagnostics of a list start.
func Places(list diag.List) []Place {
	var out []Place
	for _, d := range list {
		out = append(out, Place{d.Range.Start.Line, d.Range.Start.Column, d.Code})
	}
	return out
}

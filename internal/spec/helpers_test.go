package spec

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/diag/diagtest"
)

// The marker notation, as these tests call it.
var (
	marked = diagtest.Marked
	places = diagtest.Places
)

// wantMarked parses a marked source and compares the places of all diagnostics.
func wantMarked(t *testing.T, src string) diag.List {
	t.Helper()
	clean, want := marked(src)
	m, list := Parse("refund", "workflows/refund/workflow.yaml", []byte(clean))
	if diff := cmp.Diff(want, places(list)); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s\n%v\nin:\n%s", diff, list, clean)
	}
	if (m == nil) != list.HasErrors() {
		t.Errorf("machine is nil: %v, errors: %v", m == nil, list.HasErrors())
	}
	for _, d := range list {
		checkDiagnostic(t, clean, d)
	}
	return list
}

// checkDiagnostic holds for every diagnostic: its place is in the file, its code
// is documented, and nothing of the YAML library shows.
func checkDiagnostic(t *testing.T, src string, d diag.Diagnostic) {
	t.Helper()
	if _, ok := diag.Lookup(d.Code); !ok {
		t.Errorf("the code %q has no entry", d.Code)
	}
	if d.Message == "" || strings.ContainsAny(d.Message, "\n\r") {
		t.Errorf("the message %q is not one line", d.Message)
	}
	for _, raw := range []string{"yaml:", "unmarshal", "did not find", "!!str", "block mapping", "runtime error"} {
		if strings.Contains(d.Message+d.Hint, raw) && !strings.Contains(src, raw) {
			t.Errorf("the message shows the library's text: %q", d.Message)
		}
	}
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(src), "\n")
	for _, p := range []diag.Position{d.Range.Start, d.Range.End} {
		if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > utf8.RuneCountInString(lines[p.Line-1])+1 {
			t.Errorf("%v is not in the file: %s", p, d.Error())
		}
	}
	if e, s := d.Range.End, d.Range.Start; e.Line < s.Line || e.Line == s.Line && e.Column < s.Column {
		t.Errorf("the range %v ends before it starts: %s", d.Range, d.Error())
	}
}

// mustParse parses a source without errors.
func mustParse(t *testing.T, src string) *Machine {
	t.Helper()
	m, list := Parse("refund", "workflows/refund/workflow.yaml", []byte(src))
	if m == nil {
		t.Fatalf("not loaded: %v\n%s", list, src)
	}
	return m
}

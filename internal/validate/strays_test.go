package validate

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/archmax-ai/archmax/internal/diag"
)

func TestADirectoryWithoutAWorkflowIsNamed(t *testing.T) {
	fsys := fstest.MapFS{
		"workflows/good/workflow.yaml":        {Data: []byte("instructions: x\n")},
		"workflows/renamed/workflow.yml":      {Data: []byte("instructions: x\n")},
		"workflows/shouted/Workflow.yaml":     {Data: []byte("instructions: x\n")},
		"workflows/notes/README.md":           {Data: []byte("notes\n")},
		"workflows/.hidden/x":                 {Data: []byte("x\n")},
		"workflows/README.md":                 {Data: []byte("x\n")},
		"workflows/cases/tests/one.test.yaml": {Data: []byte("title: x\n")},
	}
	want := map[string]string{ // workflow -> file, and what the hint names
		"cases":   "workflows/cases/workflow.yaml add a workflow.yaml",
		"notes":   "workflows/notes/workflow.yaml add a workflow.yaml",
		"renamed": "workflows/renamed/workflow.yml rename `workflow.yml`",
		"shouted": "workflows/shouted/Workflow.yaml rename `Workflow.yaml`",
	}
	got := Strays(fsys)
	if len(got) != len(want) {
		t.Errorf("%d strays, want %d: %v", len(got), len(want), got)
	}
	for _, r := range got {
		d := r.Diagnostics[0]
		file, hint, _ := strings.Cut(want[r.Workflow], " ")
		if d.File != file || hint == "" || !strings.HasPrefix(d.Hint, hint) || d.Code != string(diag.Missing) || d.Severity != diag.Warning {
			t.Errorf("%s: %+v", r.Workflow, d)
		}
	}
}

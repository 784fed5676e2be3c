package validate

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/diag/diagtest"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/spec"
)

// The marker notation, as these tests call it.
type place = diagtest.Place

var (
	marked = diagtest.Marked
	places = diagtest.Places
	marker = diagtest.Marker
)

// world is a workspace that broken workflows are put into.
type world struct {
	files  map[string]string // beside workflows/refund/workflow.yaml
	mounts []governance.Mount
	skills []string
	tools  []governance.ToolInfo
	ess    []string
	depth  int
}

// usual has two skills, a governed mount, an ungoverned one that is writable, and
// three command tools.
func usual() world {
	return world{
		skills: []string{"orders", "policy"},
		mounts: []governance.Mount{
			{Name: "AGENTS.md", ReadOnly: true, Searchable: true, File: true},
			{Name: "drafts", Searchable: true},
			{Name: "ledger", Governed: true, Searchable: true},
			{Name: "reference", ReadOnly: true, Governed: true, Searchable: true},
			{Name: "skills", ReadOnly: true, Searchable: true},
		},
		tools: []governance.ToolInfo{
			{Name: "lookup"},
			{Name: "fill_form", Paths: []governance.PathArg{{Name: "template", Use: governance.Read}}},
			{Name: "fill_report", Paths: []governance.PathArg{{Name: "template", Use: governance.Read}, {Name: "report", Use: governance.Write}}},
			{Name: "crm__export"},
		},
		files: map[string]string{
			"workflows/refund/scripts/check.js": "export default async () => {}\n",
			"workflows/refund/hooks/gate.js":    "ok()\n",
			"workflows/child/workflow.yaml":     "instructions: Help.\nskills: {}\nmounts: {}\nstates: { a: { triggers: { manual: } } }\n",
			"workflows/nightly/workflow.yaml":   "instructions: Help.\nstates: { a: { triggers: { cron: } } }\n",
			"workflows/paused/workflow.yaml":    "instructions: Help.\ndisabled: true\nstates: { a: { triggers: { manual: } } }\n",
			"workflows/broken/workflow.yaml":    "instructions: Help.\nstates: { a: { triggers: { manual: }, titel: x } }\n",
			"workflows/circle/workflow.yaml":    "instructions: Help.\ntools: { allow_always: [archmax_workflow_refund] }\nstates: { a: { triggers: { manual: } } }\n",
			"workflows/one/workflow.yaml":       "instructions: Help.\ntools: { allow_always: [archmax_workflow_two] }\nstates: { a: { triggers: { manual: } } }\n",
			"workflows/two/workflow.yaml":       "instructions: Help.\ntools: { allow_always: [archmax_workflow_three] }\nstates: { a: { triggers: { manual: } } }\n",
			"workflows/three/workflow.yaml":     "instructions: Help.\ntools: { allow_always: [archmax_workflow_child] }\nstates: { a: { triggers: { manual: } } }\n",
		},
	}
}

// plain is the world without skills and mounts, for workflows that are about
// neither.
func plain() world {
	w := usual()
	w.skills, w.mounts = nil, nil
	return w
}

func (w world) input(src string) Input {
	fsys := fstest.MapFS{"workflows/refund/workflow.yaml": {Data: []byte(src)}}
	for name, text := range w.files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return w.in(fsys)
}

func (w world) in(fsys fs.FS) Input {
	return Input{Root: fsys, Tools: w.tools, Essential: w.ess, Mounts: w.mounts, Skills: w.skills, MaxDepth: w.depth}
}

// wantMarked validates a marked workflow and compares the places of all
// diagnostics.
func (w world) wantMarked(t *testing.T, src string) diag.List {
	t.Helper()
	clean, want := marked(src)
	results, err := Workspace(w.input(clean), "refund")
	if err != nil || len(results) != 1 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	list := results[0].Diagnostics
	got := places(list)
	byPlace := func(a, b place) int {
		return strings.Compare(fmt.Sprintf("%06d %06d %s", a.Line, a.Column, a.Code), fmt.Sprintf("%06d %06d %s", b.Line, b.Column, b.Code))
	}
	slices.SortFunc(want, byPlace)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s\n%v\nin:\n%s", diff, list, clean)
	}
	for _, d := range list {
		checkDiagnostic(t, clean, d)
	}
	return list
}

// checkDiagnostic holds for every diagnostic: its code is documented, its
// message is one line, and a place in the workflow's file is inside it.
func checkDiagnostic(t *testing.T, src string, d diag.Diagnostic) {
	t.Helper()
	if _, ok := diag.Lookup(d.Code); !ok {
		t.Errorf("the code %q has no entry", d.Code)
	}
	if d.Message == "" || strings.ContainsAny(d.Message+d.Hint, "\n\r") {
		t.Errorf("the message %q is not one line", d.Message)
	}
	if d.File != "workflows/refund/workflow.yaml" || !d.Range.Start.Known() {
		return
	}
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(src), "\n")
	for _, p := range []diag.Position{d.Range.Start, d.Range.End} {
		if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > utf8.RuneCountInString(lines[p.Line-1])+1 {
			t.Errorf("%v is not in the file: %s", p, d.Error())
		}
	}
}

// broken is one row of a table: a workflow with a marker before each mistake.
type broken struct{ name, src string }

func (w world) run(t *testing.T, rows []broken) {
	t.Helper()
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Contains(tt.name, "nothing is said") == strings.Contains(tt.src, "⟦") {
				t.Error("the name and the markers disagree")
			}
			w.wantMarked(t, strings.TrimPrefix(tt.src, "\n"))
		})
	}
}

// machineOf loads a workflow that must load.
func machineOf(t *testing.T, in Input, slug string) *spec.Machine {
	t.Helper()
	m, list := spec.Load(in.Root, slug)
	if m == nil {
		t.Fatal(list)
	}
	return m
}

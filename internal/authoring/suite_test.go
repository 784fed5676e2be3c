package authoring

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/schema"
	"github.com/archmax-ai/archmax/internal/schema/schematest"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/validate"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// exampleFiles are the files of the skill's example.
func exampleFiles(t *testing.T) []File {
	t.Helper()
	files, err := filesIn(example, "example")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// written is a workspace on disk, its mounts open.
func written(t *testing.T, files []File) (dir string, shared *workspace.Shared) {
	t.Helper()
	dir = t.TempDir()
	if _, _, err := Write(openRoot(t, dir), files); err != nil {
		t.Fatal(err)
	}
	shared, problems := workspace.Open(dir, workspace.DefaultMounts(), workspace.Guard{Sessions: filepath.Join(dir, "sessions")})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	t.Cleanup(func() { shared.Close() })
	return dir, shared
}

func TestStarterAndExampleHaveNothingToReport(t *testing.T) {
	starter, err := Starter()
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range [][]File{starter, exampleFiles(t)} {
		nothingToReport(t, files)
	}
}

func nothingToReport(t *testing.T, files []File) {
	t.Helper()
	dir, shared := written(t, files)
	var slugs []string
	for _, s := range shared.Skills() {
		slugs = append(slugs, s.Slug)
	}
	results, err := validate.Workspace(validate.Input{Root: os.DirFS(dir), Mounts: shared.Table(), Skills: slugs})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 1 {
		t.Errorf("%d workflows", len(results))
	}
	for _, r := range results {
		if len(r.Diagnostics) > 0 {
			t.Error(r.Diagnostics)
		}
	}
}

// suiteOf runs the cases of a workflow offline, all of which must pass without a
// warning.
func suiteOf(t *testing.T, files []File, slug string, cases int) *casetest.Suite {
	t.Helper()
	dir, shared := written(t, files)
	m, list := spec.Load(os.DirFS(dir), slug)
	if m == nil {
		t.Fatal(list)
	}
	suite, err := casetest.Run(context.Background(), casetest.Options{
		Machine: m, Dir: dir, Coverage: true,
		Runtime: runtime.Options{Root: os.DirFS(dir), Shared: shared},
	})
	if err != nil {
		t.Fatal(err)
	}
	if passed, failed, skipped := suite.Counts(); passed != cases || failed != 0 || skipped != 0 || suite.ExitCode != casetest.ExitOK {
		t.Errorf("%s, exit code %d", suite.Summary(), suite.ExitCode)
		for _, r := range suite.Results {
			t.Errorf("%s: %v %s", r.ID, r.Failures, r.Error)
		}
	}
	for _, r := range suite.Results {
		if len(r.Warnings) > 0 {
			t.Errorf("%s: %v", r.ID, r.Warnings)
		}
	}
	return suite
}

// The example's case shows what the skill says of cassettes.
func TestTheExamplesCasePasses(t *testing.T) { suiteOf(t, exampleFiles(t), "purchase", 1) }

// The starter's cases pass offline, and what they come to is what `archmax
// schema suite` describes.
func TestTheStartersCasesPass(t *testing.T) {
	files, err := Starter()
	if err != nil {
		t.Fatal(err)
	}
	suite := suiteOf(t, files, StarterWorkflow, 2)
	doc, ok := schema.Document("suite")
	if !ok {
		t.Fatal("there is no suite schema")
	}
	s := schematest.Compile(t, doc)
	for _, printed := range []any{suite, casetest.Combine([]*casetest.Suite{suite})} {
		raw, err := json.Marshal(printed)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(tree); err != nil {
			t.Errorf("%v\n%s", err, raw)
		}
		schematest.Describes(t, doc, tree)
	}
}

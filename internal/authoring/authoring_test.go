package authoring

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/explain"
	"github.com/archmax-ai/archmax/internal/spec"
)

func starterFS(t *testing.T) fstest.MapFS {
	t.Helper()
	files, err := Starter()
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for _, f := range files {
		fsys[f.Path] = &fstest.MapFile{Data: f.Content}
	}
	return fsys
}

// What cli.md names: workflow, case, cassette, skill, config; and the files that
// a workspace has (README.md, "Words").
func TestTheStarterIsAWholeWorkspace(t *testing.T) {
	fsys := starterFS(t)
	for _, name := range []string{
		".gitignore", "AGENTS.md", "archmax.yaml", "skills/house-style/SKILL.md", "workflows/feedback/workflow.yaml",
		"workflows/feedback/tests/problem.test.yaml", StarterCassette,
	} {
		if fsys[name] == nil {
			t.Errorf("%s is not there", name)
		}
	}
	if ignored := string(fsys[".gitignore"].Data); !strings.Contains(ignored, "/sessions/\n") || !strings.Contains(ignored, ".env\n") {
		t.Errorf(".gitignore:\n%s", ignored)
	}
	m, list := spec.Load(fsys, StarterWorkflow)
	if len(list) > 0 {
		t.Fatal(list)
	}
	if list := casetest.Static(fsys, m); len(list) > 0 {
		t.Error(list)
	}
}

func openRoot(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWriteKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	wrote, kept, err := Write(openRoot(t, dir), []File{{"a", []byte("yours")}, {"d/b", []byte("b")}, {"link", []byte("x")}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(wrote, []string{"d/b"}) || !slices.Equal(kept, []string{"a", "link"}) {
		t.Errorf("wrote %v, kept %v", wrote, kept)
	}
	if read(t, filepath.Join(dir, "a")) != "mine" || read(t, filepath.Join(dir, "d/b")) != "b" {
		t.Error("the contents are wrong")
	}
	if _, err := os.Lstat(filepath.Join(dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file was written through a link")
	}
}

func TestWriteNamesTheFileThatFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "d"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err := Write(openRoot(t, dir), []File{{"d/b", nil}})
	var bad *WriteError
	if !errors.As(err, &bad) || bad.Path != "d/b" {
		t.Errorf("got %v", err)
	}
}

func skill(t *testing.T) map[string]string {
	t.Helper()
	files, err := Skill(SkillName)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		out[f.Path] = string(f.Content)
	}
	return out
}

func TestTheSkillIsSmallAndWhole(t *testing.T) {
	files := skill(t)
	size := 0
	for name, text := range files {
		size += len(text)
		if !strings.Contains(text, skillMark) {
			t.Errorf("%s does not say who wrote it", name)
		}
		if strings.Contains(text, "<no value>") || strings.Contains(text, "%!") || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s is broken", name)
		}
	}
	if size > 60_000 {
		t.Errorf("the skill has %d bytes, and 60,000 are the most", size)
	}
	if !strings.HasPrefix(files["SKILL.md"], "---\nname: "+SkillName+"\ndescription: ") {
		t.Errorf("SKILL.md begins %.60q", files["SKILL.md"])
	}
	for name := range files {
		if name != "SKILL.md" && !strings.Contains(files["SKILL.md"], "]("+name+")") {
			t.Errorf("SKILL.md does not lead to %s", name)
		}
	}
	for _, e := range explain.Entries() {
		if !strings.Contains(files["references/diagnostics.md"], "`"+e.ID+"`") {
			t.Errorf("%s is not in the diagnostics", e.ID)
		}
	}
}

var fence = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// The skill's YAML is files that other tests check and play, so what the skill
// teaches works.
func TestTheSkillsExamplesAreFilesOfTheExample(t *testing.T) {
	var contents []string
	for _, f := range exampleFiles(t) {
		contents = append(contents, string(f.Content))
	}
	examples := 0
	for name, text := range skill(t) {
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			if examples++; !slices.Contains(contents, m[1]) {
				t.Errorf("%s has an example that is no file of the example:\n%s", name, m[1])
			}
		}
	}
	if examples < 3 {
		t.Errorf("only %d examples", examples)
	}
}

func TestTheSkillReplacesItsOwnFilesOnly(t *testing.T) {
	dir := t.TempDir()
	root := openRoot(t, dir)
	files, err := Skill(SkillName)
	if err != nil {
		t.Fatal(err)
	}
	if wrote, err := WriteSkill(root, files); err != nil || len(wrote) != len(files) {
		t.Fatalf("wrote %v, %v", wrote, err)
	}
	if wrote, err := WriteSkill(root, files); err != nil || len(wrote) != 0 {
		t.Fatalf("wrote %v again, %v", wrote, err)
	}
	file := filepath.Join(dir, "references", "cases.md")
	if err := os.WriteFile(file, []byte("an old version\n"+skillMark), 0o644); err != nil {
		t.Fatal(err)
	}
	if wrote, err := WriteSkill(root, files); err != nil || !slices.Equal(wrote, []string{"references/cases.md"}) {
		t.Fatalf("wrote %v, %v", wrote, err)
	}
	for _, name := range []string{"SKILL.md", "references/cases.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old "+skillMark), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = WriteSkill(root, files)
	var foreign *ForeignError
	if !errors.As(err, &foreign) || foreign.Path != "references/cases.md" {
		t.Fatalf("got %v", err)
	}
	if read(t, filepath.Join(dir, "SKILL.md")) != "old "+skillMark {
		t.Error("something was written all the same")
	}
}

func TestRepeatsInAListAreFolded(t *testing.T) {
	got := foldRepeats("- `a` (x): A.\n  - `k`: K.\n  - `l`: L.\n- `b` (x): B.\n  - `k`: K.\n  - `l`: L.\n- `c`: C.\n  - `k`: K.\n")
	want := "- `a` (x): A.\n  - `k`: K.\n  - `l`: L.\n- `b` (x): B. Keys as in `a`.\n- `c`: C.\n  - `k`: K.\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestNothingIsWrittenWhereAPlaceCannotBe(t *testing.T) {
	for name, link := range map[string]struct{ at, to string }{
		"a dangling link in a directory's place": {"z", "nowhere"},
		"a link out of the folder":               {"z", t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(link.at)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(link.to, filepath.Join(dir, link.at)); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			wrote, _, err := Write(root, []File{{"first.md", []byte("a")}, {"z/last.md", []byte("b")}})
			var bad *WriteError
			if !errors.As(err, &bad) || bad.Path != "z/last.md" || len(wrote) > 0 {
				t.Errorf("wrote %v, %v", wrote, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "first.md")); err == nil {
				t.Error("first.md was written")
			}
		})
	}
}

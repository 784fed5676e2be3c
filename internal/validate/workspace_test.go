package validate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// readAll is the text of a directory's sources, tests apart.
func readAll(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var b strings.Builder
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(src)
	}
	return b.String()
}

// open is the input of a workspace on disk.
func open(t *testing.T, root string) (Input, diag.List) {
	t.Helper()
	shared, problems := workspace.Open(root, workspace.DefaultMounts(), workspace.Guard{})
	t.Cleanup(func() { _ = shared.Close() })
	in := world{}.in(os.DirFS(root))
	in.Mounts = shared.Table()
	for _, s := range shared.Skills() {
		in.Skills = append(in.Skills, s.Slug)
	}
	return in, append(problems, shared.CheckSkills()...)
}

func TestNothingIsSaidOfTheExampleWorkspace(t *testing.T) {
	in, list := open(t, "../..")
	if len(in.Skills) < 3 {
		t.Fatalf("the example has %d skills", len(in.Skills))
	}
	results, err := Workspace(in)
	if err != nil || len(results) == 0 {
		t.Fatal(results, err)
	}
	for _, r := range results {
		list = append(list, r.Diagnostics...)
		if r.Machine == nil {
			t.Errorf("%s has no machine", r.Workflow)
		}
	}
	if len(list) > 0 {
		t.Errorf("%v", list)
	}
}

func TestASkillWhoseNameIsNotItsDirectorysIsReported(t *testing.T) {
	root := t.TempDir()
	write(t, root, "skills/orders/SKILL.md", "---\nname: order\ndescription: Orders.\n---\n")
	_, list := open(t, root)
	if got := places(list); len(got) != 1 || got[0] != (place{Line: 2, Column: 7, Code: "skill-name-mismatch"}) {
		t.Errorf("got %v", list)
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWorkflowsComeInTheOrderOfTheirSlugs(t *testing.T) {
	good := "instructions: Help.\nstates: { a: { triggers: { manual: } } }\n"
	fsys := fstest.MapFS{}
	for _, slug := range []string{"beta", "alpha", "Bad Slug"} {
		fsys["workflows/"+slug+"/workflow.yaml"] = &fstest.MapFile{Data: []byte(good)}
	}
	results, err := Workspace(Input{Root: fsys})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range results {
		got = append(got, fmt.Sprintf("%s %v %d", r.Workflow, r.Machine != nil, len(r.Diagnostics)))
	}
	if want := "[Bad Slug false 1 alpha true 0 beta true 0]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
	results, err = Workspace(Input{Root: fsys}, "beta", "gamma")
	if err != nil || len(results) != 2 || results[0].Workflow != "beta" || results[1].Diagnostics[0].Code != "missing" {
		t.Errorf("got %v, %v", results, err)
	}
	if results, err := Workspace(Input{Root: fstest.MapFS{}}); err != nil || len(results) != 0 {
		t.Errorf("an empty workspace gives %v, %v", results, err)
	}
}

func TestCheckAddsToWhatTheLoaderSays(t *testing.T) {
	in := plain().input("tools: { allow_always: [read_file] }\nstates: { a: { triggers: { manual: } } }\n")
	list := Check(in, machineOf(t, in, "refund"))
	if got := places(list); len(got) != 1 || got[0] != (place{Line: 1, Column: 25, Code: "inert-grant"}) {
		t.Errorf("got %v", list)
	}
	if got, want := list[0].Error(), "workflows/refund/workflow.yaml:1:25: warning[inert-grant]"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q", got)
	}
	if list[0].Field != "tools.allow_always.0" {
		t.Errorf("the field is %q", list[0].Field)
	}
}

// generated is a workflow of n states that has a bit of everything.
func generated(n int) string {
	var b strings.Builder
	b.WriteString("instructions: Help.\nskills: { allow_always: [orders] }\nmounts: {}\ntools: { forbid_always: [{ tool: write_file, paths: \"secret/**\" }] }\nstates:\n")
	for i := range n {
		fmt.Fprintf(&b, "  s%d:\n    title: State %d\n    instructions: Do the work of this step.\n", i, i)
		if i == 0 {
			b.WriteString("    triggers: { manual: { requires: [order_id] } }\n")
		}
		fmt.Fprintf(&b, "    tools:\n      allow:\n        - lookup\n        - { tool: write_file, paths: \"reports/${{order_id}}/*.md\" }\n")
		b.WriteString("    budget: { maxVisits: 3 }\n")
		if i+1 < n {
			fmt.Fprintf(&b, "    transitions:\n      - to: s%d\n        description: The step is done.\n", i+1)
			fmt.Fprintf(&b, "      - to: s%d\n        description: The whole is done.\n", n-1)
		}
	}
	text := b.String()
	// Two edges to one state are an error: the second last state has just one.
	twice := fmt.Sprintf("      - to: s%d\n        description: The whole is done.\n", n-1)
	if i := strings.LastIndex(text, twice); i >= 0 && n > 1 {
		text = text[:i] + text[i+len(twice):]
	}
	return text
}

func thousand() fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := range 1000 {
		fsys[fmt.Sprintf("workflows/w%04d/workflow.yaml", i)] = &fstest.MapFile{Data: []byte(generated(6))}
	}
	return fsys
}

func BenchmarkAThousandWorkflows(b *testing.B) {
	in := usual().in(thousand())
	for b.Loop() {
		results, err := Workspace(in)
		if err != nil || len(results) != 1000 || len(results[0].Diagnostics) != 0 {
			b.Fatal(len(results), err, results[0].Diagnostics)
		}
	}
}

func BenchmarkAFileOfTwentyThousandLines(b *testing.B) {
	src := generated(1600)
	if n := strings.Count(src, "\n"); n < 20_000 {
		b.Fatalf("the file has %d lines", n)
	}
	in := usual().in(fstest.MapFS{"workflows/w/workflow.yaml": {Data: []byte(src)}})
	for b.Loop() {
		results, err := Workspace(in)
		if err != nil || len(results[0].Diagnostics) != 0 {
			b.Fatal(err, results[0].Diagnostics)
		}
	}
}

// hostile are sources that must be answered in bounded time and memory.
func hostile() map[string]string {
	many := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i))
		}
		return b.String()
	}
	head := "instructions: Help.\nskills: {}\nmounts: {}\n"
	return map[string]string{
		"brackets":    strings.Repeat("[", 20_000),
		"open braces": "a: " + strings.Repeat("{", 20_000),
		"junk":        "0: [:!00 \xef",
		"nul":         "a\x00b: c",
		"an alias bomb": "a: &a [x, x, x, x, x, x, x, x, x]\n" + many(9, func(i int) string {
			name := func(i int) string { return string(rune('a' + i)) }
			return name(i+1) + ": &" + name(i+1) + " [" + strings.Repeat("*"+name(i)+", ", 9) + "]\n"
		}),
		"thousands of grants and denials of one tool": head + "tools:\n  forbid_always:\n" +
			many(2500, func(i int) string { return fmt.Sprintf("    - { tool: lookup, args: { id: \"a*%d\" } }\n", i) }) +
			"states:\n  a:\n    triggers: { manual: }\n    tools:\n      allow:\n" +
			many(2500, func(i int) string { return fmt.Sprintf("        - { tool: lookup, args: { id: \"%d*a\" } }\n", i) }),
		"thousands of variables": head + "states:\n" + many(2000, func(i int) string {
			return fmt.Sprintf("  s%d: { triggers: { t%d: { requires: [v%d] } }, requires: [v%d], on_error: s%d, tools: { allow: [{ tool: lookup, args: { id: \"${{v%d}}\" } }] }, transitions: [{ to: s%d, description: x }] }\n",
				i, i, i, i, (i+1)%2000, i, (i+7)%2000)
		}),
		"thousands of automated loops": head + "states:\n  hub: { triggers: { manual: }, instructions: x, transitions: [" +
			many(2000, func(i int) string { return fmt.Sprintf("{ to: s%d, description: x }, ", i) }) + "] }\n" +
			many(2000, func(i int) string {
				return fmt.Sprintf("  s%d: { type: code, script: scripts/check.js, transitions: [{ to: hub, description: x }] }\n", i)
			}),
		"wide braces and deep stars": head + "states: { a: { triggers: { manual: }, tools: { allow: [{ tool: write_file, paths: [\"" +
			strings.Repeat("{a,b}", 40) + "\", \"" + strings.Repeat("**/*a*/", 60) + "x\", \"" + strings.Repeat("*a", 200) + "\"] }], " +
			"forbid: [{ tool: write_file, paths: [\"" + strings.Repeat("**/*b*/", 60) + "x\"] }] } } }\n",
	}
}

func TestHostileFilesAreAnswered(t *testing.T) {
	for name, src := range hostile() {
		t.Run(name, func(t *testing.T) {
			results, err := Workspace(usual().input(src), "refund")
			if err != nil || len(results) != 1 {
				t.Fatal(results, err)
			}
			t.Logf("%d findings", len(results[0].Diagnostics))
		})
	}
}

func FuzzWorkspace(f *testing.F) {
	for _, row := range grantRows {
		clean, _ := marked(row.src)
		f.Add(clean)
	}
	for _, row := range graphRows {
		clean, _ := marked(row.src)
		f.Add(clean)
	}
	f.Fuzz(func(t *testing.T, src string) {
		in := usual().input(src)
		results, err := Workspace(in, "refund")
		if err != nil {
			t.Fatal(err)
		}
		_, loaded := spec.Load(in.Root, "refund")
		for _, d := range results[0].Diagnostics {
			if _, ok := diag.Lookup(d.Code); !ok || d.Message == "" {
				t.Errorf("%+v", d)
			}
		}
		if loaded.HasErrors() && results[0].Machine != nil {
			t.Error("a broken workflow has a machine")
		}
	})
}

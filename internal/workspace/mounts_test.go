package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
)

func TestTheDefaultTable(t *testing.T) {
	t.Run("serves skills, .platform and AGENTS.md, ungoverned, read-only, searchable", func(t *testing.T) {
		s := newWorld(t, map[string]string{
			"skills/a/SKILL.md": "x", ".platform/system/GRAPH_STATE.md": "x", "AGENTS.md": "x", "other.txt": "x",
		}, DefaultMounts(), newMemory())
		want := []governance.Mount{
			{Name: ".platform", ReadOnly: true, Searchable: true},
			{Name: "AGENTS.md", ReadOnly: true, Searchable: true, File: true},
			{Name: "skills", ReadOnly: true, Searchable: true},
		}
		if diff := cmp.Diff(want, s.shared.Table()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("keeps its rows where nothing exists, and serves nothing there", func(t *testing.T) {
		s := newWorld(t, map[string]string{"AGENTS.md": "x"}, DefaultMounts(), newMemory())
		if got := s.shared.Served(); len(s.shared.Table()) != 3 || len(got) != 1 || got[0].Name != "AGENTS.md" {
			t.Errorf("table %v, served %v", s.shared.Table(), got)
		}
		s.answers("ls", `{}`, "AGENTS.md\nscratchpad/")
		s.refuses("read_file", `{"file_path":"skills/a/SKILL.md"}`, "skills/a/SKILL.md")
		s.refuses("write_file", `{"file_path":"skills/a/SKILL.md","content":"x"}`, "read-only")
		s.refuses("write_file", `{"file_path":"skills","content":"x"}`, "read-only")
	})
	t.Run("is extended, and a removed name goes", func(t *testing.T) {
		table := ExtendMounts(DefaultMounts(), []MountConfig{mountAt("reference/", "ref"), mountAt("skills", "bundles")}, []string{".platform/"})
		var got []string
		for _, m := range table {
			got = append(got, mountName(m.Name)+"="+m.Path)
		}
		if want := "AGENTS.md=AGENTS.md reference=ref skills=bundles"; strings.Join(got, " ") != want {
			t.Errorf("got %v, want %s", got, want)
		}
	})
}

func TestAMountIsRefusedAtLoad(t *testing.T) {
	root := t.TempDir()
	writeAll(t, root, map[string]string{
		"workflows/a/workflow.yaml": "x", "archmax.yaml": "x", ".env": "x", "sessions/s/x": "x",
		"reference/a.txt": "x", "reference/.git/config": "x", "reference/.env.local": "x",
		"linked/workflow.yaml": "x", "elsewhere/x": "x",
	})
	link(t, filepath.Join(root, "linked"), filepath.Join(root, "workflows", "b"))
	link(t, filepath.Join(root, "workflows"), filepath.Join(root, "disguise"))
	link(t, filepath.Join(root, "elsewhere"), filepath.Join(root, "aside"))
	link(t, filepath.Join(root, "nowhere"), filepath.Join(root, "dangling"))
	sessions := filepath.Join(root, "kept")
	for _, test := range []struct {
		name  string
		mount MountConfig
		want  string // codes
	}{
		{"not for a plain directory", mountAt("reference", "reference"), ""},
		{"not for a link to one", mountAt("x", "aside"), ""},
		{"not for a single file", mountAt("notes.txt", "reference/a.txt"), ""},
		{"when its path does not exist", mountAt("x", "gone"), codeMountMissing},
		{"when its link leads nowhere, even an optional one", mountAt("x", "dangling", optional), codeMountMissing},
		{"when it has no path", mountAt("x", ""), codeMountInvalid},
		{"when its name is empty", mountAt("/", "reference"), codeMountInvalid},
		{"when its name climbs", mountAt("a/../b", "reference"), codeMountInvalid},
		{"when its name holds a backslash", mountAt(`a\b`, "reference"), codeMountInvalid},
		{"over checkpoints", mountAt("checkpoints", "reference"), codeMountCollision},
		{"over artifacts", mountAt("artifacts", "reference"), codeMountCollision},
		{"over _specs", mountAt("_specs", "reference"), codeMountCollision},
		{"over scratchpad", mountAt("scratchpad", "reference"), codeMountCollision},
		{"over large_tool_results", mountAt("large_tool_results", "reference"), codeMountCollision},
		{"over conversation_history", mountAt("conversation_history", "reference"), codeMountCollision},
		{"over workflows", mountAt("workflows", "reference"), codeMountCollision},
		{"below a reserved first segment", mountAt("workflows/x", "reference"), codeMountCollision},
		{"below the scratchpad", mountAt("scratchpad/x", "reference"), codeMountCollision},
		{"over an area in another case", mountAt("Scratchpad", "reference"), codeMountCollision},
		{"when it is the workflows", mountAt("x", "workflows"), codeAuthoringExposed},
		{"when it is in the workflows", mountAt("x", "workflows/a"), codeAuthoringExposed},
		{"when it is the workflows by a link", mountAt("x", "disguise"), codeAuthoringExposed},
		{"when it is in the workflows by a link", mountAt("x", "disguise/a"), codeAuthoringExposed},
		{"when a workflow is a link into it", mountAt("x", "linked"), codeAuthoringExposed},
		{"when it holds the workflows", mountAt("x", "."), codeAuthoringExposed},
		{"when it is above the root", mountAt("x", ".."), codeAuthoringExposed},
		{"when a detour leads to the workflows", mountAt("x", "reference/../workflows"), codeAuthoringExposed},
		{"when it is the configuration", mountAt("x", "archmax.yaml"), codeAuthoringExposed},
		{"when it is the .env", mountAt("x", ".env"), codeAuthoringExposed},
		{"when it is another .env file", mountAt("x", "reference/.env.local"), codeAuthoringExposed},
		{"when it is in a .git", mountAt("x", "reference/.git"), codeAuthoringExposed},
		{"when it is the sessions directory, which need not exist", mountAt("x", sessions), codeMountMissing},
	} {
		t.Run(test.name, func(t *testing.T) {
			shared, problems := Open(root, []MountConfig{test.mount}, Guard{Sessions: sessions})
			defer shared.Close()
			if got := codes(problems); got != test.want {
				t.Errorf("got %q, want %q: %v", got, test.want, problems)
			}
			if served := len(shared.Table()) > 0; served != (test.want == "") {
				t.Errorf("served: %v", served)
			}
		})
	}
	t.Run("when it holds the sessions directory or is in it", func(t *testing.T) {
		for path, guard := range map[string]Guard{
			"elsewhere":  {Sessions: filepath.Join(root, "elsewhere", "deep", "sessions")}, // yet to be made
			"sessions/s": {},                                                               // the default
			"reference":  {Files: []string{filepath.Join(root, "reference", ".env")}},
		} {
			shared, problems := Open(root, []MountConfig{mountAt("x", path)}, guard)
			if got := codes(problems); got != codeAuthoringExposed {
				t.Errorf("%s: got %q", path, got)
			}
			_ = shared.Close()
		}
	})
	t.Run("when two have one name, or names that some systems take for one", func(t *testing.T) {
		for _, pair := range [][2]string{{"x", "x"}, {"x", "X"}, {"A", "a/b"}, {"a/b", "A"}} {
			shared, problems := Open(root, []MountConfig{mountAt(pair[0], "reference"), mountAt(pair[1], "elsewhere")}, Guard{})
			if got := codes(problems); got != codeMountCollision {
				t.Errorf("%v: got %q", pair, got)
			}
			_ = shared.Close()
		}
	})
	t.Run("not when one is below the other, unless that is a file", func(t *testing.T) {
		shared, problems := Open(root, []MountConfig{mountAt("x/y", "reference"), mountAt("x", "elsewhere")}, Guard{})
		if len(problems) > 0 {
			t.Error(problems.Err())
		}
		_ = shared.Close()
		for _, mounts := range [][]MountConfig{
			{mountAt("x", "reference/a.txt"), mountAt("x/y", "elsewhere")},
			{mountAt("x/y", "elsewhere"), mountAt("x", "reference/a.txt")},
		} {
			shared, problems := Open(root, mounts, Guard{})
			if got := codes(problems); got != codeMountCollision {
				t.Errorf("got %q", got)
			}
			_ = shared.Close()
		}
	})
	t.Run("with a place and a way out", func(t *testing.T) {
		m := mountAt("x", "gone")
		m.Range = diag.Range{Start: diag.Position{Line: 3, Column: 5}}
		shared, problems := Open(root, []MountConfig{m}, Guard{})
		defer shared.Close()
		d := problems[0]
		if d.Field != "mounts.x" || d.Range.Start.Line != 3 || d.Hint == "" || d.Severity != diag.Error || !strings.Contains(d.Message, `"gone"`) {
			t.Errorf("%+v", d)
		}
	})
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func TestReadFileServesThePrompt(t *testing.T) {
	s := newWorld(t, map[string]string{"AGENTS.md": "be kind", ".platform/system/GRAPH_STATE.md": "the graph"}, DefaultMounts(), newMemory())
	for path, want := range map[string]string{"AGENTS.md": "be kind", ".platform/system/GRAPH_STATE.md": "the graph"} {
		got, err := s.shared.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"skills/a/SKILL.md", ".platform/none", "scratchpad/x"} {
		if _, err := s.shared.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestSkills(t *testing.T) {
	bundle := func(front string) string { return "---\n" + front + "---\n# Text\n" }
	authored := map[string]string{
		"skills/billing/SKILL.md":      bundle("name: billing\ndescription: >-\n  Refunds\n  and credits.\nother: 1\n"),
		"skills/billing/scripts/a.js":  "1",
		"skills/crlf/SKILL.md":         "\uFEFF---\r\nname: crlf\r\ndescription: d\r\n---\r\n",
		"skills/misnamed/SKILL.md":     bundle("name: other\ndescription: d\n"),
		"skills/nameless/SKILL.md":     bundle("description: d\n"),
		"skills/plain/SKILL.md":        "# No front matter\n",
		"skills/open/SKILL.md":         "---\nname: open\n",
		"skills/number/SKILL.md":       bundle("name: number\ndescription: 5\n"),
		"skills/not-a-bundle/notes.md": "x",
		"skills/README.md":             "x",
	}
	s := newWorld(t, authored, DefaultMounts(), newMemory())
	t.Run("are the directories with a SKILL.md, sorted, whatever is wrong with it", func(t *testing.T) {
		want := []Skill{
			{"billing", "billing", "Refunds and credits.", "skills/billing/SKILL.md"},
			{"crlf", "crlf", "d", "skills/crlf/SKILL.md"},
			{"misnamed", "other", "d", "skills/misnamed/SKILL.md"},
			{"nameless", "", "d", "skills/nameless/SKILL.md"},
			{"number", "number", "", "skills/number/SKILL.md"},
			{"open", "", "", "skills/open/SKILL.md"},
			{"plain", "", "", "skills/plain/SKILL.md"},
		}
		if diff := cmp.Diff(want, s.shared.Skills()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("are checked, with the place in the file", func(t *testing.T) {
		var got []string
		for _, d := range s.shared.CheckSkills() {
			got = append(got, d.Place()+" "+string(d.Code))
		}
		want := []string{
			"skills/misnamed/SKILL.md:2:7 skill-name-mismatch",
			"skills/nameless/SKILL.md:1:1 skill-invalid",
			"skills/number/SKILL.md:3:14 skill-invalid",
			"skills/open/SKILL.md:1:1 skill-invalid",
			"skills/plain/SKILL.md:1:1 skill-invalid",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("of further directories are mounts below skills, the earlier slug winning", func(t *testing.T) {
		root := t.TempDir()
		writeAll(t, root, map[string]string{
			"skills/a/SKILL.md": bundle("name: a\ndescription: first\n"),
			"more/a/SKILL.md":   bundle("name: a\ndescription: second\n"),
			"more/b/SKILL.md":   bundle("name: b\ndescription: b\n"),
		})
		shared, problems := Open(root, SkillMounts(root, []string{"skills/", "more/"}), Guard{})
		defer shared.Close()
		if len(problems) > 0 {
			t.Fatal(problems.Err())
		}
		want := []Skill{{"a", "a", "first", "skills/a/SKILL.md"}, {"b", "b", "b", "skills/b/SKILL.md"}}
		if diff := cmp.Diff(want, shared.Skills()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("are none in a workspace without", func(t *testing.T) {
		if got := newWorld(t, nil, DefaultMounts(), newMemory()).shared.Skills(); len(got) != 0 {
			t.Error(got)
		}
	})
}

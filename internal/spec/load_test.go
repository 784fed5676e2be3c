package spec

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/diag"
)

const small = `title: Refunds
instructions: Be kind.
states:
  draft:
    triggers: { manual: }
    instructions: Draft an answer.
    after: { script: hooks/gate.js }
    transitions:
      - { to: check, description: The draft is ready. }
  check:
    type: code
    script: scripts/check.js
    transitions:
      - { to: done, description: The policy holds. }
  done:
`

// workspace is a file system from path-content pairs.
func workspace(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i+1 < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return fsys
}

func smallWorkspace(more ...string) fstest.MapFS {
	return workspace(append([]string{
		"workflows/refund/workflow.yaml", small,
		"workflows/refund/scripts/check.js", "export default async () => 'ok';\n",
		"workflows/refund/hooks/gate.js", "ok()\n",
	}, more...)...)
}

func lines(list diag.List) []string {
	var out []string
	for _, d := range list {
		out = append(out, d.Error())
	}
	return out
}

func TestLoadReadsTheWholeMachine(t *testing.T) {
	m, list := Load(smallWorkspace("workflows/refund/WORKFLOW.md", "\uFEFF# Refunds\n<!-- a\nnote -->Be brief.<!-- open"), "refund")
	if list != nil {
		t.Fatal(list)
	}
	if m.Slug != "refund" || m.Title != "Refunds" || m.File != "workflows/refund/workflow.yaml" || m.Prose != "# Refunds\nBe brief." {
		t.Errorf("%q %q %q %q", m.Slug, m.Title, m.File, m.Prose)
	}
	if m.Engine != "archmax-harness" || m.Version != "1" || m.Disabled {
		t.Errorf("runtime %q %q, disabled %v", m.Engine, m.Version, m.Disabled)
	}
	s := m.Settings
	if s.TimeoutMs != 15000 || s.MemoryLimitBytes != 64<<20 || *s.MaxPtcCalls != 256 || s.MaxResultChars != 32000 || s.PromptCache != nil || s.Model != "" {
		t.Errorf("settings %+v", s)
	}
	tr, entry := m.Trigger("manual")
	if tr == nil || entry != m.State("draft") || len(m.Triggers()) != 1 {
		t.Errorf("trigger %v enters %v", tr, entry)
	}
	if m.State("done") == nil || m.State("done").Kind != Agent || !m.State("done").Terminal() || m.State("nope") != nil {
		t.Error("done is no terminal agent state")
	}
	if e := m.State("draft").Edge("check"); e == nil || e.Type != None || e.Range != rangeOf(9, 15, 20) {
		t.Errorf("edge %+v", e)
	}
	if got, want := m.State("check").ScriptRange, rangeOf(12, 13, 29); got != want {
		t.Errorf("the script is at %v, want %v", got, want)
	}
}

func TestSettingsAndListsAreRead(t *testing.T) {
	m := mustParse(t, `instructions: x
runtime: { engine: archmax-harness, version: 2 }
settings: { model: gpt-5, timeoutMs: 1, memoryLimitBytes: 2, maxPtcCalls: null, maxResultChars: 3, prompt_cache: { ttl: 1h }, context: { maxTokens: 4, keepMessages: 5 } }
tools: { allow_always: [a], forbid_always: [{ tool: b, args: { p.q: [x, 'y/${{z}}'] } }] }
mounts: { allow_always: [/ref/, { mount: w, access: read_write }] }
extensions: { hooks: [hook] }
tests: { caseTimeoutMs: 7 }
states:
  a:
    triggers: { mail: { session: s, message: false, requires: [u], x: 1.10 } }
    tools: { allow: [] }
    skills: { forbid: [s] }
    requires: [v]
    budget: { maxTurns: 1, timeoutMs: 2, maxParks: 3, maxVisits: 4 }
    before: { hook: { deep: [1.0] } }
    after: [{ rubric: { instructions: r, max_iterations: 2 } }]
`+"  h: { type: human, instructions: i, approvers: Ann, evidence: [e], transitions: [{ to: a, description: d, type: refine }] }\n"+`# unknown trigger key x warns
`)
	s := m.Settings
	if m.Version != "2" || s.Model != "gpt-5" || s.MaxPtcCalls != nil || !s.PromptCache.Enabled || s.PromptCache.TTL != "1h" || s.Context != (Context{4, 5}) {
		t.Errorf("settings %+v", s)
	}
	if !m.HasTools || m.HasSkills || !m.HasMounts || m.Tests.Get("caseTimeoutMs").Text != "7" {
		t.Error("root blocks")
	}
	guard := m.Tools.ForbidAlways[0].Args[0]
	if guard.Name != "p.q" || len(guard.Globs) != 2 || guard.Globs[1].Parts[1].Ref.Name != "z" {
		t.Errorf("guard %+v", guard)
	}
	if g := m.Mounts.AllowAlways; g[0].Mount != "ref" || g[0].Write || g[1].Mount != "w" || !g[1].Write {
		t.Errorf("mounts %+v", g)
	}
	a := m.State("a")
	if !a.Tools.HasAllow || len(a.Tools.Allow) != 0 || a.Skills.HasAllow || a.Skills.Forbid[0].Value != "s" || a.Budget != (Budget{1, 2, 3, 4}) {
		t.Errorf("state %+v", a)
	}
	tr := a.Triggers[0]
	if tr.ID != "mail" || tr.State != "a" || !tr.NoMessage || tr.Session != "s" || tr.Extra["x"] != json.Number("1.10") {
		t.Errorf("trigger %+v", tr)
	}
	if h := a.Before[0]; h.Kind != "hook" || cmp.Diff(map[string]any{"deep": []any{json.Number("1.0")}}, h.Value) != "" {
		t.Errorf("hook %+v", h)
	}
	if r := a.After[0].Rubric; r.Instructions != "r" || r.MaxIterations != 2 {
		t.Errorf("rubric %+v", r)
	}
	if h := m.State("h"); h.Approvers != "Ann" || h.Evidence[0].Value != "e" || h.Transitions[0].Type != Refine {
		t.Errorf("human %+v", h)
	}
}

func TestLoadProblems(t *testing.T) {
	broken := func(old, with string) string { return strings.Replace(small, old, with, 1) }
	for _, tt := range []struct {
		name, slug string
		fsys       fs.FS
		want       []string // start of each line
	}{
		{"no such workflow", "refnd", smallWorkspace(), []string{"workflows/refnd/workflow.yaml: error[missing]: there is no workflow `refnd`"}},
		{"a directory without workflow.yaml", "x", workspace("workflows/x/notes.md", ""), []string{"workflows/x/workflow.yaml: error[missing]: `workflows/x` holds no workflow.yaml"}},
		{"a slug that climbs", "../x", smallWorkspace(), []string{"error[bad-slug]: `../x` is no workflow slug"}},
		{"a slug of the wrong shape", "Refund", workspace("workflows/Refund/workflow.yaml", "a: 1\n"), []string{
			"workflows/Refund/workflow.yaml: error[bad-slug]", "workflows/Refund/workflow.yaml:1:1: error[missing-key]", "workflows/Refund/workflow.yaml:1:1: error[unknown-key]",
		}},
		{"workflow.yaml as a directory", "x", workspace("workflows/x/workflow.yaml/a", ""), []string{"workflows/x/workflow.yaml: error[unreadable]"}},
		{"a frontmatter", "refund", smallWorkspace("workflows/refund/WORKFLOW.md", "---\ntitle: x\n---\n"), []string{"workflows/refund/WORKFLOW.md:1:1: error[competing-machines]"}},
		{"prose that is no text", "refund", smallWorkspace("workflows/refund/WORKFLOW.md", "\xff"), []string{"workflows/refund/WORKFLOW.md:1:1: error[encoding]"}},
		{"a missing code script", "refund", workspace("workflows/refund/workflow.yaml", small, "workflows/refund/hooks/gate.js", ""), []string{
			"workflows/refund/workflow.yaml:12:13: error[script-missing]: there is no file `workflows/refund/scripts/check.js`",
		}},
		{"a missing hook", "refund", workspace("workflows/refund/workflow.yaml", small, "workflows/refund/scripts/check.js", ""), []string{
			"workflows/refund/workflow.yaml:7:12: error[script-missing]: there is no file `workflows/refund/hooks/gate.js`",
		}},
		{"a foreign import", "refund", smallWorkspace("workflows/refund/scripts/check.js", "// import 'x'\nimport fs from \"node:fs\";\n"), []string{
			"workflows/refund/scripts/check.js:2:16: error[script-import]: the script asks for `node:fs` with import",
		}},
		{"problems of all files in file order", "refund", workspace(
			"workflows/refund/workflow.yaml", broken("to: check", "to: chek"),
			"workflows/refund/WORKFLOW.md", "---\n",
		), []string{
			"workflows/refund/WORKFLOW.md:1:1: error[competing-machines]",
			"workflows/refund/workflow.yaml:7:12: error[script-missing]",
			"workflows/refund/workflow.yaml:9:15: error[unknown-state]: there is no state `chek`",
			"workflows/refund/workflow.yaml:12:13: error[script-missing]",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, list := Load(tt.fsys, tt.slug)
			if m != nil {
				t.Error("a machine in spite of errors")
			}
			got := lines(list)
			if len(got) != len(tt.want) {
				t.Fatalf("got %q, want %q", got, tt.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tt.want[i]) {
					t.Errorf("got %q, want %q", got[i], tt.want[i])
				}
			}
		})
	}
}

func TestAMisspeltWorkflowSuggestsTheNearOne(t *testing.T) {
	_, list := Load(smallWorkspace(), "refnd")
	if !strings.HasPrefix(list[0].Hint, "did you mean `refund`?") {
		t.Errorf("hint %q", list[0].Hint)
	}
}

func TestAnythingButFalseDisables(t *testing.T) {
	for text, want := range map[string]bool{"disabled: true\n": true, "disabled: false\n": false, "disabled:\n": false, "disabled: ~\n": false, "": false} {
		if m := mustParse(t, text+small); m.Disabled != want {
			t.Errorf("%q: disabled is %v", text, m.Disabled)
		}
	}
}

func TestScriptsDoNotEscapeThroughLinks(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		t.Helper()
		name = filepath.Join(root, filepath.FromSlash(name))
		_ = os.Remove(name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	write("workflows/refund/workflow.yaml", small)
	write("workflows/refund/hooks/gate.js", "ok()")
	write("workflows/refund/scripts/real.js", "1")
	write("secret.js", "1")
	script := "workflows/refund/scripts/check.js"
	for _, tt := range []struct{ name, target, want string }{
		{"a link inside the directory", "real.js", ""},
		{"a link out of the directory", "../../../secret.js", "script-path"},
		{"an absolute link", filepath.Join(root, "secret.js"), "script-path"},
		{"a link to nothing", "nowhere.js", "script-missing"},
		{"a link to itself", "check.js", "script-missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			link(tt.target, script)
			_, list := Load(os.DirFS(root), "refund")
			got := ""
			if len(list) > 0 {
				got = list[0].Code
			}
			if got != tt.want {
				t.Errorf("got %v, want %q", list, tt.want)
			}
		})
	}
	if err := os.RemoveAll(filepath.Join(root, "workflows/refund/scripts")); err != nil {
		t.Fatal(err)
	}
	write("elsewhere/check.js", "1")
	link("../../elsewhere", "workflows/refund/scripts")
	if _, list := Load(os.DirFS(root), "refund"); len(list) != 1 || list[0].Code != "script-path" {
		t.Errorf("a linked directory: %v", list)
	}
}

func TestSlugs(t *testing.T) {
	fsys := smallWorkspace("workflows/b/workflow.yaml", "", "workflows/Bad Name/workflow.yaml", "", "workflows/c/notes", "", "workflows/file.yaml", "")
	got, err := Slugs(fsys)
	if diff := cmp.Diff([]string{"Bad Name", "b", "refund"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, err := Slugs(workspace("x", "")); len(got) != 0 || got == nil || err != nil {
		t.Errorf("no workflows/: %v, %v", got, err)
	}
	if _, err := Slugs(workspace("workflows", "a file")); err == nil {
		t.Error("workflows as a file is no error")
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		small, "0: [:!00 \xef", "a: &a [*a]", "a: !x {b: *a}", "\uFEFFa: 1\r\n...\r\n---\r\n", "<<: [1, {a: b}]\n", "a: |\n  x\n #y: \"\\q", "? {a: b}\n: c\n",
		trigger("{ requires: [{ name: a, type: date, minimum: 2026-01-01 }], x: .nan }"), "states: { a: { before: [{ rubric: }], tools: { allow: [{ args: { a: ['${{'] } }] } } }",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, list := Parse("refund", "workflows/refund/workflow.yaml", src)
		if (m == nil) != list.HasErrors() {
			t.Errorf("machine is nil: %v, %v", m == nil, list)
		}
		if m != nil && !json.Valid(m.Canonical) {
			t.Errorf("canonical form %s", m.Canonical)
		}
		clean := strings.TrimPrefix(string(src), "\uFEFF")
		for _, d := range list {
			checkDiagnostic(t, clean, d)
		}
	})
}

// large is a workflow of n states of ten lines each.
func large(n int) []byte {
	var b strings.Builder
	b.WriteString("instructions: Be kind.\nstates:\n")
	for i := range n {
		fmt.Fprintf(&b, "  s%d:\n", i)
		if i == 0 {
			b.WriteString("    triggers: { manual: }\n")
		} else {
			b.WriteString("    title: A state\n")
		}
		fmt.Fprintf(&b, "    instructions: Do part %d.\n    tools:\n      allow:\n        - crm__lookup\n        - { tool: write_file, args: { file_path: 'a/**' } }\n    transitions:\n      - to: s%d\n        description: Done.\n", i, (i+1)%n)
	}
	return []byte(b.String())
}

func TestALargeFileLoads(t *testing.T) {
	src := large(2000) // 20,002 lines
	m, list := Parse("refund", "f.yaml", src)
	if m == nil {
		t.Fatal(list)
	}
}

func BenchmarkParseLarge(b *testing.B) {
	src := large(2000)
	for b.Loop() {
		Parse("refund", "f.yaml", src)
	}
}

func BenchmarkLoadSmall(b *testing.B) {
	fsys := smallWorkspace()
	for b.Loop() {
		Load(fsys, "refund")
	}
}

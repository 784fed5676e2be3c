package authoring_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/archmax-ai/archmax/internal/authoring"
	"github.com/archmax-ai/archmax/internal/cli"
)

// TestMain makes the test binary the program itself when it is called archmax.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"archmax": func() { os.Exit(cli.Main()) }})
}

// play runs a script in a folder of these files.
func play(t *testing.T, script string, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString(script)
	for name, text := range files {
		b.WriteString("-- " + name + " --\n" + text)
	}
	if err := os.WriteFile(filepath.Join(dir, "script.txtar"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: dir, RequireExplicitExec: true})
}

// The commands that the skill shows play the workflow, the cassette and the case
// that it shows, as a reader would put them down.
func TestTheSkillsCommandsPlayItsExample(t *testing.T) {
	files, err := authoring.Skill(authoring.SkillName)
	if err != nil {
		t.Fatal(err)
	}
	// The files of the example, by the name that stands before each.
	named := regexp.MustCompile("(?s)`(workflows/purchase/[a-z./-]+)`[^`]*(?:\\[[^`]*)?```yaml\n(.*?)```")
	shown := map[string]string{}
	commands := ""
	for _, f := range files {
		for _, m := range named.FindAllStringSubmatch(string(f.Content), -1) {
			shown[m[1]] = m[2]
		}
		if m := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(string(f.Content)); m != nil {
			commands += m[1]
		}
	}
	if len(shown) != 3 {
		t.Fatalf("%d files are shown", len(shown))
	}
	after := map[string]string{ // what a command must have come to
		"archmax run":              "stdout '^What does it cost'\nexec archmax sessions kb --json\nstdout '\"status\":\\s*\"awaiting_input\"'\n",
		"archmax send":             "stdout '^Your request is with the team leads'\nexec archmax sessions cat kb memo.md\nstdout '80 EUR'\n",
		"archmax decide kb --to d": "stdout '^I named the model'\nexec archmax sessions kb --json\nstdout '\"status\":\\s*\"awaiting_decision\"'\n",
		"archmax decide kb --to o": "stdout '^The keyboard is ordered'\nexec archmax sessions kb --json\nstdout '\"status\":\\s*\"completed\"'\n",
		"archmax sessions log":     "stdout 'K120'\n",
	}
	script := "exec archmax validate --strict\n"
	done := 0
	for line := range strings.Lines(commands) {
		script += "exec " + strings.ReplaceAll(line, `"`, `'`)
		for prefix, check := range after {
			if strings.HasPrefix(line, prefix) {
				script += check
				done++
			}
		}
	}
	if done != len(after) {
		t.Fatalf("the commands are not those that are known here:\n%s", commands)
	}
	play(t, script+"exec archmax test purchase\nstdout '^1 passed, 0 failed'\n", shown)
}

// What the skill says is not run yet is not: when one of these fails, the row of
// the gap can go.
func TestWhatTheSkillCallsNotRunYetIsNot(t *testing.T) {
	const head, end = "instructions: Help.\nstates:\n  a:\n    triggers: { manual: }\n", "    transitions: [{ to: done, description: x }]\n  done:\n"
	gaps := map[string]struct {
		says   string // the error
		states string
		config string
		call   string // the first answer of the model
	}{
		"`code` states":              {"unsupported-state", head + "    type: code\n    script: scripts/x.js\n" + end, "", "{ text: x }"},
		"`grader` states":            {"unsupported-state", head + "    type: grader\n    instructions: x\n" + end, "", "{ text: x }"},
		"`before` and `after` hooks": {"unsupported-hooks", head + "    after: { script: hooks/x.js }\n" + end, "", "{ text: x }"},
		"command and MCP tools":      {"does not run yet", head + "    tools: { allow: [look] }\n" + end, "tools: { look: { description: x, command: [\"true\"] } }\n", "{ text: x }"},
		"`policy` rules":             {"does not run yet", head + end, "policy: [{ name: x, when: 'true', deny: x }]\n", "{ text: x }"},
		"calls of other workflows":   {"archmax_workflow_b", head + "    tools: { allow: [archmax_workflow_b] }\n" + end, "", "{ tools: [archmax_workflow_b], text: x }"},
	}
	files, err := authoring.Skill(authoring.SkillName)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(files[0].Content), "## What this version does not run yet\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := regexp.MustCompile(`(?m)^- .*$`).FindAllString(section, -1)
	if len(listed) == 0 && strings.Contains(string(files[1].Content), "not run yet") {
		t.Error("something is marked as not run yet, and nothing is listed")
	}
	for _, line := range listed {
		known := false
		for what, gap := range gaps {
			if !strings.HasPrefix(line, "- "+what) {
				continue
			}
			known = true
			t.Run(what, func(t *testing.T) {
				play(t, "! exec archmax run a hello --cassette c.yaml\nstderr '"+gap.says+"'\n", map[string]string{
					"workflows/a/workflow.yaml": gap.states, "workflows/b/workflow.yaml": head + end, "archmax.yaml": gap.config,
					"workflows/a/scripts/x.js": "export default async () => 'x'\n", "workflows/a/hooks/x.js": "export default async () => ok()\n",
					"c.yaml": "version: 1\ncalls: [" + gap.call + "]\n",
				})
			})
		}
		if !known {
			t.Errorf("nothing shows that this is not run yet: %s", line)
		}
	}
}

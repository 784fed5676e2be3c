package authoring

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"text/template"

	"github.com/archmax-ai/archmax/internal/explain"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/schema"
)

//go:embed skill
var skillText embed.FS

// example is a workspace that the skill shows: its cassettes, its case, and the
// commands that play them.
//
//go:embed example
var example embed.FS

// SkillName is the skill's name, unless its directory has another that is a
// slug: agents find a skill by the two being equal.
const SkillName = "archmax-authoring"

// skillMark is in every file of the skill: a file without it is somebody's own.
const skillMark = "Written by `archmax skill`; run it again after an upgrade instead of editing."

// skillFiles are the templates in skill/ and where they are written.
var skillFiles = [][2]string{
	{"SKILL.md", "SKILL.md"},
	{"language.md", "references/language.md"},
	{"tools.md", "references/tools.md"},
	{"cases.md", "references/cases.md"},
	{"cassettes.md", "references/cassettes.md"},
	{"diagnostics.md", "references/diagnostics.md"},
}

// Skill are the files of the authoring skill, put together from the tables of
// the schemas, the diagnostics, the kernel and the runtime, and from the files of the example.
func Skill(name string) ([]File, error) {
	trees := map[string]*schema.Schema{"workflow": schema.Workflow(), "case": schema.Case(), "config": schema.Config()}
	all, err := template.New("").Funcs(template.FuncMap{
		"keys":        func(kind, def string) string { return foldRepeats(schema.Outline(trees[kind], def)) },
		"types":       schema.EntryTypes,
		"builtins":    func() string { return definitionNames(offered(governance.Builtins())) },
		"controls":    func() string { return definitionNames(offered(governance.Controls())) },
		"unoffered":   unoffered,
		"builtinList": func() (string, error) { return toolList(offered(governance.Builtins())) },
		"controlList": func() (string, error) { return toolList(offered(governance.Controls())) },
		"notYet":      notYet,
		"gaps":        gapList,
		"diagnostics": func() string { return tableOf(explain.Diagnostic) },
		"rules":       func() string { return tableOf(explain.Rule) },
		"example": func(name string) (string, error) {
			b, err := example.ReadFile("example/workflows/purchase/" + name)
			return string(b), err
		},
	}).ParseFS(skillText, "skill/*.md")
	if err != nil {
		return nil, err
	}
	var files []File
	for _, f := range skillFiles {
		var b bytes.Buffer
		err := all.ExecuteTemplate(&b, f[0], struct{ Name, Mark string }{name, skillMark})
		if err != nil {
			return nil, err
		}
		files = append(files, File{f[1], b.Bytes()})
	}
	return files, nil
}

// foldRepeats shortens a nested Markdown list: what stands below an item word for
// word as below an earlier one is told by that one's name.
func foldRepeats(list string) string {
	lines := strings.SplitAfter(list, "\n")
	depth := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	seen := map[string]string{} // what stands below an item, and the item's name
	var b strings.Builder
	for i := 0; i < len(lines); i++ {
		end := i + 1
		for end < len(lines) && depth(lines[end]) > depth(lines[i]) {
			end++
		}
		below := strings.Join(lines[i+1:end], "")
		name, told := seen[below]
		switch {
		case end-i-1 < 2 || strings.Count(lines[i], "`") < 2:
			b.WriteString(lines[i])
		case told:
			fmt.Fprintf(&b, "%s Keys as in `%s`.\n", strings.TrimSuffix(lines[i], "\n"), name)
			i = end - 1
		default:
			seen[below] = strings.Split(lines[i], "`")[1]
			b.WriteString(lines[i])
		}
	}
	return b.String()
}

// tableOf lists the entries of a kind: what it means, and the fix. Those with
// nothing to fix come last, by their names.
func tableOf(kind explain.Kind) string {
	var b strings.Builder
	var fine []string
	for _, e := range explain.Entries() {
		switch {
		case e.Kind != kind:
		case e.Fix == "Nothing to fix.":
			fine = append(fine, "`"+e.ID+"`")
		default:
			fmt.Fprintf(&b, "- `%s`: %s. %s\n", e.ID, e.Summary, e.Fix)
		}
	}
	if len(fine) > 0 {
		fmt.Fprintf(&b, "- Nothing to fix: %s.\n", strings.Join(fine, ", "))
	}
	return b.String()
}

// ForeignError is a file that stands where one of the skill's would be written,
// and is somebody's own.
type ForeignError struct{ Path string }

// Error names the file.
func (e *ForeignError) Error() string { return e.Path + " is not of archmax's writing" }

// WriteSkill writes the skill's files into root, over those of an earlier
// version. A file of somebody's own is a *ForeignError, and nothing is written.
// It returns the files that changed.
func WriteSkill(root *os.Root, files []File) (wrote []string, err error) {
	same := map[string]bool{}
	for _, f := range files {
		old, err := root.ReadFile(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, &WriteError{f.Path, err}
		case !bytes.Contains(old, []byte(skillMark)):
			return nil, &ForeignError{f.Path}
		default:
			same[f.Path] = bytes.Equal(old, f.Content)
		}
	}
	for _, f := range files {
		if same[f.Path] {
			continue
		}
		if err := root.MkdirAll(path.Dir(f.Path), 0o755); err != nil {
			return wrote, &WriteError{f.Path, err}
		}
		if err := root.WriteFile(f.Path, f.Content, 0o644); err != nil {
			return wrote, &WriteError{f.Path, err}
		}
		wrote = append(wrote, f.Path)
	}
	return wrote, nil
}

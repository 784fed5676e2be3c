package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/archmax-ai/archmax/internal/diag"
)

const workflowsDir = "workflows"

// Slugs returns the names of the directories under workflows/ that hold a
// workflow.yaml, sorted: well-formed slugs or not, so that validate can
// complain of the rest. A workspace without workflows/ has none.
func Slugs(fsys fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(fsys, workflowsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return []string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s/ cannot be read: %s", workflowsDir, cause(err))
	}
	slugs := []string{}
	for _, e := range entries {
		info, err := fs.Stat(fsys, path.Join(workflowsDir, e.Name(), "workflow.yaml"))
		if err == nil && !info.IsDir() {
			slugs = append(slugs, e.Name())
		}
	}
	slices.Sort(slugs)
	return slugs, nil
}

// Load reads and checks the workflow named slug in the workspace fsys: its
// workflow.yaml, its WORKFLOW.md, and the scripts a run needs. The machine is
// nil when there is an error; warnings come with a machine. The list is in file
// order.
func Load(fsys fs.FS, slug string) (*Machine, diag.List) {
	m, list := Inspect(fsys, slug)
	if list.HasErrors() {
		return nil, list
	}
	return m, list
}

// Inspect is Load for checks that go on when a rule of the document is broken
// (language.md: "lints run even when a document-level rule failed"): its machine
// is nil only when the shape of workflow.yaml does not hold. A machine that came
// with errors is never run.
func Inspect(fsys fs.FS, slug string) (*Machine, diag.List) {
	file := path.Join(workflowsDir, slug, "workflow.yaml")
	d := NewDecoder()
	if !ValidSlug(slug) {
		d.Errorf(diag.BadSlug, diag.Range{}, "", hintSlug, "`%s` is no workflow slug", brief(slug))
		if slug == "" || slug == "." || slug == ".." || strings.ContainsAny(slug, "/\\\x00") {
			return nil, d.Diagnostics("")
		}
	}
	src, err := fs.ReadFile(fsys, file)
	if err != nil {
		d.missing(fsys, slug, err)
		return nil, d.Diagnostics(file)
	}
	l, list := parse(slug, file, src)
	list = append(d.Diagnostics(file), list...)
	prose, more := readProse(fsys, path.Join(workflowsDir, slug, "WORKFLOW.md"))
	list = append(list, more...)
	if l != nil && !l.Broken() {
		list = append(list, checkScripts(fsys, l.m)...)
	}
	list.Sort()
	if l == nil || l.Broken() {
		return nil, list
	}
	l.m.Prose = prose
	return l.m, list
}

// missing reports a workflow.yaml that cannot be read.
func (d *Decoder) missing(fsys fs.FS, slug string, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		d.Errorf(diag.Unreadable, diag.Range{}, "", "", "the file cannot be read: %s", cause(err))
		return
	}
	if _, err := fs.Stat(fsys, path.Join(workflowsDir, slug)); err == nil {
		d.Errorf(diag.Missing, diag.Range{}, "", "add a workflow.yaml, or remove the directory", "`%s/%s` holds no workflow.yaml, so it is no workflow", workflowsDir, slug)
		return
	}
	hint := "`archmax workflows` lists what the workspace has"
	if slugs, err := Slugs(fsys); err == nil {
		if near := diag.Nearest(slug, slugs); near != "" {
			hint = fmt.Sprintf("did you mean `%s`? %s", near, hint)
		}
	}
	d.Errorf(diag.Missing, diag.Range{}, "", hint, "there is no workflow `%s`", brief(slug))
}

// cause words a file error without its path, which the diagnostic has.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

var (
	htmlComment = regexp.MustCompile(`(?s)<!--.*?(-->|$)`)
	frontmatter = regexp.MustCompile(`^---[ \t]*(\r?\n|$)`)
)

// readProse reads WORKFLOW.md, HTML comments stripped.
func readProse(fsys fs.FS, file string) (string, diag.List) {
	d := NewDecoder()
	src, err := fs.ReadFile(fsys, file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	text := strings.TrimPrefix(string(src), "\uFEFF")
	switch {
	case err != nil:
		d.Errorf(diag.Unreadable, diag.Range{}, "", "", "the file cannot be read: %s", cause(err))
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		d.Errorf(diag.Encoding, startOfFile, "", "save the file as UTF-8 text", "the file is not UTF-8 text")
	case frontmatter.MatchString(text):
		d.Errorf(diag.CompetingMachines, newSource([]byte(text)).span(0, 3), "", "move what it says into workflow.yaml and start the file with prose",
			"WORKFLOW.md starts with a frontmatter, and the machine is workflow.yaml's alone")
	}
	return strings.TrimSpace(htmlComment.ReplaceAllString(text, "")), d.Diagnostics(file)
}

// loader decodes one workflow.yaml.
type loader struct {
	*Decoder
	m           *Machine
	statesRange diag.Range
	disabledAt  diag.Range
}

// Parse reads and checks the document alone: no other file is looked at. The
// machine is nil when there is an error.
func Parse(slug, file string, src []byte) (*Machine, diag.List) {
	l, list := parse(slug, file, src)
	if list.HasErrors() {
		return nil, list
	}
	return l.m, list
}

// parse returns what could be read of the document; nothing when it is no YAML.
func parse(slug, file string, src []byte) (*loader, diag.List) {
	root, problems := ReadYAML(file, src)
	if root == nil {
		return nil, problems
	}
	l := &loader{Decoder: NewDecoder(), m: &Machine{Slug: slug, File: file, index: map[string]*State{}}}
	l.broken = problems.HasErrors()
	l.root(root)
	if !l.Broken() {
		l.rules()
		l.lints()
		l.m.seal(root)
	}
	list := append(problems, l.Diagnostics(file)...)
	list.Sort()
	return l, list
}

package casetest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/spec"
)

// Found is a case file.
type Found struct {
	ID   string // path below tests/, without the extension
	File string // relative to the root, with slashes
}

// Discover finds the case files of a workflow, sorted by id. A workflow without
// tests/ has none.
func Discover(fsys fs.FS, slug string) ([]Found, error) {
	dir := testsDir(slug)
	found := []Found{}
	err := fs.WalkDir(fsys, dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && name == dir && errors.Is(err, fs.ErrNotExist):
			return fs.SkipAll
		case err != nil:
			return err
		case e.IsDir():
			return nil
		}
		for _, extension := range []string{".test.yaml", ".test.yml"} {
			if id, ok := strings.CutSuffix(strings.TrimPrefix(name, dir+"/"), extension); ok && path.Base(name) != extension {
				found = append(found, Found{ID: id, File: name})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the cases of workflow %q cannot be listed: %s", slug, cause(err))
	}
	slices.SortFunc(found, func(a, b Found) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.File, b.File)) })
	return found, nil
}

func testsDir(slug string) string { return path.Join("workflows", slug, "tests") }

// cassettePath is where a case's own cassette is, relative to the root.
func cassettePath(slug, id string) string {
	return path.Join(testsDir(slug), id+".cassette.yaml")
}

// cause words a file error without the path, which the message has.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// read is a case with everything that is wrong with it.
type readCase struct {
	*Case
	problems diag.List
}

// readAll reads and checks the cases of a workflow, in order. The mounts are the
// workspace's; none: not known.
func readAll(fsys fs.FS, m *spec.Machine, mounts []governance.Mount) ([]readCase, error) {
	found, err := Discover(fsys, m.Slug)
	if err != nil {
		return nil, err
	}
	cases := make([]readCase, len(found))
	first := map[string]string{} // id -> file
	for i, f := range found {
		cases[i] = readOne(fsys, m, mounts, f)
		if other, ok := first[f.ID]; ok {
			cases[i].problems = append(cases[i].problems, diag.Diagnostic{
				Severity: diag.Error, Code: string(diag.DuplicateCase), File: f.File,
				Message: fmt.Sprintf("the case has the id `%s`, which %s has too", f.ID, other), Hint: "rename one of the two files",
			})
		}
		first[f.ID] = f.File
	}
	return cases, nil
}

func readOne(fsys fs.FS, m *spec.Machine, mounts []governance.Mount, f Found) readCase {
	src, err := fs.ReadFile(fsys, f.File)
	if err != nil {
		return readCase{&Case{ID: f.ID, File: f.File}, diag.List{{
			Severity: diag.Error, Code: string(diag.Unreadable), File: f.File, Message: "the file cannot be read: " + cause(err),
		}}}
	}
	c, problems := Parse(f.File, f.ID, src)
	if c.Skip == "" { // what is set aside may be out of date
		problems = append(problems, staticCase(fsys, m, mounts, c)...)
	}
	problems.Sort()
	return readCase{c, problems}
}

// Static checks the cases of a workflow without running them, for `validate`:
// what does not parse, and what names a trigger, a state, a workflow or a file
// that is not there. With the workspace's mounts, also what cannot be placed.
func Static(fsys fs.FS, m *spec.Machine, mounts ...governance.Mount) diag.List {
	cases, err := readAll(fsys, m, mounts)
	if err != nil {
		return diag.List{{Severity: diag.Error, Code: string(diag.Unreadable), File: testsDir(m.Slug), Message: err.Error()}}
	}
	list := linked(fsys, m.Slug)
	for _, c := range cases {
		list = append(list, c.problems...)
	}
	list.Sort()
	return list
}

// linked warns of folders below tests/ that are symbolic links: discovery does
// not follow them, so cases there would be missed in silence.
func linked(fsys fs.FS, slug string) (list diag.List) {
	_ = fs.WalkDir(fsys, testsDir(slug), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink == 0 {
			return nil // what cannot be listed is told by Discover
		}
		if info, err := fs.Stat(fsys, name); err == nil && info.IsDir() {
			list = append(list, diag.Diagnostic{
				Severity: diag.Warning, Code: string(diag.Unreadable), File: name,
				Message: "the folder is a symbolic link, which is not followed: no case in it runs", Hint: "put the cases into a folder of their own",
			})
		}
		return nil
	})
	return list
}

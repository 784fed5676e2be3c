package casetest

import (
	"fmt"
	"io/fs"

	"github.com/archmax-ai/archmax/internal/diag"
)

// StaticAlone checks the cases of a workflow whose machine cannot be had: what
// does not parse, in the same pass as what is wrong with the workflow. What a case
// names of the machine is left to Static.
func StaticAlone(fsys fs.FS, slug string) diag.List {
	found, err := Discover(fsys, slug)
	if err != nil {
		return diag.List{{Severity: diag.Error, Code: string(diag.Unreadable), File: testsDir(slug), Message: err.Error()}}
	}
	list := linked(fsys, slug)
	for _, f := range found {
		src, err := fs.ReadFile(fsys, f.File)
		if err != nil {
			list = append(list, diag.Diagnostic{
				Severity: diag.Error, Code: string(diag.Unreadable), File: f.File, Message: fmt.Sprintf("the file cannot be read: %s", cause(err)),
			})
			continue
		}
		_, problems := Parse(f.File, f.ID, src)
		list = append(list, problems...)
	}
	list.Sort()
	return list
}

package validate

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
)

// Strays are the directories under workflows/ that hold no workflow.yaml, so that
// nothing runs them, sorted: one whose file has a wrong name would pass unseen.
// Hidden directories are none of ours. Each is a warning; where it is all that
// there is, and when it is asked for by name, the loader's error says the same.
func Strays(root fs.FS) (strays []Result) {
	const dir = "workflows"
	entries, _ := fs.ReadDir(root, dir) // whoever lists the workflows says that it cannot be read
	for _, e := range entries {
		place := path.Join(dir, e.Name())
		info, err := fs.Stat(root, place)
		if err != nil || !info.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		inside, err := fs.ReadDir(root, place)
		if err != nil || slices.ContainsFunc(inside, func(f fs.DirEntry) bool { return f.Name() == "workflow.yaml" }) {
			continue // a workflow, if maybe a broken one: the loader says it
		}
		d := diag.Diagnostic{
			Severity: diag.Warning, Code: string(diag.Missing), File: path.Join(place, "workflow.yaml"),
			Message: fmt.Sprintf("`%s` holds no workflow.yaml, so it is no workflow", place),
			Hint:    "add a workflow.yaml, or remove the directory",
		}
		if near := nearMiss(inside); near != "" {
			d.File = path.Join(place, near)
			d.Hint = fmt.Sprintf("rename `%s` to workflow.yaml", near)
		}
		strays = append(strays, Result{Workflow: e.Name(), Diagnostics: diag.List{d}})
	}
	return strays
}

// nearMiss is the file that was probably meant to be the workflow.yaml.
func nearMiss(files []fs.DirEntry) string {
	for _, f := range files {
		stem, yaml := strings.CutSuffix(strings.ToLower(f.Name()), ".yaml")
		if !yaml {
			stem, yaml = strings.CutSuffix(stem, ".yml")
		}
		if !f.IsDir() && yaml && diag.Nearest(stem, []string{"workflow", "workflows"}) != "" {
			return f.Name()
		}
	}
	return ""
}

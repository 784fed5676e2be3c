package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
)

// scriptUse is a script that a run may need, and where the document names it.
type scriptUse struct {
	path, dir, field string
	at               diag.Range
}

// scriptUses lists the machine's scripts in file order.
func (m *Machine) scriptUses() (uses []scriptUse) {
	for _, s := range m.States {
		field := Join("states", s.Slug)
		if s.Script != "" {
			uses = append(uses, scriptUse{s.Script, "scripts", Join(field, "script"), s.ScriptRange})
		}
		for i, h := range s.Before {
			uses = h.use(uses, Join(field, "before", strconv.Itoa(i)))
		}
		for i, h := range s.After {
			uses = h.use(uses, Join(field, "after", strconv.Itoa(i)))
		}
	}
	return uses
}

func (h *Hook) use(uses []scriptUse, field string) []scriptUse {
	if h.Script == "" {
		return uses
	}
	return append(uses, scriptUse{h.Script, "hooks", Join(field, "script"), h.Range})
}

// checkScripts checks that each script a run needs is a file inside its
// directory and imports nothing foreign.
func checkScripts(fsys fs.FS, m *Machine) diag.List {
	here := NewDecoder() // what is wrong in workflow.yaml
	var list diag.List
	read := map[string]bool{}
	base := path.Join(workflowsDir, m.Slug)
	for _, u := range m.scriptUses() {
		file := path.Join(base, u.path)
		src, err := readInside(fsys, file, path.Join(base, u.dir))
		var escape *escapeError
		switch {
		case errors.As(err, &escape):
			here.Errorf(diag.ScriptPath, u.at, u.field, "keep the script itself in the directory", "`%s` leaves the workflow's `%s/`: it is a link to `%s`", brief(u.path), u.dir, brief(escape.target))
			continue
		case errors.Is(err, fs.ErrNotExist):
			here.Errorf(diag.ScriptMissing, u.at, u.field, "create the file, or correct the path", "there is no file `%s`", file)
			continue
		case err != nil:
			here.Errorf(diag.ScriptMissing, u.at, u.field, "", "`%s` cannot be read: %s", file, cause(err))
			continue
		}
		if !read[file] {
			read[file] = true
			list = append(list, checkImports(file, src, u.field)...)
		}
	}
	return append(here.Diagnostics(m.File), list...)
}

func checkImports(file string, src []byte, field string) diag.List {
	d := NewDecoder()
	for _, im := range Imports(src) {
		if im.Allowed() {
			continue
		}
		what := fmt.Sprintf("`%s`", brief(im.From))
		if im.From == "" {
			what = "a computed module"
		}
		d.Errorf(diag.ScriptImport, im.Range, field, "use the sandbox's globals; only `archmax` and `@archmax-ai/harness/sandbox` may be imported, for their types",
			"the script asks for %s with %s, and scripts import nothing foreign", what, im.Form)
	}
	return d.Diagnostics(file)
}

// escapeError is a link that leads out of its directory.
type escapeError struct{ target string }

func (e *escapeError) Error() string { return "it links to " + e.target }

const maxLinks = 16

// readInside reads a file, following links only while they stay inside dir.
func readInside(fsys fs.FS, file, dir string) ([]byte, error) {
	if links, ok := fsys.(fs.ReadLinkFS); ok {
		var err error
		if file, err = resolve(links, file, dir); err != nil {
			return nil, err
		}
	}
	info, err := fs.Stat(fsys, file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	return fs.ReadFile(fsys, file)
}

func resolve(fsys fs.ReadLinkFS, file, dir string) (string, error) {
	for range maxLinks {
		link, rest := "", ""
		for at := range len(file) + 1 {
			if at < len(file) && file[at] != '/' || at <= len(dir)-1 {
				continue
			}
			info, err := fsys.Lstat(file[:at])
			if err != nil {
				return "", err
			}
			if info.Mode()&fs.ModeSymlink != 0 {
				link, rest = file[:at], file[at:]
				break
			}
		}
		if link == "" {
			return file, nil
		}
		target, err := fsys.ReadLink(link)
		if err != nil {
			return "", err
		}
		if path.IsAbs(target) || strings.Contains(target, "\\") {
			return "", &escapeError{target}
		}
		file = path.Join(path.Dir(link), target) + rest
		if link == dir || file != dir && !strings.HasPrefix(file, dir+"/") {
			return "", &escapeError{target}
		}
	}
	return "", errors.New("it is a chain of too many links")
}

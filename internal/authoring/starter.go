// Package authoring holds what archmax writes for authors: the starter
// workspace of `archmax init`, and the authoring skill for coding agents
// (`archmax skill`), which is put together from the tables that the loader's
// schema, the diagnostics and the rules are kept in. It writes files through an
// os.Root and never over one that is there.
package authoring

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
)

//go:embed all:starter
var starter embed.FS

// File is one file to be written; Path has slashes.
type File struct {
	Path    string
	Content []byte
}

// StarterWorkflow is the slug of the starter's workflow.
const StarterWorkflow = "feedback"

// StarterCassette is a cassette that the workflow runs with, offline, for
// StarterMessage.
const (
	StarterCassette = "workflows/feedback/tests/problem.cassette.yaml"
	StarterMessage  = "The export button does nothing since Monday."
)

// Starter are the files of a small workspace that validates strictly and runs
// offline, sorted by path.
func Starter() ([]File, error) { return filesIn(starter, "starter") }

// filesIn are the files of an embedded directory, sorted by path.
func filesIn(fsys embed.FS, dir string) ([]File, error) {
	var files []File
	err := fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fsys.ReadFile(name)
		if err != nil {
			return err
		}
		name = name[len(dir)+1:]
		if name == "gitignore" { // under its own name it would rule this repository
			name = ".gitignore"
		}
		files = append(files, File{name, content})
		return nil
	})
	slices.SortFunc(files, func(a, b File) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	return files, err
}

// WriteError says which file could not be written.
type WriteError struct {
	Path string
	Err  error
}

// Error names the file.
func (e *WriteError) Error() string { return fmt.Sprintf("cannot write %s: %s", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// Write writes the files that are not there yet into root, and returns which it
// wrote and which it kept. Places that cannot be written, such as links that lead
// out of root or nowhere, are found before anything is; with an error, a
// *WriteError, that comes later the files before it are written.
func Write(root *os.Root, files []File) (wrote, kept []string, err error) {
	for _, f := range files {
		if err := writable(root, f.Path); err != nil {
			return nil, nil, &WriteError{f.Path, err}
		}
	}
	for _, f := range files {
		if dir := path.Dir(f.Path); dir != "." {
			if err := root.MkdirAll(dir, 0o755); err != nil {
				return wrote, kept, &WriteError{f.Path, err}
			}
		}
		switch err := create(root, f); {
		case errors.Is(err, fs.ErrExist):
			kept = append(kept, f.Path)
		case err != nil:
			return wrote, kept, &WriteError{f.Path, err}
		default:
			wrote = append(wrote, f.Path)
		}
	}
	return wrote, kept, nil
}

// writable says what stands in the way of a file: a directory of its path that is
// no directory in root. Whatever is at the file's own place is kept.
func writable(root *os.Root, name string) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := root.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s is not a directory", dir)
		case err == nil:
		case !errors.Is(err, fs.ErrNotExist):
			return err
		default:
			if _, err := root.Lstat(dir); err == nil {
				return fmt.Errorf("%s is a link that leads nowhere", dir)
			}
		}
	}
	return nil
}

// create writes a new file; one that cannot be written whole is not left behind.
func create(root *os.Root, f File) error {
	out, err := root.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = out.Write(f.Content)
	err = errors.Join(err, out.Close())
	if err != nil {
		_ = root.Remove(f.Path) // half a file is worse than none
	}
	return err
}

package casetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// DraftOptions says which session a case is written from.
type DraftOptions struct {
	Store   session.Store
	Session string
	Machine *spec.Machine
	Runtime runtime.Options // as Options.Runtime: the case is run before it is handed out
	Name    string          // the case's id; "": derived from the session's
	Secrets []string        // what no file may hold
}

// Draft is a case written from a session: its document, its cassette, and the
// files that the session was given.
type Draft struct {
	Version  int         `json:"version"`
	Workflow string      `json:"workflow"`
	ID       string      `json:"id"`
	Session  string      `json:"sessionId"`
	Files    []DraftFile `json:"files"`
	Notes    []string    `json:"notes"` // what of the session is not in the case, and why
}

// DraftFile is one file; Path is relative to the root, with slashes.
type DraftFile struct {
	Path    string `json:"path"`
	Content []byte `json:"-"`
}

// caseName is a case's id: a path below tests/ that any file system holds.
var caseName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,79}(/[A-Za-z0-9][A-Za-z0-9._-]{0,79})*$`)

// FromSession writes a case from what a session's journal holds (spec: cases.md,
// "Running"): its arrivals as actions, its path as structural assertions, its
// model's answers as the cassette. Arrivals that no case can hold, such as a
// cancelled turn, end it there, and Notes say why. The case is run on the
// workflow as it is now: one that does not pass is an error. Nothing is written
// to the workspace. An *OptionError is a bad name.
func FromSession(ctx context.Context, o DraftOptions) (*Draft, error) {
	name := strings.TrimSuffix(strings.TrimSuffix(o.Name, ".yaml"), ".test")
	if name == "" {
		name = strings.Trim(notPlain.ReplaceAllString(strings.ToLower(o.Session), "-"), "-")
		name = strings.TrimRight(name[:min(len(name), 60)], "-")
	}
	if !caseName.MatchString(name) {
		return nil, &OptionError{fmt.Sprintf("%q cannot name a case; give a path below tests/ of letters, digits, '.', '_' and '-', such as refunds/approved", name)}
	}
	if root := session.Root(o.Session); root != o.Session {
		return nil, fmt.Errorf("session %s is the child of a call; a case is written from its root, %s", o.Session, root)
	}
	t, err := readTale(ctx, o)
	if err != nil {
		return nil, err
	}
	d := &Draft{Version: 1, Workflow: o.Machine.Slug, ID: name, Session: o.Session, Notes: []string{}}
	if err := t.tellable(d); err != nil {
		return nil, err
	}
	w := &writer{tale: t, draft: d, secrets: o.Secrets}
	if err := w.write(); err != nil {
		return nil, err
	}
	return d, d.holds(ctx, o)
}

// Write puts the files into the workspace and never overwrites one: when one is
// there, none is written.
func (d *Draft) Write(root *os.Root) error {
	taken := append([]DraftFile{{Path: path.Join(testsDir(d.Workflow), d.ID+".test.yml")}}, d.Files...)
	for _, f := range taken {
		if _, err := root.Lstat(filepath.FromSlash(f.Path)); err == nil {
			return fmt.Errorf("%s is there already and is not overwritten; give the case another name", f.Path)
		}
	}
	for i, f := range d.Files {
		if err := createIn(root, f); err != nil {
			for _, done := range d.Files[:i] {
				_ = root.Remove(filepath.FromSlash(done.Path)) // half a case is worse than none
			}
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%s is there already and is not overwritten; give the case another name", f.Path)
			}
			return fmt.Errorf("%s cannot be written: %s", f.Path, cause(err))
		}
	}
	return nil
}

func createIn(root *os.Root, f DraftFile) error {
	name := filepath.FromSlash(f.Path)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(f.Content)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = root.Remove(name) // half a file is worse than none
	}
	return err
}

// holds runs the drafted case, in a workspace that has it and no other case.
func (d *Draft) holds(ctx context.Context, o DraftOptions) error {
	temp, err := os.MkdirTemp("", "archmax-case-")
	if err != nil {
		return fmt.Errorf("the case cannot be tried: %s", cause(err))
	}
	defer os.RemoveAll(temp)
	root, err := os.OpenRoot(temp)
	if err != nil {
		return fmt.Errorf("the case cannot be tried: %s", cause(err))
	}
	defer root.Close()
	for _, f := range d.Files {
		if err := createIn(root, f); err != nil {
			return fmt.Errorf("the case cannot be tried: %s", cause(err))
		}
	}
	template := o.Runtime
	template.Root = drafted{base: o.Runtime.Root, draft: root.FS(), dir: testsDir(d.Workflow)}
	suite, err := Run(ctx, Options{Machine: o.Machine, Runtime: template})
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	res := suite.Results[0]
	if res.Status == Passed {
		return nil
	}
	return fmt.Errorf("what session %s did does not come out again on the workflow as it is now, so no case was written: %s", o.Session, res.why())
}

// drafted is a workspace whose tests of one workflow are the draft's alone.
type drafted struct {
	base, draft fs.FS
	dir         string
}

// Open implements fs.FS.
func (f drafted) Open(name string) (fs.File, error) {
	if name == f.dir || strings.HasPrefix(name, f.dir+"/") {
		return f.draft.Open(name)
	}
	return f.base.Open(name)
}

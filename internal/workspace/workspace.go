// Package workspace is what a session sees of the file system: its own folder
// and the workspace's mounts, laid over each other under one root, and the
// built-in file tools that work on them (specification: governance.md "Paths",
// "Skills", "Mounts"; runtime.md "Built-in file tools").
//
// Paths are canonical in governance's sense and stand for the same place there
// and here: the kernel decides who may use a path, this package makes sure that
// a path reaches nothing else. Every folder is opened once, as an os.Root or as
// a Files that somebody else confines; links and other spellings of a name are
// resolved or refused before a file is touched; .env* and .git of a mount and
// the runtime's areas are out of reach whatever the kernel said. What a session
// is told never holds a path of the host.
//
// Everything here may be used by several goroutines at once. The package starts
// none of its own. Changes of one file wait for each other (locks); reads wait
// for nothing, because a write replaces a file in one step.
package workspace

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/archmax-ai/archmax/internal/governance"
)

// maxFile is the most bytes that are held of one file, and the most text that a
// tool answers with.
const maxFile = 64 << 20

// Workspace is one session's view: its files, with the mounts over them.
type Workspace struct {
	shared *Shared
	files  Files
	// shape is held for writing while a file is removed, which may take empty
	// folders away, and for reading while one is written, which needs them.
	shape sync.RWMutex
}

// Session is the view of the session whose folder is files.
func (s *Shared) Session(files Files) *Workspace { return &Workspace{shared: s, files: files} }

// place is where a path leads.
type place struct {
	path  string // canonical
	mount *mount // nil: the session's own files
	files Files
	name  string // in files, links resolved
	real  string // the path whose file this is: another one after a link
}

// purpose is what a path is wanted for.
type purpose int

const (
	toRead purpose = iota
	toChange
)

// at finds the place of a path. It need not exist. The errors are *Error.
func (w *Workspace) at(given string, purpose purpose) (place, error) {
	canonical, err := governance.Canonical(given)
	if err != nil {
		return place{}, translate(given, err)
	}
	zone := governance.ZoneOf(canonical, w.shared.table)
	switch {
	case zone.Kind == governance.ZoneGovernance, zone.Kind == governance.ZoneInternal:
		return place{}, refuse(canonical, fs.ErrPermission, "belongs to the runtime and is not served")
	case zone.Hidden:
		return place{}, refuse(canonical, fs.ErrPermission, "is never served")
	case zone.Alias:
		return place{}, refuse(canonical, fs.ErrPermission, "%s", errSpelling)
	}
	if purpose == toChange {
		if err := w.checkChange(zone); err != nil {
			return place{}, err
		}
	}
	p := place{path: canonical, files: w.files, name: canonical}
	if zone.Mount != nil {
		p.mount = w.shared.mountOf(zone.Mount)
	}
	if p.mount != nil && p.mount.files == nil { // a row with nothing behind it
		if !w.leadsToMount(canonical) {
			return place{}, notFound(canonical)
		}
		p.mount = nil
	}
	if p.mount != nil {
		p.files, p.name = p.mount.files, zone.Rest
		switch {
		case p.mount.File && zone.Rest != "":
			return place{}, notFound(canonical)
		case p.mount.File:
			p.name = p.mount.base
		case zone.Rest == "":
			p.name = "."
		}
	}
	follow := p.mount != nil && !p.mount.File && purpose == toRead
	p.name, err = resolve(p.files, p.name, follow)
	if err != nil {
		return place{}, translate(canonical, err)
	}
	p.real = p.path
	if p.mount != nil && !p.mount.File {
		p.real = join(p.mount.Name, p.name)
		if neverServed(p.name) {
			return place{}, refuse(canonical, fs.ErrPermission, "is never served")
		}
	}
	return p, nil
}

// checkChange refuses to write or remove what the session only reads.
func (w *Workspace) checkChange(zone governance.Zone) error {
	switch {
	case zone.Kind == governance.ZoneAuthored:
		return refuse(zone.Path, fs.ErrPermission, "is in the mount %s, which is read-only; write under scratchpad/", zone.Mount.Name)
	case zone.Kind == governance.ZoneOffload:
		return refuse(zone.Path, fs.ErrPermission, "is written by the runtime alone; write under scratchpad/")
	case zone.Path == scratchpad, zone.Path == Attachments: // a file in their place would shut them for good
		return isDirectory(zone.Path)
	case w.leadsToMount(zone.Path), zone.Mount != nil && zone.Rest == "" && !zone.Mount.File:
		return isDirectory(zone.Path)
	case strings.ContainsFunc(zone.Path, unicode.IsControl):
		return refuse(zone.Path, nil, "holds a control character; leave it out")
	}
	return nil
}

// mountOf finds the open mount of a row of the table.
func (s *Shared) mountOf(row *governance.Mount) *mount {
	i := slices.IndexFunc(s.mounts, func(m *mount) bool { return m.Name == row.Name })
	return s.mounts[i]
}

// leadsToMount reports whether a path is a directory because a mount is below
// it.
func (w *Workspace) leadsToMount(canonical string) bool {
	return canonical == governance.Root || slices.ContainsFunc(w.shared.table, func(m governance.Mount) bool {
		return m.Name != canonical && under(m.Name, canonical)
	})
}

// Info describes a file or a directory of the workspace.
type Info struct {
	Path string // canonical
	Size int64  // bytes; 0 for a directory
	Dir  bool
}

// Stat describes what is at a path. The errors are *Error.
func (w *Workspace) Stat(path string) (Info, error) {
	p, err := w.at(path, toRead)
	if err != nil {
		return Info{}, err
	}
	info, err := p.stat()
	switch {
	case errors.Is(err, fs.ErrNotExist) && w.leadsToMount(p.path):
		return Info{Path: p.path, Dir: true}, nil
	case err != nil:
		return Info{}, err
	case info.IsDir():
		return Info{Path: p.path, Dir: true}, nil
	}
	return Info{Path: p.path, Size: info.Size()}, nil
}

// stat describes the place. Devices, pipes and sockets are refused: opening
// one could wait for ever.
func (p place) stat() (fs.FileInfo, error) {
	info, err := p.files.Stat(p.name)
	if err != nil {
		return nil, translate(p.path, err)
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, refuse(p.path, nil, "is not a regular file")
	}
	return info, nil
}

// open opens a file of the workspace.
func (p place) open() (fs.File, fs.FileInfo, error) {
	info, err := p.stat()
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		return nil, nil, isDirectory(p.path)
	}
	file, err := p.files.Open(p.name)
	if err != nil {
		return nil, nil, translate(p.path, err)
	}
	return file, info, nil
}

// read returns a whole file, up to maxFile bytes.
func (p place) read() ([]byte, error) {
	file, info, err := p.open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info.Size() > maxFile {
		return nil, refuse(p.path, nil, "holds %s, more than the %s that are handled at once", size(info.Size()), size(maxFile))
	}
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, translate(p.path, err)
	}
	if len(content) > maxFile {
		return nil, refuse(p.path, nil, "grew past the %s that are handled at once", size(maxFile))
	}
	return content, nil
}

// ReadFile returns the bytes of a file, at most 64 MiB. The errors are *Error.
func (w *Workspace) ReadFile(path string) ([]byte, error) {
	p, err := w.at(path, toRead)
	if err != nil {
		return nil, err
	}
	return p.read()
}

// WriteFile writes a file in one step, creating its folders. Without overwrite
// a file that is there is refused with fs.ErrExist. The errors are *Error.
func (w *Workspace) WriteFile(path string, content []byte, overwrite bool) error {
	p, err := w.at(path, toChange)
	if err != nil {
		return err
	}
	defer w.lock(p)()
	return w.write(p, content, overwrite)
}

// write writes a place whose lock is held.
func (w *Workspace) write(p place, content []byte, overwrite bool) error {
	switch info, err := p.stat(); {
	case err == nil && info.IsDir():
		return isDirectory(p.path)
	case err == nil && !overwrite:
		return exists(p.path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	w.shape.RLock()
	defer w.shape.RUnlock()
	err := p.files.Write(p.name, content, !overwrite)
	if errors.Is(err, fs.ErrExist) {
		return exists(p.path)
	}
	return translate(p.path, err)
}

func exists(path string) *Error {
	return refuse(path, fs.ErrExist, "already exists; set overwrite to replace it")
}

// RemoveFile removes a file. The errors are *Error.
func (w *Workspace) RemoveFile(path string) error {
	p, err := w.at(path, toChange)
	if err != nil {
		return err
	}
	defer w.lock(p)()
	return w.remove(p)
}

// remove removes a place whose lock is held.
func (w *Workspace) remove(p place) error {
	info, err := p.stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return refuse(p.path, ErrIsDirectory, "is a directory; remove its files one by one")
	}
	w.shape.Lock()
	defer w.shape.Unlock()
	return translate(p.path, p.files.Remove(p.name))
}

// lock takes the locks of places and returns what releases them.
func (w *Workspace) lock(places ...place) (unlock func()) {
	keys := make([]lockKey, len(places))
	for i, p := range places {
		keys[i] = lockKey{w, p.path}
		if p.mount != nil {
			keys[i].owner = w.shared
		}
	}
	return w.shared.locks.lock(keys...)
}

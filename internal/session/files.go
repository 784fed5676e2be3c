package session

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// RootFiles is a Files over a directory, held by one handle (os.Root): no name
// and no symbolic link leads out of it.
type RootFiles struct {
	dir   string
	root  *os.Root
	owned bool // a session's folder: private modes, checkpoints closed, links kept to their area
}

var _ Files = (*RootFiles)(nil)

// OpenFiles opens an existing directory, such as a mount. The handle lives
// until Close, or until the value is garbage.
func OpenFiles(dir string) (*RootFiles, error) { return openRoot(dir, false) }

func openRoot(dir string, owned bool) (*RootFiles, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, storeErr("read", dir, err)
	}
	return &RootFiles{dir: dir, root: root, owned: owned}, nil
}

// Close releases the handle.
func (f *RootFiles) Close() error { return f.root.Close() }

// Open opens a file or a directory for reading. Anything else (a pipe, a
// device) is refused, since opening it may block.
func (f *RootFiles) Open(name string) (fs.File, error) {
	fi, err := f.stat("open", name)
	if err != nil {
		return nil, err
	}
	if m := fi.Mode(); !m.IsRegular() && !m.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("neither a file nor a folder")}
	}
	return f.root.Open(filepath.FromSlash(name))
}

// Stat describes a file, through symbolic links that stay inside.
func (f *RootFiles) Stat(name string) (fs.FileInfo, error) { return f.stat("stat", name) }

func (f *RootFiles) stat(op, name string) (fs.FileInfo, error) {
	if err := f.check(op, name); err != nil {
		return nil, err
	}
	return f.root.Stat(filepath.FromSlash(name))
}

// ReadDir lists a directory, sorted by name.
func (f *RootFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	fi, err := f.stat("readdir", name)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: syscall.ENOTDIR}
	}
	d, err := f.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	list, err := d.ReadDir(-1)
	list = slices.DeleteFunc(list, func(e fs.DirEntry) bool { return isTemp(e.Name()) })
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// Write replaces the file: a synced temporary file beside it takes its name, so
// a reader sees the old content or the new, and a crash leaves one of the two.
func (f *RootFiles) Write(name string, content []byte, exclusive bool) error {
	if err := f.checkWrite("write", name); err != nil {
		return err
	}
	name = filepath.FromSlash(name)
	dirMode, mode := fs.FileMode(0o755), fs.FileMode(0o644)
	if f.owned {
		dirMode, mode = 0o700, 0o600
	}
	fi, err := f.root.Lstat(name)
	switch {
	case err == nil && exclusive:
		return &fs.PathError{Op: "write", Path: filepath.ToSlash(name), Err: fs.ErrExist}
	case err == nil && fi.IsDir():
		return &fs.PathError{Op: "write", Path: filepath.ToSlash(name), Err: syscall.EISDIR}
	case err == nil && fi.Mode().IsRegular() && !f.owned:
		mode = fi.Mode().Perm()
	}
	parent := filepath.Dir(name)
	if err := f.root.MkdirAll(parent, dirMode); err != nil {
		return err
	}
	temp := filepath.Join(parent, tempName())
	if err := f.fill(temp, content, mode); err != nil {
		_ = f.root.Remove(temp)
		return err
	}
	if exclusive {
		err = f.claim(temp, name)
	} else {
		err = retrySharing(func() error { return f.root.Rename(temp, name) })
	}
	if err != nil {
		_ = f.root.Remove(temp)
		return err
	}
	return f.syncDir(parent)
}

func (f *RootFiles) fill(temp string, content []byte, mode fs.FileMode) error {
	out, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	if err == nil {
		err = out.Sync()
	}
	return cmp.Or(err, out.Close())
}

// claim gives temp the name unless it is taken. A hard link does it in one
// step; where there are none, an empty file reserves the name first.
func (f *RootFiles) claim(temp, name string) error {
	err := f.root.Link(temp, name)
	if err == nil {
		return f.root.Remove(temp)
	}
	if errors.Is(err, fs.ErrExist) {
		return &fs.PathError{Op: "write", Path: filepath.ToSlash(name), Err: fs.ErrExist}
	}
	slot, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := slot.Close(); err != nil {
		return err
	}
	return retrySharing(func() error { return f.root.Rename(temp, name) })
}

func (f *RootFiles) syncDir(name string) error {
	if !dirsSync {
		return nil
	}
	d, err := f.root.Open(name)
	if err != nil {
		return err
	}
	return cmp.Or(d.Sync(), d.Close())
}

// Remove removes one file, then the parents that it leaves empty, up to the
// root or an area.
func (f *RootFiles) Remove(name string) error {
	if err := f.checkWrite("remove", name); err != nil {
		return err
	}
	fi, err := f.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	if fi.IsDir() {
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.EISDIR}
	}
	if err := retrySharing(func() error { return f.root.Remove(filepath.FromSlash(name)) }); err != nil {
		return err
	}
	parent := path.Dir(name)
	for parent != "." && !slices.Contains(Areas, parent) && f.root.Remove(filepath.FromSlash(parent)) == nil {
		parent = path.Dir(parent)
	}
	return f.syncDir(filepath.FromSlash(parent))
}

func (f *RootFiles) checkWrite(op, name string) error {
	if name == "." {
		return &fs.PathError{Op: op, Path: name, Err: syscall.EISDIR}
	}
	if f.owned && area(name) == "checkpoints" {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
	}
	return f.check(op, name)
}

// check refuses a name that is not canonical, and in a session's folder a
// symbolic link that leads from one area to another: the areas are closed
// against each other by name.
func (f *RootFiles) check(op, name string) error {
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\x00") || filepath.Separator != '/' && strings.ContainsRune(name, filepath.Separator) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if !f.owned || name == "." || !f.linked(name) {
		return nil
	}
	top, err := filepath.EvalSymlinks(f.dir)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(filepath.Join(f.dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) && op == "remove" {
		return nil // a dangling link may be removed
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	rel, err := filepath.Rel(top, real)
	if err != nil || area(filepath.ToSlash(rel)) != area(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
	}
	return nil
}

// linked reports whether a component of name is a symbolic link.
func (f *RootFiles) linked(name string) bool {
	for end := 0; end >= 0; {
		next := strings.IndexByte(name[end:], '/')
		if next < 0 {
			end = len(name)
		} else {
			end += next
		}
		fi, err := f.root.Lstat(filepath.FromSlash(name[:end]))
		if err != nil {
			return false
		}
		if fi.Mode()&fs.ModeSymlink != 0 {
			return true
		}
		if end == len(name) {
			return false
		}
		end++
	}
	return false
}

// area is a name's first segment.
func area(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

const tempPrefix, tempSuffix = ".archmax-", ".tmp"

func tempName() string { return tempPrefix + rand.Text() + tempSuffix }

// isTemp reports whether a name is a write's temporary file, which a killed
// process may have left behind.
func isTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// tree is a folder of the host behind an os.Root: the enforcement under every
// mount. It implements Files and fs.ReadLinkFS.
type tree struct {
	readable
	root *os.Root
}

// readable is what the file system of an os.Root offers.
type readable interface {
	fs.ReadDirFS
	fs.StatFS
	fs.ReadLinkFS
}

var _ interface {
	Files
	fs.ReadLinkFS
} = (*tree)(nil)

// openTree opens the folder of the host.
func openTree(dir string) (*tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	files, ok := root.FS().(readable)
	if !ok {
		return nil, errors.Join(errors.New("os.Root offers no links"), root.Close())
	}
	return &tree{readable: files, root: root}, nil
}

// tempPrefix starts the name of a file that is being written; such names are in
// no listing.
const tempPrefix = ".archmax-tmp-"

// temps numbers the temporary files of this process.
var temps atomic.Uint64

// Write replaces a file in one step: a temporary file beside it, synced, then
// renamed over it, then the folder synced.
func (t *tree) Write(name string, content []byte, exclusive bool) error {
	dir := path.Dir(name)
	made, err := t.makeDir(dir)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	switch info, err := t.root.Lstat(filepath.FromSlash(name)); {
	case err == nil && exclusive:
		return fs.ErrExist
	case err == nil && info.IsDir():
		return ErrIsDirectory
	case err == nil:
		mode = info.Mode().Perm()
	}
	temp, err := t.writeTemp(dir, content, mode)
	if err != nil {
		return err
	}
	if err := t.put(temp, name, exclusive); err != nil {
		_ = t.root.Remove(temp) // the first error says more
		return err
	}
	for t.syncDir(dir); made > 0; made-- {
		dir = path.Dir(dir)
		t.syncDir(dir)
	}
	return nil
}

// makeDir creates a directory with its parents and counts the new ones.
func (t *tree) makeDir(dir string) (made int, err error) {
	for d := dir; d != "."; d = path.Dir(d) {
		if _, err := t.root.Stat(filepath.FromSlash(d)); err == nil {
			break
		}
		made++
	}
	if made == 0 {
		return 0, nil
	}
	return made, t.root.MkdirAll(filepath.FromSlash(dir), 0o755)
}

// writeTemp writes and syncs a new file in dir.
func (t *tree) writeTemp(dir string, content []byte, mode fs.FileMode) (name string, err error) {
	var file *os.File
	for file == nil {
		name = filepath.FromSlash(path.Join(dir, fmt.Sprintf("%s%d-%d", tempPrefix, os.Getpid(), temps.Add(1))))
		file, err = t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil && !errors.Is(err, fs.ErrExist) { // there: left by a process of the same number
			return "", err
		}
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		_ = t.root.Remove(name)
	}
	return name, err
}

// put moves a written temporary file to its name.
func (t *tree) put(temp, name string, exclusive bool) error {
	name = filepath.FromSlash(name)
	if exclusive {
		switch err := t.root.Link(temp, name); { // a link never replaces
		case err == nil:
			return t.root.Remove(temp)
		case errors.Is(err, fs.ErrExist):
			return fs.ErrExist
		}
		// A file system without hard links: the check above has to do.
	}
	err := t.root.Rename(temp, name)
	for try := 0; err != nil && runtime.GOOS == "windows" && try < 20; try++ {
		time.Sleep(10 * time.Millisecond) // somebody reads the file; a sharing violation passes
		err = t.root.Rename(temp, name)
	}
	return err
}

// syncDir makes a rename in dir durable where directories can be synced.
func (t *tree) syncDir(dir string) {
	if d, err := t.root.Open(filepath.FromSlash(dir)); err == nil {
		_ = d.Sync() // the content is durable; not every system syncs a directory
		_ = d.Close()
	}
}

// Remove removes a file. Authored folders stay, even empty.
func (t *tree) Remove(name string) error {
	if err := t.root.Remove(filepath.FromSlash(name)); err != nil {
		return err
	}
	t.syncDir(path.Dir(name))
	return nil
}

func isTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

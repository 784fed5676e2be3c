package session

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// MemFiles is a Files in memory. Folders are those that hold a file.
type MemFiles struct {
	now   func() time.Time
	mu    sync.RWMutex
	files map[string]memFile
}

type memFile struct {
	content []byte // never changed, only replaced
	at      time.Time
}

var _ Files = (*MemFiles)(nil)

// emptyFiles is the folder of a session that is not there yet; nothing writes to it.
var emptyFiles = NewMemFiles(nil)

// NewMemFiles returns an empty folder. Now dates its files; nil is time.Now.
func NewMemFiles(now func() time.Time) *MemFiles {
	if now == nil {
		now = time.Now
	}
	return &MemFiles{now: now, files: map[string]memFile{}}
}

func pathErr(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// Open implements Files.
func (m *MemFiles) Open(name string) (fs.File, error) {
	info, err := m.Stat(name)
	if err != nil {
		err.(*fs.PathError).Op = "open"
		return nil, err
	}
	if info.IsDir() {
		list, err := m.ReadDir(name)
		return &memOpenDir{name: name, info: info, list: list}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return &memOpenFile{Reader: bytes.NewReader(m.files[name].content), info: info}, nil
}

// Stat implements Files.
func (m *MemFiles) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, pathErr("stat", name, fs.ErrInvalid)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if f, ok := m.files[name]; ok {
		return memInfo{name: path.Base(name), size: int64(len(f.content)), mode: 0o600, at: f.at}, nil
	}
	if name == "." || m.isDir(name) {
		return memInfo{name: path.Base(name), mode: fs.ModeDir | 0o700}, nil
	}
	return nil, pathErr("stat", name, fs.ErrNotExist)
}

func (m *MemFiles) isDir(name string) bool {
	for have := range m.files {
		if strings.HasPrefix(have, name+"/") {
			return true
		}
	}
	return false
}

// ReadDir implements Files.
func (m *MemFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	info, err := m.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, pathErr("readdir", name, syscall.ENOTDIR)
	}
	prefix := name + "/"
	if name == "." {
		prefix = ""
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	seen := map[string]memInfo{}
	for have, f := range m.files {
		rest, ok := strings.CutPrefix(have, prefix)
		if !ok {
			continue
		}
		if first, _, deeper := strings.Cut(rest, "/"); deeper {
			seen[first] = memInfo{name: first, mode: fs.ModeDir | 0o700}
		} else {
			seen[first] = memInfo{name: first, size: int64(len(f.content)), mode: 0o600, at: f.at}
		}
	}
	list := make([]fs.DirEntry, 0, len(seen))
	for _, info := range seen {
		list = append(list, fs.FileInfoToDirEntry(info))
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// Write implements Files.
func (m *MemFiles) Write(name string, content []byte, exclusive bool) error {
	if !fs.ValidPath(name) {
		return pathErr("write", name, fs.ErrInvalid)
	}
	if area(name) == "checkpoints" {
		return pathErr("write", name, fs.ErrPermission)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, there := m.files[name]; exclusive && (there || m.isDir(name)) {
		return pathErr("write", name, fs.ErrExist)
	}
	if name == "." || m.isDir(name) {
		return pathErr("write", name, syscall.EISDIR)
	}
	for up := path.Dir(name); up != "."; up = path.Dir(up) {
		if _, ok := m.files[up]; ok {
			return pathErr("write", name, syscall.ENOTDIR)
		}
	}
	m.files[name] = memFile{bytes.Clone(content), m.now()}
	return nil
}

// Remove implements Files.
func (m *MemFiles) Remove(name string) error {
	if !fs.ValidPath(name) {
		return pathErr("remove", name, fs.ErrInvalid)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.files[name]; !ok {
		if name == "." || m.isDir(name) {
			return pathErr("remove", name, syscall.EISDIR)
		}
		return pathErr("remove", name, fs.ErrNotExist)
	}
	delete(m.files, name)
	return nil
}

type memInfo struct {
	name string
	size int64
	mode fs.FileMode
	at   time.Time
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) Mode() fs.FileMode  { return i.mode }
func (i memInfo) ModTime() time.Time { return i.at }
func (i memInfo) IsDir() bool        { return i.mode.IsDir() }
func (i memInfo) Sys() any           { return nil }

type memOpenFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *memOpenFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *memOpenFile) Close() error               { return nil }

type memOpenDir struct {
	name string
	info fs.FileInfo
	list []fs.DirEntry
}

func (d *memOpenDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *memOpenDir) Close() error               { return nil }

func (d *memOpenDir) Read([]byte) (int, error) {
	return 0, pathErr("read", d.name, errors.New("it is a folder"))
}

// ReadDir implements fs.ReadDirFile.
func (d *memOpenDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.list) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.list) {
		n = len(d.list)
	}
	out := d.list[:n]
	d.list = d.list[n:]
	return out, nil
}

package session

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// faultFS is a file system in memory that fails on demand.
type faultFS struct {
	tb    testing.TB
	files map[string]*faultNode
	op    int // changes so far: writes, syncs, truncates, renames, removes

	failAt int   // the change that fails, counted from 1; 0 is none
	sticky bool  // so do all later ones
	err    error // with this error
	short  bool  // a failing write writes its first half
	failed string
}

type faultNode struct{ data, synced []byte }

func newFaultFS(tb testing.TB) *faultFS {
	return &faultFS{tb: tb, files: map[string]*faultNode{}, err: syscall.EIO}
}

// fault counts a change and says whether it fails.
func (f *faultFS) fault(what string) error {
	f.op++
	if f.failAt > 0 && (f.op == f.failAt || f.sticky && f.op > f.failAt) {
		if f.failed == "" {
			f.failed = what
		}
		return f.err
	}
	return nil
}

func (f *faultFS) Open(name string, flag int) (file, error) {
	n := f.files[name]
	if n == nil {
		if flag&os.O_CREATE == 0 {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		if err := f.fault("create"); err != nil {
			return nil, err
		}
		n = &faultNode{}
		f.files[name] = n
	}
	if flag&os.O_TRUNC != 0 {
		n.data = nil
	}
	return &faultFile{fs: f, node: n}, nil
}

func (f *faultFS) Rename(from, to string) error {
	if err := f.fault("rename"); err != nil {
		return err
	}
	f.files[to] = f.files[from]
	delete(f.files, from)
	return nil
}

func (f *faultFS) Remove(name string) error {
	if err := f.fault("remove"); err != nil {
		return err
	}
	if f.files[name] == nil {
		return fs.ErrNotExist
	}
	delete(f.files, name)
	return nil
}

func (f *faultFS) SyncDir(string) error { return f.fault("sync of a folder") }

type faultFile struct {
	fs       *faultFS
	node     *faultNode
	poisoned bool
	closed   bool
}

func (f *faultFile) use() {
	if f.closed {
		f.fs.tb.Error("a closed handle was used")
	}
}

func (f *faultFile) ReadAt(p []byte, off int64) (int, error) {
	f.use()
	return bytes.NewReader(f.node.data).ReadAt(p, off)
}

func (f *faultFile) WriteAt(p []byte, off int64) (int, error) {
	f.use()
	n, err := len(p), f.fs.fault("write")
	if err != nil {
		f.poisoned = true
		n = 0
		if f.fs.short {
			n = len(p) / 2
		}
	}
	if grow := int(off) + n - len(f.node.data); grow > 0 {
		f.node.data = append(f.node.data, make([]byte, grow)...)
	}
	f.node.data = bytes.Clone(f.node.data)
	copy(f.node.data[off:], p[:n])
	return n, err
}

func (f *faultFile) Sync() error {
	f.use()
	if f.poisoned {
		f.fs.tb.Error("a handle was synced after it had failed")
	}
	if err := f.fs.fault("sync"); err != nil {
		f.poisoned = true
		return err
	}
	f.node.synced = bytes.Clone(f.node.data)
	return nil
}

func (f *faultFile) Truncate(size int64) error {
	f.use()
	if err := f.fs.fault("truncate"); err != nil {
		return err
	}
	f.node.data = bytes.Clone(f.node.data[:size])
	return nil
}

func (f *faultFile) Size() (int64, error) {
	f.use()
	return int64(len(f.node.data)), nil
}

func (f *faultFile) Close() error {
	if f.closed {
		f.fs.tb.Error("a handle was closed twice")
	}
	f.closed = true
	return nil
}

var (
	_ file  = (*faultFile)(nil)
	_ error = io.ErrShortWrite
)

const faultDir = "store/s1/checkpoints"

func openFault(tb testing.TB, f *faultFS) (*journal, error) {
	j := newJournal(f, faultDir, "s1", tickingClock())
	return j, j.open()
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

package session

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"
)

// file is what the journal asks of an open file.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
}

// fsys is what the journal asks of a file system. Tests inject a faulty one.
type fsys interface {
	Open(name string, flag int) (file, error)
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(name string) error
}

// dirsSync is false where a directory cannot be synced.
const dirsSync = runtime.GOOS != "windows"

// osFS is the operating system's.
type osFS struct{}

func (osFS) Open(name string, flag int) (file, error) {
	f, err := os.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Rename(from, to string) error {
	return retrySharing(func() error { return os.Rename(from, to) })
}

func (osFS) Remove(name string) error {
	return retrySharing(func() error { return os.Remove(name) })
}

// SyncDir makes the names in a directory durable.
func (osFS) SyncDir(name string) error {
	if !dirsSync {
		return nil
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return cmp.Or(d.Sync(), d.Close())
}

type osFile struct{ *os.File }

func (f osFile) Sync() error { return syncData(f.File) }

func (f osFile) Size() (int64, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

// retrySharing repeats what Windows refuses while another process has the file
// open for a moment. Elsewhere it runs do once.
func retrySharing(do func() error) error {
	err := do()
	if runtime.GOOS != "windows" {
		return err
	}
	for range 20 {
		if err == nil || !errors.Is(err, fs.ErrPermission) && !sharingViolation(err) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
		err = do()
	}
	return err
}

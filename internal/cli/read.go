package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/archmax-ai/archmax/internal/model"
)

// The most that is read of what a command line names. A larger one is a
// mistake (a device, a log file), and no model takes it.
const (
	maxText     = 16 << 20          // a message, variables as JSON
	maxFile     = 64 << 20          // a file for the session, or of the workspace: what a session may hold
	maxCassette = model.MaxCassette // a cassette
)

// await runs f until it returns or ctx ends, whichever is first: opening and
// reading a FIFO or a terminal blocks for as long as its other end likes. When
// ctx ends first, f is left behind; the process ends soon after.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	case r := <-done:
		return r.value, r.err
	}
}

// readAll reads r to its end, which may be at most limit bytes away.
func readAll(ctx context.Context, r io.Reader, limit int64) ([]byte, error) {
	return await(ctx, func() ([]byte, error) { return bounded(r, limit) })
}

// readFile reads a file or a FIFO of at most limit bytes.
func readFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	return await(ctx, func() ([]byte, error) {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if what := noFile(path, info); what != "" {
			return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New(what)}
		}
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return bounded(file, limit)
	})
}

func bounded(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		return nil, fmt.Errorf("it is larger than %d MiB, the most that is read of it", limit>>20)
	}
	return b, err
}

// noFile says what stands at path in place of something to read, "" when it can
// be read: a regular file, a FIFO, the null device, or standard input by its
// name.
func noFile(path string, info fs.FileInfo) string {
	stdin, err := os.Stdin.Stat()
	isStdin := err == nil && os.SameFile(info, stdin)
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "it is a directory, not a file"
	case mode&fs.ModeSocket != 0:
		return "it is a socket, not a file"
	case mode&fs.ModeDevice != 0 && !isStdin && path != os.DevNull:
		return "it is a device, not a file"
	}
	return ""
}

// rootFS is a directory for reading, like os.DirFS, but that a file is read to a
// limit, and no longer than until ctx ends.
type rootFS struct {
	fs.FS
	ctx context.Context
	dir string
}

func newRootFS(ctx context.Context, dir string) fs.FS { return rootFS{os.DirFS(dir), ctx, dir} }

// ReadFile implements fs.ReadFileFS.
func (f rootFS) ReadFile(name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	return readFile(f.ctx, filepath.Join(f.dir, filepath.FromSlash(name)), maxFile)
}

// ReadDir implements fs.ReadDirFS.
func (f rootFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }

// Stat implements fs.StatFS.
func (f rootFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.FS, name) }

// ReadLink implements fs.ReadLinkFS.
func (f rootFS) ReadLink(name string) (string, error) { return fs.ReadLink(f.FS, name) }

// Lstat implements fs.ReadLinkFS.
func (f rootFS) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(f.FS, name) }

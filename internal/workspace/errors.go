package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"unicode"

	"github.com/archmax-ai/archmax/internal/governance"
)

// Error says why a path could not be used. It is one line, quotes the path as
// the session knows it, and never names a path of the host. errors.Is finds
// fs.ErrNotExist, fs.ErrExist and fs.ErrPermission where they are the cause.
type Error struct {
	Path    string // canonical, or as given when it has no canonical form
	Problem string // follows the path in a sentence
	cause   error
}

// Error is "'path' problem".
func (e *Error) Error() string { return fmt.Sprintf("'%s' %s", oneLine(e.Path), e.Problem) }

// oneLine replaces the control characters of a text.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// Unwrap gives the kind of problem, nil when it has none.
func (e *Error) Unwrap() error { return e.cause }

// ErrIsDirectory is the cause of an Error about a directory where a file was
// needed.
var ErrIsDirectory = errors.New("is a directory")

// refuse words a problem of ours with a path.
func refuse(path string, cause error, format string, args ...any) *Error {
	if path == governance.Root {
		path = "/" // as the tools' descriptions call it
	}
	return &Error{Path: path, Problem: fmt.Sprintf(format, args...), cause: cause}
}

// isDirectory refuses a directory where a file was needed.
func isDirectory(path string) *Error {
	return refuse(path, ErrIsDirectory, "is a directory, not a file")
}

// notFound refuses what is not there.
func notFound(path string) *Error {
	return refuse(path, fs.ErrNotExist, "does not exist; ls lists what does")
}

// translate words an error of the file system for the session: the path the
// session used instead of the host's, our words instead of the library's.
func translate(path string, err error) error {
	var ours *Error
	var bad *governance.PathError
	var errno syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &bad):
		return refuse(bad.Path, nil, "%s", bad.Problem)
	case errors.Is(err, errLink), errors.Is(err, errLeaves), errors.Is(err, errSpelling):
		return refuse(path, fs.ErrPermission, "%s", err)
	case errors.Is(err, syscall.ENOTDIR):
		return refuse(path, fs.ErrNotExist, "cannot exist: a part of its path is a file")
	case errors.Is(err, syscall.EISDIR):
		return isDirectory(path)
	case errors.Is(err, fs.ErrNotExist):
		return notFound(path)
	case errors.Is(err, fs.ErrExist):
		return refuse(path, fs.ErrExist, "already exists")
	case errors.Is(err, syscall.ENOSPC):
		return refuse(path, err, "was not written: the disk is full")
	case errors.Is(err, syscall.EROFS):
		return refuse(path, fs.ErrPermission, "is on a read-only file system")
	case errors.Is(err, fs.ErrPermission):
		return refuse(path, fs.ErrPermission, "may not be used: the operating system denies permission")
	case errors.Is(err, fs.ErrInvalid):
		return refuse(path, fs.ErrInvalid, "is no name that the file system can hold")
	case errors.Is(err, syscall.ENAMETOOLONG):
		return refuse(path, nil, "is too long a name")
	case errors.As(err, &errno): // the system's own words hold no path
		return refuse(path, errno, "could not be used: %s", errno)
	default: // unknown words might name a path of the host
		return refuse(path, nil, "could not be used: the operating system refused it")
	}
}

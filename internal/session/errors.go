package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ErrPoisoned is what every call of a writer fails with once its journal could
// not be brought back to its last committed frame.
var ErrPoisoned = errors.New("the session's journal cannot be written any more; run the command again")

// DamagedError says that a journal cannot be trusted: bytes before a later
// committed frame are not what was written, or nothing of it was ever
// committed. Nothing was changed.
type DamagedError struct {
	File   string
	Line   int    // 1-based; 0 when no line is to blame
	Seq    uint64 // of the record expected there
	Reason string
}

func (e DamagedError) Error() string {
	return fmt.Sprintf("%s:%d: the journal is damaged at record %d: %s; nothing was changed; restore the file from a backup, or delete the session", e.File, e.Line, e.Seq, e.Reason)
}

// VersionError says that a journal holds records of a newer program.
type VersionError struct {
	File string
	Seq  uint64
	V    int  // version of the record
	Kind Kind // set when the version is known but the kind is not
}

func (e VersionError) Error() string {
	if e.Kind != "" {
		return fmt.Sprintf("%s:%d: record %d is of kind %q, which journal version %d as this archmax knows it does not have; a newer archmax wrote it and is needed to use the session", e.File, e.Seq, e.Seq, string(e.Kind), e.V)
	}
	return fmt.Sprintf("%s:%d: record %d has journal version %d, and this archmax reads version %d; an archmax with journal version %d is needed to use the session", e.File, e.Seq, e.Seq, e.V, Version, e.V)
}

// TakenError says that a session which did not exist when it was opened has
// been created by another process since. Nothing was written.
type TakenError struct{ ID string }

func (e TakenError) Error() string {
	return fmt.Sprintf("session %s was just created by another process; run the command again to reach it", e.ID)
}

// SpecNotFoundError says that no governing spec is stored under the hash.
type SpecNotFoundError struct{ Hash string }

func (e SpecNotFoundError) Error() string {
	return fmt.Sprintf("the spec with hash %s is not stored in _specs/; the turn that ran under it did so in another store", e.Hash)
}

// StoreError says that a folder could not be read or written.
type StoreError struct {
	Do   string // "write", "read", "delete"
	Path string
	Err  error
}

func (e *StoreError) Unwrap() error { return e.Err }

func (e *StoreError) Error() string {
	return fmt.Sprintf("cannot %s %s: %s", e.Do, e.Path, plainReason(e.Err))
}

// plainReason words a file system's error for a person, with what to do next.
func plainReason(err error) string {
	const windowsDiskFull = syscall.Errno(112)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), os.PathSeparator == '\\' && errors.Is(err, windowsDiskFull):
		return "the disk is full; free some space there, then run the command again"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only; name a folder that can be written with --sessions"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied; change the folder's owner or mode, or name another with --sessions"
	case errors.Is(err, syscall.ENOTDIR):
		return "a file stands where a folder is needed; move it away, or name another folder with --sessions"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "too many open files; raise the limit (ulimit -n) or run fewer sessions at once"
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// storeErr wraps a file system's error; nil stays nil, and errors that already
// are ours stay as they are.
func storeErr(do, path string, err error) error {
	var own *StoreError
	if err == nil || errors.As(err, &own) {
		return err
	}
	return &StoreError{do, path, err}
}

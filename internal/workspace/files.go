package workspace

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// Files is a rooted tree of files that cannot be escaped: a session's folder,
// or the folder behind a mount. Names are slash-separated, relative and
// canonical; "." is the root. It must be safe for concurrent use. A session's
// tree that has an Lstat(name) (fs.FileInfo, error) spares its directories
// being listed to find links.
type Files interface {
	fs.ReadDirFS
	fs.StatFS
	// Write replaces the file atomically (temp, fsync, rename), creating
	// parents. With exclusive it fails with fs.ErrExist when the file is there.
	Write(name string, content []byte, exclusive bool) error
	// Remove removes one file. It may take away parent directories that it
	// leaves empty.
	Remove(name string) error
}

// noFiles is the session of nobody: an empty tree.
type noFiles struct{}

func (noFiles) Open(string) (fs.File, error)          { return nil, fs.ErrNotExist }
func (noFiles) ReadDir(string) ([]fs.DirEntry, error) { return nil, fs.ErrNotExist }
func (noFiles) Stat(string) (fs.FileInfo, error)      { return nil, fs.ErrNotExist }
func (noFiles) Write(string, []byte, bool) error      { return fs.ErrPermission }
func (noFiles) Remove(string) error                   { return fs.ErrNotExist }

// Why a name does not lead to a file, beside what the operating system says.
var (
	errLink     = errors.New("goes through a symbolic link, which is not followed here")
	errLeaves   = errors.New("is a symbolic link that leaves its folder, which is refused")
	errSpelling = errors.New("is an existing file in another spelling; use the spelling that ls shows")
)

// maxLinks bounds how many links one name may go through, as Linux does.
const maxLinks = 40

// resolve follows the links of name and returns the name without them. What
// does not exist is taken as it stands. Without follow a link is refused.
// The tree itself confines every access; resolving beforehand shows which file
// a name means, so that no link, and on a system that ignores case or Unicode
// form no other spelling, gets around a rule about paths.
func resolve(files Files, name string, follow bool) (string, error) {
	done, rest, links := ".", strings.Split(name, "/"), 0
	for len(rest) > 0 {
		segment := rest[0]
		rest = rest[1:]
		switch segment {
		case "", ".":
			continue
		case "..": // of a link's target; done has no links, so its parent is lexical
			if done == "." {
				return "", errLeaves
			}
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, segment)
		kind, err := typeOf(files, next)
		if errors.Is(err, fs.ErrNotExist) {
			return path.Join(append([]string{next}, rest...)...), nil
		}
		if err != nil {
			return "", err
		}
		if err := checkSpelling(files, done, segment); err != nil {
			return "", err
		}
		if kind != fs.ModeSymlink {
			done = next
			continue
		}
		linked, ok := files.(fs.ReadLinkFS)
		if !follow || !ok {
			return "", errLink
		}
		target, err := linked.ReadLink(next)
		if err != nil {
			return "", err
		}
		if links++; links > maxLinks || filepath.IsAbs(target) {
			return "", errLeaves
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	return done, nil
}

// typeOf is the type of what a name is, links not followed.
func typeOf(files Files, name string) (fs.FileMode, error) {
	if direct, ok := files.(interface {
		Lstat(name string) (fs.FileInfo, error)
	}); ok {
		info, err := direct.Lstat(name)
		if err != nil {
			return 0, err
		}
		return info.Mode().Type(), nil
	}
	entry, err := entryOf(files, path.Dir(name), path.Base(name))
	if err != nil {
		return 0, err
	}
	if entry != nil {
		return entry.Type(), nil
	}
	info, err := files.Stat(name) // another spelling of what is there, or nothing
	if err != nil {
		return 0, err
	}
	return info.Mode().Type(), nil
}

// checkSpelling refuses a segment that the file system takes for a file of
// another name. Where swapping the case of its letters leads nowhere, the
// system tells names apart and nothing needs to be listed.
func checkSpelling(files Files, dir, segment string) error {
	swapped, ascii := swapCase(segment)
	if ascii {
		if swapped == segment {
			return nil
		}
		if _, err := files.Stat(path.Join(dir, swapped)); err != nil {
			return nil
		}
	}
	entry, err := entryOf(files, dir, segment)
	if err != nil {
		return err
	}
	if entry == nil {
		return errSpelling
	}
	return nil
}

// entryOf finds the entry of a directory with exactly this name, or nil.
func entryOf(files Files, dir, name string) (fs.DirEntry, error) {
	entries, err := files.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name() == name {
			return e, nil
		}
	}
	return nil, nil
}

// swapCase exchanges capital and small ASCII letters and reports whether s is
// ASCII.
func swapCase(s string) (string, bool) {
	ascii := true
	swapped := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			return r ^ 0x20
		case r >= 0x80:
			ascii = false
		}
		return r
	}, s)
	return swapped, ascii
}

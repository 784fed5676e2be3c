package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// exposure knows the real places of what no mount may show: the authoring
// plane, the sessions, the configuration and the secrets.
type exposure struct {
	root   string
	places []hiddenPlace
}

type hiddenPlace struct {
	path string // real and absolute; the end of it need not exist
	what string
}

func newExposure(root string, guard Guard) exposure {
	e := exposure{root: realPath(root)}
	workflows := filepath.Join(root, "workflows")
	e.add(workflows, "workflows/")
	for _, linked := range linksIn(workflows, 2) {
		e.add(linked, "what workflows/ links to")
	}
	e.add(filepath.Join(root, "archmax.yaml"), "archmax.yaml")
	e.add(filepath.Join(root, ".env"), ".env")
	sessions := guard.Sessions
	if sessions == "" {
		sessions = filepath.Join(root, "sessions")
	}
	e.add(sessions, "the sessions directory")
	for _, file := range guard.Files {
		e.add(file, filepath.Base(file))
	}
	return e
}

func (e *exposure) add(host, what string) {
	e.places = append(e.places, hiddenPlace{realPath(host), what})
}

// shows says what a mount of the real path would show, "" when nothing hidden.
// Paths overlap in either direction: a mount in a hidden place, and a hidden
// place in a mount.
func (e exposure) shows(configured, actual string) string {
	for _, p := range e.places {
		if inside(actual, p.path) || inside(p.path, actual) {
			return p.what
		}
	}
	names := []string{filepath.Base(actual)}
	if !filepath.IsAbs(configured) {
		names = append(names, filepath.ToSlash(configured))
	}
	if rel, err := filepath.Rel(e.root, actual); err == nil {
		names = append(names, filepath.ToSlash(rel))
	}
	for _, name := range names {
		if neverServed(name) {
			return "a .git or a .env"
		}
	}
	return ""
}

// inside reports whether a real path is dir or below it. Directories are
// compared by identity where they exist, so that no other spelling and no bind
// mount of one passes for another.
func inside(host, dir string) bool {
	want, err := os.Stat(dir)
	for p := host; ; p = filepath.Dir(p) {
		if p == dir {
			return true
		}
		if err == nil {
			if info, err := os.Stat(p); err == nil && os.SameFile(info, want) {
				return true
			}
		}
		if filepath.Dir(p) == p {
			return false
		}
	}
}

// realPath is the absolute path without links; what does not exist is taken as
// it stands.
func realPath(host string) string {
	host, err := filepath.Abs(host)
	if err != nil {
		return filepath.Clean(host)
	}
	missing := ""
	for p := host; ; p = filepath.Dir(p) {
		actual, err := filepath.EvalSymlinks(p)
		if err == nil {
			return filepath.Join(actual, missing)
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(p) == p {
			return host
		}
		missing = filepath.Join(filepath.Base(p), missing)
	}
}

// linksIn lists the symbolic links in a directory, down to a depth: workflows
// and their files may be links to where they are kept.
func linksIn(dir string, depth int) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // not there, or not ours to read: then no mount shows it either
	}
	var links []string
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			links = append(links, p)
		case e.IsDir() && depth > 1 && !strings.HasPrefix(e.Name(), "."):
			links = append(links, linksIn(p, depth-1)...)
		}
	}
	return links
}

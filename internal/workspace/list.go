package workspace

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/archmax-ai/archmax/internal/governance"
)

// entry is a file or a directory in a listing.
type entry struct {
	place
	name string
	dir  bool
	link bool
}

// list lists a directory, sorted by name: what its folder holds, and the mounts
// in it. What the session must not see of either is left out; who may see an
// entry is for the caller to ask.
func (w *Workspace) list(dir string) ([]entry, error) {
	p, err := w.at(dir, toRead)
	if err != nil {
		return nil, err
	}
	return w.listAt(p)
}

func (w *Workspace) listAt(p place) ([]entry, error) {
	byName := map[string]entry{}
	if p.path == governance.Root && w.files != (noFiles{}) {
		// The working area is there before its first file is.
		child := place{path: scratchpad, real: scratchpad, files: p.files, name: scratchpad}
		byName[scratchpad] = entry{place: child, name: scratchpad, dir: true}
	}
	if err := w.readDir(p, byName); err != nil && !w.mayBeMissing(p, err) {
		return nil, err
	}
	for _, m := range w.shared.mounts {
		if m.Name == p.path || !under(m.Name, p.path) {
			continue
		}
		rest := strings.TrimPrefix(strings.TrimPrefix(m.Name, p.path), "/")
		if p.path == governance.Root {
			rest = m.Name
		}
		name, below, _ := strings.Cut(rest, "/")
		child, err := w.at(join(p.path, name), toRead)
		if err != nil {
			continue // the mount's folder has gone
		}
		byName[name] = entry{place: child, name: name, dir: below != "" || !m.File}
	}
	entries := make([]entry, 0, len(byName))
	for _, e := range byName {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return entries, nil
}

// mayBeMissing reports whether a directory is one without a folder of its own:
// a session area before its first file, or one that exists for a mount.
func (w *Workspace) mayBeMissing(p place, err error) bool {
	if !errors.Is(err, fs.ErrNotExist) || p.mount != nil {
		return false
	}
	return slices.Contains(sessionAreas, p.path) || w.leadsToMount(p.path)
}

// sessionAreas are the areas of a session that it may look into.
var sessionAreas = []string{scratchpad, largeResults, "conversation_history"}

const (
	scratchpad   = "scratchpad"
	largeResults = "large_tool_results"
)

// readDir adds what the folder of a place holds.
func (w *Workspace) readDir(p place, byName map[string]entry) error {
	info, err := p.stat()
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return refuse(p.path, nil, "is a file, not a directory")
	}
	found, err := p.files.ReadDir(p.name)
	if err != nil {
		return translate(p.path, err)
	}
	for _, d := range found {
		if e, ok := w.entry(p, d); ok {
			byName[e.name] = e
		}
	}
	return nil
}

// entry turns one thing in the folder of a place into an entry, unless it is
// not to be seen.
func (w *Workspace) entry(dir place, d fs.DirEntry) (entry, bool) {
	name := d.Name()
	if !fs.ValidPath(name) || isTemp(name) || strings.ContainsFunc(name, unicode.IsControl) || strings.Contains(name, `\`) {
		return entry{}, false // no path of a session could name it
	}
	child := place{path: join(dir.path, name), real: join(dir.real, name), mount: dir.mount, files: dir.files, name: join(dir.name, name)}
	zone := governance.ZoneOf(child.path, w.shared.table)
	switch {
	case zone.Kind == governance.ZoneGovernance, zone.Kind == governance.ZoneInternal, zone.Hidden, zone.Alias:
		return entry{}, false
	case (zone.Mount == nil) != (dir.mount == nil), zone.Mount != nil && zone.Mount.Name != dir.mount.Name:
		return entry{}, false // a mount is over it
	case d.Type()&fs.ModeSymlink != 0:
		return w.linkEntry(child.path, name)
	case !d.IsDir() && !d.Type().IsRegular():
		return entry{}, false
	}
	return entry{place: child, name: name, dir: d.IsDir()}, true
}

// linkEntry is the entry of a link that may be followed and leads somewhere.
func (w *Workspace) linkEntry(path, name string) (entry, bool) {
	p, err := w.at(path, toRead)
	if err != nil {
		return entry{}, false
	}
	info, err := p.stat()
	if err != nil {
		return entry{}, false
	}
	return entry{place: p, name: name, dir: info.IsDir(), link: true}, true
}

// maxFound bounds how many files one search looks at.
const maxFound = 200_000

// find lists every file below a directory, sorted by path. Linked directories
// are not entered. A mount that is not searchable is passed over unless the
// directory is in it.
func (w *Workspace) find(ctx context.Context, dir place) ([]entry, error) {
	var found []entry
	todo := []place{dir}
	for len(todo) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		here := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		entries, err := w.listAt(here)
		if err != nil {
			if here.path == dir.path {
				return nil, err
			}
			continue // it went, or may not be read: nothing in it can be found
		}
		for _, e := range entries {
			switch {
			case !e.dir:
				found = append(found, e)
			case e.link:
			case e.mount != nil && e.mount != dir.mount && !e.mount.Searchable:
			default:
				todo = append(todo, e.place)
			}
		}
		if len(found) > maxFound {
			return nil, refuse(dir.path, nil, "holds more than %d files; search in a directory below it", maxFound)
		}
	}
	slices.SortFunc(found, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return found, nil
}

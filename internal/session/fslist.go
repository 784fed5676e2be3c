package session

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// folders returns the names of the store's session folders. Names that begin
// with an underscore are the store's own.
func (s *FSStore) folders() ([]string, error) {
	list, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, storeErr("read", s.dir, err)
	}
	var names []string
	for _, e := range list {
		if e.IsDir() && !strings.HasPrefix(e.Name(), "_") && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// List implements Store.
func (s *FSStore) List(ctx context.Context) ([]Entry, error) {
	names, err := s.folders()
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(names))
	var g errgroup.Group
	g.SetLimit(2 * runtime.GOMAXPROCS(0))
	for i, name := range names {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			entries[i] = s.entry(name)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	kept := entries[:0]
	for _, e := range entries {
		if e.ID != "" {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

// entry reads a folder's session; the zero Entry is a folder without one.
func (s *FSStore) entry(folder string) Entry {
	dir := filepath.Join(s.dir, folder, "checkpoints")
	name := filepath.Join(dir, journalName)
	var state *State
	err := s.read(context.Background(), name, func(f file, size int64) error {
		var at mark
		var ok bool
		if state, at, ok = readSnapshot(s.fs, dir, f); !ok {
			state = NewState()
		}
		_, _, err := scan(name, f, size, at, func(recs []Record) error {
			return foldRecords(name, state, recs)
		})
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Entry{}
	case err == nil && Folder(state.Session) != folder:
		err = strangerError(name, state.Session)
	}
	if err != nil {
		return Entry{ID: s.idOf(folder), Err: err}
	}
	if state.Status == StatusRunning && !s.atWork(state.Session) {
		state.Status = StatusInterrupted
	}
	return Entry{ID: state.Session, Control: &state.Control}
}

// idOf returns the id of a folder whose journal cannot be folded: what its
// first record says when that names this folder, else the folder's name.
func (s *FSStore) idOf(folder string) string {
	if id, ok := s.firstID(folder); ok && Folder(id) == folder {
		return id
	}
	return folder
}

// firstID reads the true id from a journal's first record.
func (s *FSStore) firstID(folder string) (string, bool) {
	f, err := s.fs.Open(filepath.Join(s.dir, folder, "checkpoints", journalName), os.O_RDONLY)
	if err != nil {
		return "", false
	}
	defer f.Close()
	buf := make([]byte, 16<<10) // a first record is small
	n, _ := f.ReadAt(buf, 0)
	line, _, ok := bytes.Cut(buf[:n], []byte("\n"))
	if !ok {
		return "", false
	}
	if cut, _, _, commits := commitOf(line); commits {
		line = append(line[:cut], '}')
	}
	rec, err := decodeRecord(line)
	if err != nil {
		return "", false
	}
	created, ok := rec.Body.(*Created)
	if !ok {
		return "", false
	}
	return created.Session, true
}

// Delete implements Store. Children go first, so a delete that was killed half
// way can be made again.
func (s *FSStore) Delete(ctx context.Context, id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	folder := Folder(id)
	if !s.exists(id) {
		// A listing calls a session by its folder when its id cannot be read.
		if fi, err := os.Stat(filepath.Join(s.dir, id, "checkpoints", journalName)); !strings.HasPrefix(id, "%") || strings.ContainsAny(id, `/\`) || err != nil || fi.Size() == 0 {
			return NotFoundError{id}
		}
		folder = id
	}
	root := Root(id)
	h, joined, err := s.reserve(id)
	if err != nil {
		return err
	}
	defer s.unreserve(h, id)
	if joined { // the caller runs in this process
		return s.busy(id)
	}
	lockIn := Folder(root)
	if root == id {
		lockIn = folder
	}
	h.dir = filepath.Join(s.dir, lockIn)
	switch err := h.take(ctx, s.now()); {
	case errors.Is(err, errBusy):
		return s.busy(id)
	case errors.Is(err, fs.ErrNotExist) && root != id:
		// The root is gone, so nothing can run its child.
	case errors.Is(err, fs.ErrNotExist):
		return NotFoundError{id}
	case err != nil:
		return storeErr("delete", h.dir, err)
	}
	children, err := s.descendants(id)
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := s.discardFolder(h, child); err != nil {
			return err
		}
	}
	return s.discardFolder(h, folder)
}

// descendants returns the folders of the sessions that id called, directly or
// not. Those of a plain id have plain names; the others hold their ids inside.
func (s *FSStore) descendants(id string) ([]string, error) {
	names, err := s.folders()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		child := name
		if strings.HasPrefix(name, "%") {
			child, _ = s.firstID(name)
		}
		if strings.HasPrefix(child, id+"~") && CheckID(child) == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// discard removes the folder of a session that was never created.
func (s *FSStore) discard(h *hold, id string) error { return s.discardFolder(h, Folder(id)) }

// discardFolder moves a folder to _trash, where it is no session any more, and
// then removes it.
func (s *FSStore) discardFolder(h *hold, folder string) error {
	dir, trash := filepath.Join(s.dir, folder), filepath.Join(s.dir, "_trash")
	if dir == h.dir && runtime.GOOS == "windows" {
		h.release() // an open file holds its folder in place there
	}
	away := filepath.Join(trash, folder+"-"+rand.Text())
	for { // another delete may remove the trash in between
		if err := os.MkdirAll(trash, 0o700); err != nil {
			return storeErr("delete", dir, err)
		}
		err := s.fs.Rename(dir, away)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return storeErr("delete", dir, err)
		}
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	if dir == h.dir {
		h.gone()
	}
	if err := s.fs.SyncDir(s.dir); err != nil {
		return storeErr("delete", dir, err)
	}
	if err := os.RemoveAll(away); err != nil {
		return storeErr("delete", away, err)
	}
	s.emptyTrash(trash)
	return nil
}

// emptyTrash removes what deletes that were killed left, as far as it can:
// nothing in there is a session any more, and the next delete tries again.
func (s *FSStore) emptyTrash(trash string) {
	list, _ := os.ReadDir(trash)
	for _, e := range list {
		_ = os.RemoveAll(filepath.Join(trash, e.Name()))
	}
	_ = os.Remove(trash) // unless another delete is using it
}

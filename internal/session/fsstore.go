package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// FSStore keeps sessions in a folder, one folder each (spec: sessions.md,
// "Layout"). It may be used by many goroutines, and the folder by many
// processes of one machine; network file systems are not supported.
type FSStore struct {
	dir string
	fs  fsys
	now func() time.Time

	mu    sync.Mutex
	holds map[string]*hold // by root id
}

var _ Store = (*FSStore)(nil)

// NewFSStore returns the store in dir, which is made when the first session is.
// Now is the clock of records; nil is time.Now.
func NewFSStore(dir string, now func() time.Time) *FSStore {
	if now == nil {
		now = time.Now
	}
	return &FSStore{dir: dir, fs: osFS{}, now: now, holds: map[string]*hold{}}
}

// Dir is the store's folder.
func (s *FSStore) Dir() string { return s.dir }

// SessionDir is the folder of a session, for a person or a host tool.
func (s *FSStore) SessionDir(id string) string { return filepath.Join(s.dir, Folder(id)) }

func (s *FSStore) checkpoints(id string) string {
	return filepath.Join(s.SessionDir(id), "checkpoints")
}

func (s *FSStore) exists(id string) bool {
	fi, err := os.Stat(filepath.Join(s.checkpoints(id), journalName))
	return err == nil && fi.Size() > 0
}

// reserve registers a writer of id within this process. A child joins the hold
// of a session that called it; anything else needs a hold of its own.
func (s *FSStore) reserve(id string) (h *hold, joined bool, err error) {
	root := Root(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	h = s.holds[root]
	if h == nil {
		h = newHold(root, s.SessionDir(root))
		s.holds[root] = h
		h.open[id] = true
		return h, false, nil
	}
	if !h.open[id] {
		for up := Parent(id); up != ""; up = Parent(up) {
			if h.open[up] {
				h.open[id] = true
				return h, true, nil
			}
		}
	}
	return nil, false, s.busy(id)
}

// unreserve takes the writer of id off its hold, whose last one releases the
// lock.
func (s *FSStore) unreserve(h *hold, id string) {
	s.mu.Lock()
	delete(h.open, id)
	last := len(h.open) == 0
	s.mu.Unlock()
	if !last {
		return
	}
	h.release()
	s.mu.Lock()
	delete(s.holds, h.root)
	s.mu.Unlock()
}

func (s *FSStore) busy(id string) error {
	root := Root(id)
	info, _ := readInfo(s.SessionDir(root))
	return BusyError{ID: root, PID: info.PID, Host: info.Host, Since: info.Since}
}

// Open implements Store.
func (s *FSStore) Open(ctx context.Context, id string, create bool) (Writer, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	h, joined, err := s.reserve(id)
	if err != nil {
		return nil, err
	}
	w := &fsWriter{store: s, hold: h, id: id, journal: newJournal(s.fs, s.checkpoints(id), id, s.now)}
	if err := w.open(ctx, create, joined); err != nil {
		s.unreserve(h, id)
		return nil, err
	}
	return w, nil
}

// lockExisting takes the lock of a root session that is there.
func (s *FSStore) lockExisting(ctx context.Context, h *hold) error {
	if !s.exists(h.root) {
		return NotFoundError{h.root}
	}
	err := h.take(ctx, s.now())
	switch {
	case errors.Is(err, errBusy) && s.exists(h.root):
		return s.busy(h.root)
	case errors.Is(err, errBusy), errors.Is(err, fs.ErrNotExist):
		return NotFoundError{h.root} // deleted meanwhile
	case err != nil:
		return storeErr("write", s.checkpoints(h.root), err)
	case !s.exists(h.root):
		return NotFoundError{h.root}
	}
	return nil
}

// atWork reports whether a process holds the session's lock.
func (s *FSStore) atWork(id string) bool {
	root := Root(id)
	s.mu.Lock()
	h := s.holds[root]
	s.mu.Unlock()
	if h != nil {
		h.mu.Lock()
		held := h.lock != nil
		h.mu.Unlock()
		if held {
			return true
		}
	}
	return lockHeld(s.SessionDir(root))
}

// Load implements Store.
func (s *FSStore) Load(ctx context.Context, id string) (*State, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	var state *State
	name := filepath.Join(s.checkpoints(id), journalName)
	err := s.read(ctx, name, func(f file, size int64) (err error) {
		state, _, _, err = foldJournal(name, id, f, size)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, NotFoundError{id}
	}
	if err != nil {
		return nil, err
	}
	if state.Status == StatusRunning && !s.atWork(id) {
		state.Status = StatusInterrupted
	}
	return state, nil
}

// read gives a journal to do. What looks damaged is read again: a writer may
// have cut a torn tail and appended while it was being read.
func (s *FSStore) read(ctx context.Context, name string, do func(f file, size int64) error) (err error) {
	for try := range 3 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if try > 0 {
			time.Sleep(5 * time.Millisecond)
		}
		err = s.readOnce(name, do)
		var damaged DamagedError
		if !errors.As(err, &damaged) {
			return err
		}
	}
	return err
}

func (s *FSStore) readOnce(name string, do func(f file, size int64) error) error {
	f, err := s.fs.Open(name, os.O_RDONLY)
	if err != nil {
		return storeErr("read", name, err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return storeErr("read", name, err)
	}
	if size == 0 {
		return fs.ErrNotExist
	}
	return do(f, size)
}

// errStop ends a scan whose reader has enough.
var errStop = errors.New("stop")

// Records implements Store. A snapshot before from saves reading what it covers.
func (s *FSStore) Records(ctx context.Context, id string, from uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if err := CheckID(id); err != nil {
			yield(Record{}, err)
			return
		}
		next := max(from, 1)
		dir := s.checkpoints(id)
		name := filepath.Join(dir, journalName)
		err := s.read(ctx, name, func(f file, size int64) error {
			var start mark
			if _, at, ok := readSnapshot(s.fs, dir, f); ok && at.seq < next {
				start = at
			}
			_, _, err := scan(name, f, size, start, func(recs []Record) error {
				for _, rec := range recs {
					if rec.Seq < next {
						continue
					}
					next = rec.Seq + 1
					if ctx.Err() != nil {
						return ctx.Err()
					}
					if !yield(rec, nil) {
						return errStop
					}
				}
				return nil
			})
			return err
		})
		if errors.Is(err, fs.ErrNotExist) {
			err = NotFoundError{id}
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(Record{}, err)
		}
	}
}

// Files implements Store.
func (s *FSStore) Files(_ context.Context, id string) (Files, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	if !s.exists(id) {
		return nil, NotFoundError{id}
	}
	return openRoot(s.SessionDir(id), true)
}

var specHash = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)

func badHash(hash string) error {
	return fmt.Errorf("%q is no spec hash; it is made of letters, digits, - and _", hash)
}

func (s *FSStore) specPath(hash string) (string, error) {
	if !specHash.MatchString(hash) {
		return "", badHash(hash)
	}
	return filepath.Join(s.dir, "_specs", hash+".json"), nil
}

// PutSpec implements Store.
func (s *FSStore) PutSpec(hash string, canonical []byte) error {
	path, err := s.specPath(hash)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return storeErr("write", dir, err)
	}
	files, err := openRoot(dir, true)
	if err != nil {
		return err
	}
	defer files.Close()
	if err := files.Write(filepath.Base(path), canonical, true); err != nil && !errors.Is(err, fs.ErrExist) {
		return storeErr("write", path, err)
	}
	return storeErr("write", s.dir, s.fs.SyncDir(s.dir))
}

// Spec implements Store.
func (s *FSStore) Spec(hash string) ([]byte, error) {
	path, err := s.specPath(hash)
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, SpecNotFoundError{hash}
	}
	return raw, storeErr("read", path, err)
}

// Cancel implements Store.
func (s *FSStore) Cancel(_ context.Context, id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	root := Root(id)
	if !s.exists(id) {
		return NotFoundError{id}
	}
	s.mu.Lock()
	h := s.holds[root]
	s.mu.Unlock()
	if h != nil {
		h.cancel()
		return nil
	}
	dir := s.SessionDir(root)
	if !lockHeld(dir) {
		return IdleError{id}
	}
	info, ok := readInfo(dir)
	if !ok {
		return IdleError{id} // it ended between the two looks
	}
	marker := filepath.Join(dir, "checkpoints", cancelName)
	temp := marker + "." + strings.ToLower(info.Token)
	if err := os.WriteFile(temp, []byte(info.Token), 0o600); err != nil {
		return storeErr("write", temp, err)
	}
	if err := s.fs.Rename(temp, marker); err != nil {
		_ = os.Remove(temp)
		return storeErr("write", marker, err)
	}
	return nil
}

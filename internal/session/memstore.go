package session

import (
	"bytes"
	"context"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
)

// MemStore keeps sessions in memory, for --ephemeral and for tests. It behaves
// like FSStore, but that nothing outlives it.
type MemStore struct {
	now func() time.Time

	mu       sync.Mutex
	sessions map[string]*memSession
	specs    map[string][]byte
	holds    map[string]*memHold // by root id
}

type memSession struct {
	records []Record // bodies are never changed
	files   *MemFiles
	prompts map[string][]byte
}

type memHold struct {
	info      lockInfo
	open      map[string]bool
	cancelled chan struct{}
	isCancel  bool
}

var _ Store = (*MemStore)(nil)

// NewMemStore returns an empty store. Now is the clock of records; nil is
// time.Now.
func NewMemStore(now func() time.Time) *MemStore {
	if now == nil {
		now = time.Now
	}
	return &MemStore{now: now, sessions: map[string]*memSession{}, specs: map[string][]byte{}, holds: map[string]*memHold{}}
}

// Open implements Store.
func (s *MemStore) Open(_ context.Context, id string, create bool) (Writer, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	root := Root(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[id] == nil && !create {
		if h := s.holds[root]; h != nil && h.open[id] {
			return nil, s.busy(id)
		}
		return nil, NotFoundError{id}
	}
	h := s.holds[root]
	if h != nil && !h.joinable(id) {
		return nil, s.busy(id)
	}
	if h == nil {
		if root != id && s.sessions[root] == nil {
			return nil, NotFoundError{root}
		}
		host, _ := os.Hostname()
		h = &memHold{
			info: lockInfo{PID: os.Getpid(), Host: host, Since: s.now()},
			open: map[string]bool{}, cancelled: make(chan struct{}),
		}
	}
	w := &memWriter{store: s, hold: h, id: id, state: NewState(), session: s.sessions[id]}
	if w.session == nil {
		w.session = &memSession{files: NewMemFiles(s.now)}
	}
	if err := foldRecords(id, w.state, w.session.records); err != nil {
		return nil, err
	}
	s.holds[root] = h
	h.open[id] = true
	return w, nil
}

// joinable reports whether id is not open and a session that called it is.
func (h *memHold) joinable(id string) bool {
	if h.open[id] {
		return false
	}
	for up := Parent(id); up != ""; up = Parent(up) {
		if h.open[up] {
			return true
		}
	}
	return false
}

func (s *MemStore) busy(id string) error {
	root := Root(id)
	info := s.holds[root].info
	return BusyError{ID: root, PID: info.PID, Host: info.Host, Since: info.Since}
}

// records returns the records that are there now.
func (s *MemStore) records(id string) ([]Record, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[id] == nil {
		return nil, NotFoundError{id}
	}
	return s.sessions[id].records, nil
}

// Load implements Store.
func (s *MemStore) Load(_ context.Context, id string) (*State, error) {
	recs, err := s.records(id)
	if err != nil {
		return nil, err
	}
	state := NewState()
	if err := foldRecords(id, state, recs); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if state.Status == StatusRunning && s.holds[Root(id)] == nil {
		state.Status = StatusInterrupted
	}
	return state, nil
}

// Records implements Store.
func (s *MemStore) Records(ctx context.Context, id string, from uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		recs, err := s.records(id)
		if err != nil {
			yield(Record{}, err)
			return
		}
		for _, rec := range recs[min(max(from, 1)-1, uint64(len(recs))):] {
			if ctx.Err() != nil {
				yield(Record{}, ctx.Err())
				return
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// List implements Store.
func (s *MemStore) List(ctx context.Context) ([]Entry, error) {
	s.mu.Lock()
	var ids []string
	for id := range s.sessions {
		ids = append(ids, id)
	}
	s.mu.Unlock()
	slices.Sort(ids)
	var out []Entry
	for _, id := range ids {
		state, err := s.Load(ctx, id)
		if err != nil {
			continue // deleted meanwhile
		}
		out = append(out, Entry{ID: id, Control: &state.Control})
	}
	return out, ctx.Err()
}

// Delete implements Store.
func (s *MemStore) Delete(_ context.Context, id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[id] == nil {
		return NotFoundError{id}
	}
	if s.holds[Root(id)] != nil {
		return s.busy(id)
	}
	for have := range s.sessions {
		if have == id || strings.HasPrefix(have, id+"~") {
			delete(s.sessions, have)
		}
	}
	return nil
}

// Files implements Store.
func (s *MemStore) Files(_ context.Context, id string) (Files, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[id] == nil {
		return nil, NotFoundError{id}
	}
	return s.sessions[id].files, nil
}

// PutSpec implements Store.
func (s *MemStore) PutSpec(hash string, canonical []byte) error {
	if !specHash.MatchString(hash) {
		return badHash(hash)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.specs[hash] == nil {
		s.specs[hash] = bytes.Clone(canonical)
	}
	return nil
}

// Spec implements Store.
func (s *MemStore) Spec(hash string) ([]byte, error) {
	if !specHash.MatchString(hash) {
		return nil, badHash(hash)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.specs[hash] == nil {
		return nil, SpecNotFoundError{hash}
	}
	return bytes.Clone(s.specs[hash]), nil
}

// Cancel implements Store.
func (s *MemStore) Cancel(_ context.Context, id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[id] == nil {
		return NotFoundError{id}
	}
	h := s.holds[Root(id)]
	if h == nil {
		return IdleError{id}
	}
	if !h.isCancel {
		h.isCancel = true
		close(h.cancelled)
	}
	return nil
}

// memWriter is an open session of a MemStore.
type memWriter struct {
	store   *MemStore
	hold    *memHold
	id      string
	session *memSession

	mu     sync.Mutex
	state  *State
	closed bool
}

// State implements Writer.
func (w *memWriter) State() *State { return w.state }

// Files implements Writer.
func (w *memWriter) Files() Files { return w.session.files }

// Cancelled implements Writer.
func (w *memWriter) Cancelled() <-chan struct{} { return w.hold.cancelled }

// Snapshot implements Writer; there is nothing to save.
func (w *memWriter) Snapshot() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errClosed
	}
	return nil
}

// Append implements Writer.
func (w *memWriter) Append(bodies ...Body) ([]event.Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, errClosed
	}
	if len(bodies) == 0 {
		return nil, nil
	}
	_, recs, err := encodeFrame(w.state.Seq+1, w.store.now(), bodies)
	if err != nil {
		return nil, err
	}
	events, err := foldNew(w.state, recs)
	if err != nil {
		*w.state = *NewState()
		if foldRecords(w.id, w.state, w.session.records) != nil {
			w.closed = true
		}
		return nil, err
	}
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	w.session.records = append(w.session.records, recs...)
	w.store.sessions[w.id] = w.session
	return events, nil
}

// Close implements Writer.
func (w *memWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	delete(w.hold.open, w.id)
	if len(w.hold.open) == 0 {
		delete(w.store.holds, Root(w.id))
	}
	return nil
}

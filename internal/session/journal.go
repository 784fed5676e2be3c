package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
)

const (
	journalName  = "journal.jsonl"
	snapshotName = "snapshot.json"
	lockName     = "lock"
	infoName     = "lock.info"
	cancelName   = "cancel"

	// snapshotEvery is how many records may follow a snapshot.
	snapshotEvery = 256
)

// journal is a session's journal, open for appending under the writer's lock.
// It is not safe for concurrent use.
type journal struct {
	fs    fsys
	dir   string // checkpoints/
	id    string
	now   func() time.Time
	file  file // nil before the first frame of a new session
	last  mark
	state *State

	snapped uint64 // seq that the snapshot on disk covers, 0 without one
	dead    error  // set when the journal could not be brought back
}

func newJournal(fs fsys, dir, id string, now func() time.Time) *journal {
	return &journal{fs: fs, dir: dir, id: id, now: now, state: NewState()}
}

func (j *journal) name() string { return filepath.Join(j.dir, journalName) }

// open reads the journal and makes what it read durable. An uncommitted tail is
// cut off. Without a journal the error is fs.ErrNotExist.
func (j *journal) open() error {
	f, err := j.fs.Open(j.name(), os.O_RDWR)
	if err != nil {
		return storeErr("write", j.name(), err)
	}
	if err := j.attach(f); err != nil {
		f.Close()
		return err
	}
	if _, at, ok := readSnapshot(j.fs, j.dir, f); ok {
		j.snapped = at.seq
	}
	return nil
}

func (j *journal) attach(f file) error {
	size, err := f.Size()
	if err != nil {
		return storeErr("read", j.name(), err)
	}
	if size == 0 {
		return fs.ErrNotExist
	}
	state, last, torn, err := foldJournal(j.name(), j.id, f, size)
	if err != nil {
		return err
	}
	if torn {
		if err := f.Truncate(last.end); err != nil {
			return storeErr("write", j.name(), err)
		}
	}
	// The process before may have been killed between its write and its sync,
	// and after its first frame, before the folder was synced.
	if err := f.Sync(); err != nil {
		return storeErr("write", j.name(), err)
	}
	if last.start == 0 {
		if err := j.syncDirs(); err != nil {
			return err
		}
	}
	*j.state = *state
	j.file, j.last = f, last
	return nil
}

// foldJournal folds the committed frames of the session's journal.
func foldJournal(name, id string, f file, size int64) (*State, mark, bool, error) {
	state := NewState()
	last, torn, err := scan(name, f, size, mark{}, func(recs []Record) error {
		return foldRecords(name, state, recs)
	})
	if err == nil && state.Seq > 0 && state.Session != id {
		err = strangerError(name, state.Session)
	}
	return state, last, torn, err
}

func strangerError(name, id string) error {
	return DamagedError{File: name, Line: 1, Seq: 1, Reason: fmt.Sprintf("the folder holds the journal of session %q; name the folder %q again", id, Folder(id))}
}

func foldRecords(name string, state *State, recs []Record) error {
	for _, rec := range recs {
		if _, err := state.Apply(rec); err != nil {
			return DamagedError{File: name, Line: int(rec.Seq), Seq: rec.Seq, Reason: err.Error()}
		}
	}
	return nil
}

// appending is one frame on its way into the journal.
type appending struct {
	bodies []Body
	recs   []Record
	events []event.Event
	err    error
	done   bool
}

// commit appends the frames with one write and one sync. Every one of them has
// happened or has an error; after an error the state is that of the last
// committed frame.
func (j *journal) commit(batch []*appending) {
	var bytes []byte
	var taken []*appending
	last := j.last
	for _, a := range batch {
		a.done = true
		if a.err = j.dead; a.err != nil {
			continue
		}
		frame, recs, err := encodeFrame(last.seq+1, j.now(), a.bodies)
		if err != nil {
			a.err = err
			continue
		}
		a.recs = recs
		// What the fold refuses must never be written: the journal could not be
		// opened again.
		if a.events, err = foldNew(j.state, recs); err != nil {
			a.err, a.events = err, nil
			j.dead = j.refold(taken)
			continue
		}
		_, _, crc, _ := commitOf(frame[:len(frame)-1])
		last = mark{seq: last.seq + uint64(len(recs)), start: last.end, end: last.end + int64(len(frame)), crc: crc}
		bytes = append(bytes, frame...)
		taken = append(taken, a)
	}
	if len(taken) == 0 {
		return
	}
	if err := j.write(bytes); err != nil {
		err = j.recover(err)
		for _, a := range taken {
			a.err, a.events = err, nil
		}
		return
	}
	j.last = last
	if last.seq-j.snapped >= snapshotEvery {
		_ = j.snapshot() // disposable; the next one may succeed
	}
}

func foldNew(state *State, recs []Record) (events []event.Event, err error) {
	for _, rec := range recs {
		out, err := state.Apply(rec)
		if err != nil {
			return nil, fmt.Errorf("the step contradicts the session: %w", err)
		}
		events = append(events, out...)
	}
	return events, nil
}

// write makes the frames durable at the journal's end.
func (j *journal) write(frames []byte) error {
	if j.file == nil {
		return j.create(frames)
	}
	if _, err := j.file.WriteAt(frames, j.last.end); err != nil {
		return err
	}
	return j.file.Sync()
}

// create makes the journal with its first frames. It appears under its name
// only when they are whole and synced, so no half-created session is ever seen.
func (j *journal) create(frames []byte) error {
	temp := filepath.Join(j.dir, tempPrefix+"journal"+tempSuffix)
	f, err := j.fs.Open(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(frames, 0)
	if err == nil {
		err = f.Sync()
	}
	if err = cmp.Or(err, f.Close()); err != nil {
		_ = j.fs.Remove(temp)
		return err
	}
	if err := j.fs.Rename(temp, j.name()); err != nil {
		_ = j.fs.Remove(temp)
		return err
	}
	if err := j.syncDirs(); err != nil {
		return err
	}
	f, err = j.fs.Open(j.name(), os.O_RDWR)
	if err != nil {
		return err
	}
	j.file = f
	return nil
}

// syncDirs makes the journal's name durable, up to the store's folder.
func (j *journal) syncDirs() error {
	session := filepath.Dir(j.dir)
	for _, dir := range []string{j.dir, session, filepath.Dir(session)} {
		if err := j.fs.SyncDir(dir); err != nil {
			return storeErr("write", dir, err)
		}
	}
	return nil
}

// recover brings the journal back to its last committed frame after a failed
// write or sync. The failed handle is never synced again: what the system
// still holds of it is unknown. When that fails too the journal is dead.
func (j *journal) recover(cause error) error {
	cause = storeErr("write", j.name(), cause)
	if j.file != nil {
		j.file.Close()
		j.file = nil
	}
	if err := j.restore(); err != nil {
		j.dead = fmt.Errorf("%w: %w", ErrPoisoned, cause)
		return j.dead
	}
	return cause
}

func (j *journal) restore() error {
	if j.last.seq == 0 { // the session's first frame: there is no session
		*j.state = *NewState()
		if err := j.fs.Remove(j.name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	f, err := j.fs.Open(j.name(), os.O_RDWR)
	if err != nil {
		return err
	}
	if err := j.cutBack(f); err != nil {
		f.Close()
		return err
	}
	return nil
}

func (j *journal) cutBack(f file) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	if size < j.last.end {
		return fmt.Errorf("the journal has lost committed bytes")
	}
	if err := f.Truncate(j.last.end); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	state, last, _, err := foldJournal(j.name(), j.id, f, j.last.end)
	if err != nil {
		return err
	}
	if last != j.last {
		return fmt.Errorf("the journal has lost committed frames")
	}
	*j.state = *state
	j.file = f
	return nil
}

// refold rebuilds the state from the journal and the frames taken since.
func (j *journal) refold(taken []*appending) error {
	state := NewState()
	if j.file != nil {
		var err error
		if state, _, _, err = foldJournal(j.name(), j.id, j.file, j.last.end); err != nil {
			return fmt.Errorf("%w: %w", ErrPoisoned, err)
		}
	}
	for _, a := range taken {
		if _, err := foldNew(state, a.recs); err != nil {
			return fmt.Errorf("%w: %w", ErrPoisoned, err)
		}
	}
	*j.state = *state
	return nil
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}

package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/archmax-ai/archmax/internal/event"
)

// fsWriter is an open session of an FSStore. Appends queue up; whoever gets the
// commit lock first commits all that are queued, with one write and one sync.
type fsWriter struct {
	store *FSStore
	hold  *hold
	id    string

	queueMu sync.Mutex
	queue   []*appending

	commitMu sync.Mutex // held while the journal is used; guards what follows
	journal  *journal
	made     bool // the folder is there
	closed   bool

	filesMu sync.Mutex
	files   *RootFiles
}

var errClosed = errors.New("the session is closed")

func (w *fsWriter) dir() string { return w.store.SessionDir(w.id) }

func (w *fsWriter) open(ctx context.Context, create, joined bool) error {
	root := w.hold.root
	if !joined {
		err := w.store.lockExisting(ctx, w.hold)
		var missing NotFoundError
		if errors.As(err, &missing) && create && w.id == root {
			return nil // prepared
		}
		if err != nil {
			return err
		}
	}
	err := w.journal.open()
	if errors.Is(err, fs.ErrNotExist) {
		if create {
			return nil
		}
		return NotFoundError{w.id}
	}
	w.made = err == nil
	return err
}

// State implements Writer.
func (w *fsWriter) State() *State { return w.journal.state }

// Cancelled implements Writer.
func (w *fsWriter) Cancelled() <-chan struct{} { return w.hold.cancelled }

// Append implements Writer.
func (w *fsWriter) Append(bodies ...Body) ([]event.Event, error) {
	if len(bodies) == 0 {
		return nil, nil
	}
	a := &appending{bodies: bodies}
	w.queueMu.Lock()
	w.queue = append(w.queue, a)
	w.queueMu.Unlock()

	w.commitMu.Lock()
	defer w.commitMu.Unlock()
	if a.done { // committed by the one before
		return a.events, a.err
	}
	w.queueMu.Lock()
	batch := w.queue
	w.queue = nil
	w.queueMu.Unlock()
	if err := w.ready(); err != nil {
		for _, a := range batch {
			a.done, a.err = true, err
		}
		return nil, err
	}
	w.journal.commit(batch)
	w.hold.watch()
	return a.events, a.err
}

func (w *fsWriter) ready() error {
	if w.closed {
		return errClosed
	}
	return w.make()
}

// make creates the folder of a new session and takes its lock. The session is
// there once its journal is.
func (w *fsWriter) make() error {
	if w.made {
		return nil
	}
	// A delete, or another process that prepared the same session and gave it
	// up, may take the folder away in between.
	err := w.claim()
	for tries := 0; errors.Is(err, fs.ErrNotExist) && tries < 20; tries++ {
		err = w.claim()
	}
	if errors.Is(err, errBusy) {
		return w.store.busy(w.id)
	}
	if err != nil {
		return storeErr("write", w.hold.dir, err)
	}
	if w.store.exists(w.id) {
		return TakenError{w.id}
	}
	if err := w.sweep(); err != nil {
		return err
	}
	w.made = true
	return nil
}

// claim makes the folders of the session and of its root, and takes the lock.
func (w *fsWriter) claim() error {
	for _, dir := range []string{w.hold.dir, w.dir()} {
		if err := os.MkdirAll(filepath.Join(dir, "checkpoints"), 0o700); err != nil {
			return err
		}
	}
	return w.hold.take(context.Background(), w.store.now())
}

// sweep removes what a process that was killed before its first frame left in
// the folder.
func (w *fsWriter) sweep() error {
	list, err := os.ReadDir(w.dir())
	if err != nil {
		return storeErr("read", w.dir(), err)
	}
	for _, e := range list {
		if e.Name() == "checkpoints" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(w.dir(), e.Name())); err != nil {
			return storeErr("delete", w.dir(), err)
		}
	}
	return nil
}

// Snapshot implements Writer.
func (w *fsWriter) Snapshot() error {
	w.commitMu.Lock()
	defer w.commitMu.Unlock()
	if w.closed {
		return errClosed
	}
	return w.journal.snapshot()
}

// Close implements Writer. A session that was prepared and never appended to
// leaves nothing behind.
func (w *fsWriter) Close() error {
	w.commitMu.Lock()
	if w.closed {
		w.commitMu.Unlock()
		return nil
	}
	w.closed = true
	err := w.journal.close()
	w.filesMu.Lock()
	if w.files != nil {
		err = cmp.Or(err, w.files.Close())
		w.files = nil
	}
	w.filesMu.Unlock()
	if w.made && w.journal.last.seq == 0 && w.journal.dead == nil {
		err = cmp.Or(err, w.store.discard(w.hold, w.id))
	}
	w.commitMu.Unlock()
	w.store.unreserve(w.hold, w.id)
	if err != nil {
		return fmt.Errorf("session %s was not closed cleanly: %w", w.id, err)
	}
	return nil
}

// Files implements Writer.
func (w *fsWriter) Files() Files { return writerFiles{w} }

// writerFiles is the folder of an open session. A new session's is empty until
// the first write makes it.
type writerFiles struct{ w *fsWriter }

// root returns the handle of the folder, nil when there is none yet.
func (f writerFiles) root(create bool) (*RootFiles, error) {
	w := f.w
	w.commitMu.Lock()
	if w.closed {
		w.commitMu.Unlock()
		return nil, errClosed
	}
	var err error
	if create {
		err = w.make()
	}
	made := w.made
	w.commitMu.Unlock()
	if err != nil || !made {
		return nil, err
	}
	w.filesMu.Lock()
	defer w.filesMu.Unlock()
	if w.files == nil {
		if w.files, err = openRoot(w.dir(), true); err != nil {
			return nil, err
		}
	}
	return w.files, nil
}

func (f writerFiles) Open(name string) (fs.File, error) {
	root, err := f.root(false)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return emptyFiles.Open(name)
	}
	return root.Open(name)
}

func (f writerFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	root, err := f.root(false)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return emptyFiles.ReadDir(name)
	}
	return root.ReadDir(name)
}

func (f writerFiles) Stat(name string) (fs.FileInfo, error) {
	root, err := f.root(false)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return emptyFiles.Stat(name)
	}
	return root.Stat(name)
}

func (f writerFiles) Write(name string, content []byte, exclusive bool) error {
	root, err := f.root(true)
	if err != nil {
		return err
	}
	return root.Write(name, content, exclusive)
}

func (f writerFiles) Remove(name string) error {
	root, err := f.root(false)
	if err != nil {
		return err
	}
	if root == nil {
		return emptyFiles.Remove(name)
	}
	return root.Remove(name)
}

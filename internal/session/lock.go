package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

const (
	// lockPatience is how long a writer tries before it calls a session busy: a
	// reader that looks whether the lock is held holds it for microseconds.
	lockPatience = 150 * time.Millisecond
	lockRetry    = 2 * time.Millisecond
	cancelPoll   = 100 * time.Millisecond
)

// lockInfo is checkpoints/lock.info: who holds the lock, for messages. Token
// names this holding of it, so that a late cancel cannot stop the next turn.
type lockInfo struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	Token string    `json:"token"`
}

// errBusy says that somebody else holds a lock.
var errBusy = errors.New("the lock is held")

// takeLock takes the lock of a session's folder. Errors: errBusy, and
// fs.ErrNotExist when the folder is gone.
func takeLock(ctx context.Context, dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, "checkpoints", lockName)
	for deadline := time.Now().Add(lockPatience); ; {
		l := flock.New(path, flock.SetPermissions(0o600))
		ok, err := l.TryLock()
		if err != nil {
			return nil, err
		}
		if ok && sameFile(l, path) {
			return l, nil
		}
		l.Close() // held by another, or of a folder that was deleted since
		if time.Now().After(deadline) {
			return nil, errBusy
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockRetry):
		}
	}
}

func sameFile(l *flock.Flock, path string) bool {
	held, err := l.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(held, named)
}

// lockHeld reports whether a process holds the lock of a session's folder. It
// never makes a writer fail: a holder leaves lock.info, and without one there
// is nothing to try.
func lockHeld(dir string) bool {
	checkpoints := filepath.Join(dir, "checkpoints")
	if _, err := os.Stat(filepath.Join(checkpoints, infoName)); err != nil {
		return false
	}
	l := flock.New(filepath.Join(checkpoints, lockName), flock.SetFlag(os.O_RDONLY))
	defer l.Close()
	free, err := l.TryRLock()
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return !free
}

func readInfo(dir string) (info lockInfo, ok bool) {
	raw, err := os.ReadFile(filepath.Join(dir, "checkpoints", infoName))
	return info, err == nil && json.Unmarshal(raw, &info) == nil
}

// hold is the lock of a root session as this process holds it, with the writers
// that share it: the root's and its children's. A new session's hold reserves
// the id within this process and takes the lock when the folder is made.
type hold struct {
	root string
	dir  string // the root session's folder

	open map[string]bool // ids that have a writer; guarded by the store's mu

	mu        sync.Mutex // guards what follows
	lock      *flock.Flock
	info      lockInfo
	cancelled chan struct{}
	isCancel  bool
	moved     bool          // the folder was deleted: its path may be another's by now
	stop      chan struct{} // ends the watcher; nil while none runs
	watching  sync.WaitGroup
}

func newHold(root, dir string) *hold {
	return &hold{root: root, dir: dir, open: map[string]bool{}, cancelled: make(chan struct{})}
}

// take locks the root's folder, which is there.
func (h *hold) take(ctx context.Context, now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock != nil {
		return nil
	}
	lock, err := takeLock(ctx, h.dir)
	if err != nil {
		return err
	}
	h.lock = lock
	host, _ := os.Hostname()
	h.info = lockInfo{PID: os.Getpid(), Host: host, Since: now.UTC(), Token: rand.Text()}
	raw, _ := json.Marshal(h.info) // strings and numbers always encode
	checkpoints := filepath.Join(h.dir, "checkpoints")
	_ = os.Remove(filepath.Join(checkpoints, cancelName)) // meant for a turn that is over
	if err := os.WriteFile(filepath.Join(checkpoints, infoName), raw, 0o600); err != nil {
		h.drop()
		return storeErr("write", checkpoints, err)
	}
	return nil
}

// release unlocks; the lock file stays.
func (h *hold) release() {
	h.mu.Lock()
	if h.stop != nil {
		close(h.stop)
		h.stop = nil
	}
	h.mu.Unlock()
	h.watching.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop()
}

func (h *hold) drop() {
	if h.lock == nil {
		return
	}
	if !h.moved {
		checkpoints := filepath.Join(h.dir, "checkpoints")
		_ = os.Remove(filepath.Join(checkpoints, infoName))
		_ = os.Remove(filepath.Join(checkpoints, cancelName))
	}
	_ = h.lock.Close()
	h.lock = nil
}

// gone notes that the folder has left its path.
func (h *hold) gone() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.moved = true
}

// cancel tells the writers to stop.
func (h *hold) cancel() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.isCancel {
		h.isCancel = true
		close(h.cancelled)
	}
}

// watch starts the goroutine that looks for a cancel marker. It ends when the
// marker came, or when the lock is released.
func (h *hold) watch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != nil || h.isCancel || h.lock == nil {
		return
	}
	stop := make(chan struct{})
	h.stop = stop
	marker, token := filepath.Join(h.dir, "checkpoints", cancelName), h.info.Token
	h.watching.Go(func() {
		tick := time.NewTicker(cancelPoll)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			raw, err := os.ReadFile(marker)
			if err != nil {
				continue
			}
			_ = os.Remove(marker)
			if string(raw) == token {
				h.cancel()
				return
			}
		}
	})
}

package session

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
)

// Store keeps sessions. The file-system store is the default; the in-memory
// store serves tests and --ephemeral; both pass one conformance suite
// (sessiontest). Every id is checked by CheckID first.
type Store interface {
	// Open takes the writer's lock on the session (for a child id: on its
	// root) and returns its writer, folded to the last committed frame.
	// With create, a session that does not exist is prepared: nothing is on
	// disk before the first Append. Errors: NotFoundError, BusyError,
	// DamagedError, VersionError.
	Open(ctx context.Context, id string, create bool) (Writer, error)
	// Load folds the session without locking. It ignores an uncommitted tail.
	// Running sessions whose lock nobody holds have status interrupted.
	Load(ctx context.Context, id string) (*State, error)
	// Records yields the committed records from seq on. It never blocks.
	Records(ctx context.Context, id string, from uint64) iter.Seq2[Record, error]
	// List yields every session, in no promised order, each from its snapshot
	// where a valid one exists. A damaged session is an Entry with Err.
	List(ctx context.Context) ([]Entry, error)
	// Delete removes the session and its children. Errors: NotFoundError,
	// BusyError.
	Delete(ctx context.Context, id string) error
	// Files is the session's folder for reading, without locking.
	Files(ctx context.Context, id string) (Files, error)
	// Prompt returns a prompt text that a Writer kept. Error: fs.ErrNotExist.
	Prompt(ctx context.Context, id, key string) ([]byte, error)
	// PutSpec stores the governing spec under its hash, once.
	PutSpec(hash string, canonical []byte) error
	// Spec returns a stored spec.
	Spec(hash string) ([]byte, error)
	// Cancel asks the process that runs the session's turn to stop it.
	// Error: IdleError when no turn is at work.
	Cancel(ctx context.Context, id string) error
}

// Writer is an open session under its lock.
type Writer interface {
	// State is the live fold. Only the owner of the writer reads it, and not
	// while an Append runs.
	State() *State
	// Append commits the bodies as one frame: one write, one sync, then the
	// fold. It returns the events, in order. After an error nothing of the
	// frame happened; the writer has recovered to the last committed frame or
	// every later call fails (errors.Is(err, ErrPoisoned)).
	Append(bodies ...Body) ([]event.Event, error)
	// Files is the session's folder, for writing.
	Files() Files
	// KeepPrompt keeps the text that a model call was asked with, under the key
	// that the call's record names, once. It is for people who look at requests
	// later: nothing is folded from it, so it is not synced.
	KeepPrompt(key string, text []byte) error
	// Cancelled is closed when another process asked for the turn to stop.
	Cancelled() <-chan struct{}
	// Snapshot writes the snapshot now; the runtime calls it at every settle
	// and park.
	Snapshot() error
	// Close releases the lock.
	Close() error
}

// Files is a session's folder, or a mount: a rooted tree of files that cannot
// be escaped. Names are slash-separated, relative, canonical ("." is the root).
type Files interface {
	fs.ReadDirFS
	fs.StatFS
	// Write replaces the file atomically (temp, fsync, rename), creating
	// parents. With exclusive it fails with fs.ErrExist when the file is there.
	Write(name string, content []byte, exclusive bool) error
	// Remove removes one file, and parent directories that it leaves empty
	// (but for the areas themselves).
	Remove(name string) error
}

// Entry is a listed session.
type Entry struct {
	ID      string // the true id, or the folder's name when it cannot be read
	Control *Control
	Err     error
}

// NotFoundError says that no session has the id.
type NotFoundError struct{ ID string }

func (e NotFoundError) Error() string {
	return fmt.Sprintf("no session %q; `archmax sessions` lists them", e.ID)
}

// BusyError says that another process holds the session's lock.
type BusyError struct {
	ID    string
	PID   int
	Host  string
	Since time.Time
}

func (e BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("session %s is mid-turn", e.ID)
	}
	return fmt.Sprintf("session %s is mid-turn (pid %d on %s, since %s)", e.ID, e.PID, e.Host, e.Since.Local().Format("15:04:05"))
}

// IdleError says that no turn is at work on the session.
type IdleError struct{ ID string }

func (e IdleError) Error() string {
	return fmt.Sprintf("session %s has no turn at work; nothing to cancel", e.ID)
}

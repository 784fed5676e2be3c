package cli

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// fullStore is a store whose disk is full after so many frames.
type fullStore struct {
	session.Store
	left int
}

func (s *fullStore) Open(ctx context.Context, id string, create bool) (session.Writer, error) {
	w, err := s.Store.Open(ctx, id, create)
	return &fullDisk{w, s}, err
}

type fullDisk struct {
	session.Writer
	store *fullStore
}

func (w *fullDisk) Append(bodies ...session.Body) ([]event.Event, error) {
	if w.store.left == 0 {
		return nil, &session.StoreError{Do: "write", Path: "s1/checkpoints/journal.jsonl", Err: syscall.ENOSPC}
	}
	w.store.left--
	return w.Writer.Append(bodies...)
}

// TestAfterAFullDiskTheArrivalIsNotSentTwice: a message that is in the journal
// is resumed; only one that is not is sent again.
func TestAfterAFullDiskTheArrivalIsNotSentTwice(t *testing.T) {
	for name, test := range map[string]struct {
		frames int
		wants  []string
		not    string
	}{
		"nothing was written":    {0, []string{"the disk is full", "run the command again"}, "--resume"},
		"the turn was opened":    {1, []string{"the disk is full; the arrival itself is kept: do not send it again", "`archmax send s1 --resume --cassette tape.yaml`"}, "run the command again"},
		"an old turn is at work": {2, []string{"the disk is full", "run the command again"}, "--resume"},
	} {
		t.Run(name, func(t *testing.T) {
			var opts *runOptions
			d := newTestDeps(greeter(t), nil, "")
			err := parse(t, newRunCmd(d.deps, func(_ context.Context, o *runOptions) error { opts = o; return nil }), words("hi --session s1 --cassette tape.yaml")...)
			if err != nil {
				t.Fatal(err)
			}
			ws, err := opts.open()
			if err != nil {
				t.Fatal(err)
			}
			m, err := loadMachine(ws, "greet")
			if err != nil {
				t.Fatal(err)
			}
			store := &fullStore{Store: openMemory(), left: test.frames}
			send := func() error {
				return opts.arrive(t.Context(), ws, m, store, func(ctx context.Context, api runtime.API) (*runtime.Outcome, error) {
					return api.Send(ctx, runtime.Message{Workflow: "greet", Session: "s1", Text: "hi", HasText: true})
				})
			}
			if test.frames == 2 { // the turn of an arrival before this one
				store.left = 1
				if err := send(); err == nil {
					t.Fatal("the disk is full, and the turn went through")
				}
				time.Sleep(5 * time.Millisecond) // the journal's times are milliseconds
			}
			err = send()
			if err == nil {
				t.Fatal("the disk is full, and the turn went through")
			}
			for _, want := range test.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
			if strings.Contains(err.Error(), test.not) {
				t.Errorf("%q says %q", err, test.not)
			}
			if code := reportOf(t.Context(), err).Error.Code; code != "store-error" {
				t.Errorf("code %q", code)
			}
		})
	}
}

package session

import (
	"context"
	"iter"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
)

// followPoll is how often Follow looks for new records.
const followPoll = 100 * time.Millisecond

// Events folds a session's records, from the first on, and yields the events
// that they project to: the ones that were announced when they were written.
// It works on Store.Records and on Follow.
func Events(records iter.Seq2[Record, error]) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		state := NewState()
		for rec, err := range records {
			var events []event.Event
			if err == nil {
				events, err = state.Apply(rec)
			}
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// Replay yields the durable events of a session from its start.
func Replay(ctx context.Context, store Store, id string) iter.Seq2[event.Event, error] {
	return Events(store.Records(ctx, id, 1))
}

// Follow yields a session's records from seq on, and then those that another
// process appends, as they become durable, until ctx is done or the loop is
// left. The end of ctx is no error.
func Follow(ctx context.Context, store Store, id string, from uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		tick := time.NewTicker(followPoll)
		defer tick.Stop()
		for next := max(from, 1); ; {
			for rec, err := range store.Records(ctx, id, next) {
				if ctx.Err() != nil {
					return
				}
				if !yield(rec, err) || err != nil {
					return
				}
				next = rec.Seq + 1
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var testStart = time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC)

// tickingClock advances a millisecond a look.
func tickingClock() func() time.Time {
	now := testStart
	return func() time.Time {
		now = now.Add(time.Millisecond)
		return now
	}
}

// stepFrames are the three frames of one step: an answer with a call, its
// intent, its result.
func stepFrames(n int) [][]Body {
	call := fmt.Sprintf("call_%06d", n)
	return [][]Body{
		{&ModelSettled{
			Role: "agent", State: "triage", Model: "gpt-test", Text: "Looking at the next page of orders for the customer.",
			Calls: []NewCall{{ID: call, Name: "read_file", Args: `{"file_path":"scratchpad/orders.csv","offset":10}`}},
			Usage: &Tokens{Input: 1000, Output: 20},
		}},
		{&Intent{Call: call, Rerun: true}},
		{&Result{Call: call, Status: "ok", Millis: 3, Text: strings.Repeat("ORD-1,2026-03-04,shipped,\"12.50\"\n", 12)}},
	}
}

func openingFrame(id string) []Body {
	return []Body{
		&Created{Session: id, Workflow: "order-lookup"},
		&Turn{Arrival: ArriveTurn, Trigger: "manual", Spec: "abc"},
		&Moved{To: "triage", Step: StepTrigger, As: "agent", Reason: "manual"},
		&NewMessage{Role: "user", Text: "Where is my order?"},
	}
}

// encodeSession returns the journal of a session of so many steps.
func encodeSession(tb testing.TB, id string, steps int) []byte {
	tb.Helper()
	var out []byte
	seq := uint64(1)
	now := tickingClock()
	add := func(bodies []Body) {
		frame, recs, err := encodeFrame(seq, now(), bodies)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, frame...)
		seq += uint64(len(recs))
	}
	add(openingFrame(id))
	for n := range steps {
		for _, frame := range stepFrames(n) {
			add(frame)
		}
	}
	return out
}

func writeJournal(tb testing.TB, store *FSStore, id string, content []byte) string {
	tb.Helper()
	dir := store.checkpoints(id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	name := filepath.Join(dir, journalName)
	if err := os.WriteFile(name, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return name
}

// The budget is 60 ms (spec: architecture.md, "Performance budgets").
func BenchmarkOpen5000Steps(b *testing.B) {
	store := NewFSStore(b.TempDir(), nil)
	journal := encodeSession(b, "s1", 5000)
	writeJournal(b, store, "s1", journal)
	b.SetBytes(int64(len(journal)))
	b.ReportAllocs()
	for b.Loop() {
		w, err := store.Open(context.Background(), "s1", false)
		if err != nil {
			b.Fatal(err)
		}
		if w.State().Seq != 15004 {
			b.Fatal(w.State().Seq)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

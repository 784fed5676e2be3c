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

// One step is three frames, each with its own sync.
func BenchmarkAppend(b *testing.B) {
	store := NewFSStore(b.TempDir(), nil)
	w, err := store.Open(context.Background(), "s1", true)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Append(openingFrame("s1")...); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for _, frame := range stepFrames(n) {
			if _, err := w.Append(frame...); err != nil {
				b.Fatal(err)
			}
		}
		n++
	}
}

// The same without the disk: what the store itself costs.
func BenchmarkAppendInMemory(b *testing.B) {
	w, err := NewMemStore(nil).Open(context.Background(), "s1", true)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Append(openingFrame("s1")...); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for _, frame := range stepFrames(n) {
			if _, err := w.Append(frame...); err != nil {
				b.Fatal(err)
			}
		}
		n++
	}
}

// BenchmarkJournalBytes reports the journal's bytes a step, early and late in a
// long session.
func BenchmarkJournalBytes(b *testing.B) {
	var early, late float64
	for b.Loop() {
		early = float64(len(encodeSession(b, "s1", 100))) / 100
		late = float64(len(encodeSession(b, "s1", 5000))-len(encodeSession(b, "s1", 4900))) / 100
	}
	b.ReportMetric(early, "bytes/step-to-100")
	b.ReportMetric(late, "bytes/step-to-5000")
}

func BenchmarkList1000Sessions(b *testing.B) {
	store := NewFSStore(b.TempDir(), nil)
	for i := range 1000 {
		w, err := store.Open(context.Background(), fmt.Sprintf("s%d", i), true)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.Append(append(openingFrame(fmt.Sprintf("s%d", i)), &Settled{As: Completed})...); err != nil {
			b.Fatal(err)
		}
		if err := w.Snapshot(); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		list, err := store.List(context.Background())
		if err != nil || len(list) != 1000 {
			b.Fatal(len(list), err)
		}
	}
}

// The budgets of architecture.md: a 400-step journal is under 1.1 times four of
// 100 steps, and a step under three times its message bytes.
func TestJournalBytesDoNotGrowWithTheSession(t *testing.T) {
	long, short := len(encodeSession(t, "s1", 400)), len(encodeSession(t, "s1", 100))
	if long*10 >= 4*short*11 {
		t.Errorf("400 steps take %d bytes, 100 steps %d", long, short)
	}
	message := 0
	for _, frame := range stepFrames(1) {
		switch b := frame[0].(type) {
		case *ModelSettled:
			message += len(b.Text) + len(b.Calls[0].Name) + len(b.Calls[0].Args)
		case *Result:
			message += len(b.Text)
		}
	}
	if step := long / 400; step >= 3*message {
		t.Errorf("a step takes %d bytes for %d bytes of messages", step, message)
	}
}

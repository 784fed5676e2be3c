package session

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

func TestFoldingFromAnySnapshotGivesTheSameControlState(t *testing.T) {
	for seed := range uint64(40) {
		g := newGenerator(t, "s1", seed)
		f := newFaultFS(t)
		r := rand.New(rand.NewPCG(seed, 1))
		j := newJournal(f, faultDir, "s1", tickingClock())
		var want string
		snapshots := 0
		for range 80 {
			a := &appending{bodies: g.frame()}
			j.commit([]*appending{a})
			if a.err != nil {
				t.Fatal(a.err)
			}
			want = controlOf(t, j.state)
			if r.IntN(10) == 0 {
				if err := j.snapshot(); err != nil {
					t.Fatal(err)
				}
			}
			state, at, ok := readSnapshot(f, faultDir, j.file)
			if ok {
				snapshots++
			} else {
				state = NewState()
			}
			size, _ := j.file.Size()
			_, _, err := scan("j", j.file, size, at, func(recs []Record) error { return foldRecords("j", state, recs) })
			if err != nil {
				t.Fatalf("seed %d, from a snapshot at record %d: %v", seed, at.seq, err)
			}
			if got := controlOf(t, state); got != want {
				t.Fatalf("seed %d, from a snapshot at record %d:\n%s\nwant\n%s", seed, at.seq, got, want)
			}
		}
		if snapshots == 0 {
			t.Errorf("seed %d made no snapshot", seed)
		}
	}
}

func TestASnapshotOfAnythingElseIsDiscarded(t *testing.T) {
	store := NewFSStore(t.TempDir(), nil)
	whole := encodeSession(t, "s1", 4)
	journal := writeJournal(t, store, "s1", whole)
	w, err := store.Open(context.Background(), "s1", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Snapshot(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(store.checkpoints("s1"), snapshotName)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(good, []byte("Where is my order?")) {
		t.Error("the snapshot holds the transcript")
	}
	valid := func() bool {
		t.Helper()
		f, err := store.fs.Open(journal, os.O_RDONLY)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		_, _, ok := readSnapshot(store.fs, store.checkpoints("s1"), f)
		return ok
	}
	if !valid() {
		t.Fatal("the snapshot just taken is not valid")
	}
	restore := func(snap, content []byte) {
		t.Helper()
		for name, b := range map[string][]byte{path: snap, journal: content} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for at := range good { // a flipped bit anywhere
		bad := bytes.Clone(good)
		bad[at] ^= 0x01
		restore(bad, whole)
		if valid() {
			t.Fatalf("a snapshot with byte %d changed from %q to %q is valid", at, good[at], bad[at])
		}
	}
	list, err := store.List(context.Background())
	if err != nil || list[0].Err != nil {
		t.Fatalf("%+v, %v", list, err)
	}
	restore(good, whole)
	loaded, err := store.Load(context.Background(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := controlOf(t, &State{Control: *list[0].Control}), controlOf(t, loaded); got != want {
		t.Errorf("listed\n%s\nloaded\n%s", got, want)
	}
	for name, journal := range map[string][]byte{
		"a shorter journal":            whole[:len(whole)-1],
		"another journal of that size": bytes.Replace(whole, []byte("ORD-1"), []byte("ORD-2"), -1),
	} {
		restore(good, journal)
		if valid() {
			t.Errorf("the snapshot is valid for %s", name)
		}
	}
	for name, replace := range map[string][2]string{
		"another fold":    {`"fold":1`, `"fold":2`},
		"another version": {`"v":1`, `"v":2`},
	} {
		restore(bytes.Replace(good, []byte(replace[0]), []byte(replace[1]), 1), whole)
		if valid() {
			t.Errorf("a snapshot of %s is valid", name)
		}
	}
}

func TestASnapshotIsTakenEvery256Records(t *testing.T) {
	f := newFaultFS(t)
	j := newJournal(f, faultDir, "s1", tickingClock())
	add := func(bodies ...Body) {
		t.Helper()
		a := &appending{bodies: bodies}
		if j.commit([]*appending{a}); a.err != nil {
			t.Fatal(a.err)
		}
	}
	at := func() uint64 {
		_, at, _ := readSnapshot(f, faultDir, j.file)
		return at.seq
	}
	add(openingFrame("s1")...) // four records
	for range 251 {
		add(&Warned{})
	}
	if at() != 0 {
		t.Errorf("a snapshot at record %d already", at())
	}
	add(&Warned{})
	if at() != 256 {
		t.Errorf("after 256 records the snapshot is at %d", at())
	}
	for range 256 {
		add(&Warned{})
	}
	if at() != 512 {
		t.Errorf("after 512 records the snapshot is at %d", at())
	}
	f.failAt, f.sticky = f.op+3, true // the write and sync of the frame succeed, the snapshot's fail
	var bodies []Body
	for range 256 {
		bodies = append(bodies, &Warned{})
	}
	add(bodies...)
	if at() != 512 {
		t.Errorf("a snapshot that could not be written is at %d", at())
	}
}

func TestAListingReadsTheTailAfterASnapshotOnly(t *testing.T) {
	store := NewFSStore(t.TempDir(), nil)
	counting := &countingFS{fsys: osFS{}}
	store.fs = counting
	whole := encodeSession(t, "s1", 2000)
	writeJournal(t, store, "s1", whole)
	w, err := store.Open(context.Background(), "s1", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Snapshot(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(&Warned{Scope: "s", Message: "after the snapshot"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	counting.read = 0
	list, err := store.List(context.Background())
	if err != nil || len(list) != 1 || list[0].Control.Seq != 6005 {
		t.Fatalf("%+v, %v", list, err)
	}
	if counting.read > 20_000 {
		t.Errorf("a listing read %d bytes of a journal of %d", counting.read, len(whole))
	}
	counting.read = 0
	for range store.Records(context.Background(), "s1", 6005) {
	}
	if counting.read > 20_000 {
		t.Errorf("reading the last record read %d bytes", counting.read)
	}
}

// countingFS counts the bytes that are read.
type countingFS struct {
	fsys
	read int
}

type countingFile struct {
	file
	fs *countingFS
}

func (c *countingFS) Open(name string, flag int) (file, error) {
	f, err := c.fsys.Open(name, flag)
	if err != nil {
		return nil, err
	}
	return countingFile{f, c}, nil
}

func (c countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.file.ReadAt(p, off)
	c.fs.read += n
	return n, err
}

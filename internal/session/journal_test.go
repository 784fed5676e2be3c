package session

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// announced is a state that a session was told to be in, and where its journal
// ended then.
type announced struct {
	end   int
	print string
}

// liveSession runs a session of so many steps on the file system and returns
// what was announced after each frame, none at all first.
func liveSession(t *testing.T, f *faultFS, steps int) []announced {
	t.Helper()
	j := newJournal(f, faultDir, "s1", tickingClock())
	said := []announced{{}}
	add := func(bodies ...Body) {
		a := &appending{bodies: bodies}
		j.commit([]*appending{a})
		if a.err != nil {
			t.Fatal(a.err)
		}
		node := f.files[j.name()]
		if !bytes.Equal(node.data, node.synced) {
			t.Fatal("a frame was announced that is not synced")
		}
		said = append(said, announced{len(node.synced), print(t, j.state)})
	}
	add(openingFrame("s1")...)
	for n := range steps {
		call := fmt.Sprintf("c%d", n)
		add(&ModelSettled{Role: "agent", State: "a", Calls: []NewCall{{ID: call, Name: "ls"}}}, &Intent{Call: call})
		add(&Result{Call: call, Status: "ok", Text: "a\nb"})
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	return said
}

func lastBefore(said []announced, cut int) announced {
	last := said[0]
	for _, s := range said {
		if s.end <= cut {
			last = s
		}
	}
	return last
}

func TestAJournalCutAtAnyByteReopensToAnAnnouncedState(t *testing.T) {
	live := newFaultFS(t)
	said := liveSession(t, live, 60)
	whole := live.files[faultDir+"/"+journalName].synced
	want := said[0]
	for cut := range len(whole) + 1 {
		want = lastBefore(said[max(0, indexOf(said, want)):], cut)
		f := newFaultFS(t)
		node := &faultNode{data: bytes.Clone(whole[:cut])}
		f.files[faultDir+"/"+journalName] = node
		j, err := openFault(t, f)
		var damaged DamagedError
		switch {
		case cut == 0:
			if !isNotExist(err) {
				t.Fatalf("an empty journal: %v", err)
			}
		case want.end == 0:
			if !errors.As(err, &damaged) || damaged.Line != 1 || len(node.data) != cut {
				t.Fatalf("cut at %d, inside the first frame: %v, %d bytes left", cut, err, len(node.data))
			}
		case err != nil:
			t.Fatalf("cut at %d: %v", cut, err)
		default:
			if got := print(t, j.state); got != want.print {
				t.Fatalf("cut at %d:\n%s\nwant\n%s", cut, got, want.print)
			}
			if len(node.synced) != want.end || len(node.data) != want.end {
				t.Fatalf("cut at %d: the journal has %d bytes, %d synced; want %d", cut, len(node.data), len(node.synced), want.end)
			}
		}
	}
}

func indexOf(said []announced, a announced) int {
	for i, s := range said {
		if s == a {
			return i
		}
	}
	return 0
}

// A crash may leave some sectors of the last, unsynced write unwritten.
func TestHolesInTheLastFrameDropItWhole(t *testing.T) {
	live := newFaultFS(t)
	said := liveSession(t, live, 4)
	whole := live.files[faultDir+"/"+journalName].synced
	before, last := said[len(said)-2], said[len(said)-1]
	const sector = 16
	for at := before.end; at < last.end; at += sector {
		f := newFaultFS(t)
		data := bytes.Clone(whole)
		clear(data[at:min(at+sector, len(data))])
		f.files[faultDir+"/"+journalName] = &faultNode{data: data}
		j, err := openFault(t, f)
		if err != nil {
			t.Fatalf("a hole at %d: %v", at, err)
		}
		if got := print(t, j.state); got != before.print {
			t.Fatalf("a hole at %d: %s", at, got)
		}
	}
}

// script is a session in few frames, for injecting a fault at every operation.
func script() [][]Body {
	frames := [][]Body{openingFrame("s1")}
	for n := range 3 {
		frames = append(frames, stepFrames(n)...)
	}
	return append(frames, []Body{&Settled{As: Completed}})
}

func TestAFailedOperationHappensNotAtAllAndTheWriterRecovers(t *testing.T) {
	for _, fault := range []struct {
		name   string
		err    error
		short  bool
		sticky bool
	}{
		{"a failing disk, once", syscall.EIO, false, false},
		{"a short write, once", syscall.ENOSPC, true, false},
		{"a failing disk from then on", syscall.EIO, false, true},
		{"a full disk that takes half of a write", syscall.ENOSPC, true, true},
	} {
		t.Run(fault.name, func(t *testing.T) {
			seen := map[string]bool{}
			for at := 1; ; at++ {
				f := newFaultFS(t)
				f.failAt, f.err, f.short, f.sticky = at, fault.err, fault.short, fault.sticky
				if !runScript(t, f, at) {
					break // the script has fewer operations
				}
				seen[f.failed] = true
			}
			for _, what := range []string{"create", "write", "sync", "rename", "sync of a folder"} {
				if !seen[what] {
					t.Errorf("no %s was made to fail", what)
				}
			}
		})
	}
}

// runScript runs the script, appending a refused frame again once, and checks
// every promise about failures. It reports whether a fault was met.
func runScript(t *testing.T, f *faultFS, at int) bool {
	t.Helper()
	j := newJournal(f, faultDir, "s1", tickingClock())
	said, attempted := print(t, j.state), ""
	failures := 0
	for i, bodies := range script() {
		for range 2 {
			a := &appending{bodies: bodies}
			j.commit([]*appending{a})
			if a.err == nil {
				said = print(t, j.state)
				break
			}
			failures++
			if a.events != nil {
				t.Fatalf("operation %d: a failed frame has events", at)
			}
			if j.dead != nil && !errors.Is(a.err, ErrPoisoned) {
				t.Fatalf("operation %d: dead, but the error is %v", at, a.err)
			}
			if j.dead == nil && print(t, j.state) != said {
				t.Fatalf("operation %d, frame %d: the state is not the announced one", at, i)
			}
			if !strings.Contains(a.err.Error(), "cannot write store") || strings.Contains(a.err.Error(), "\n") {
				t.Fatalf("operation %d: the error is not one line with the folder: %v", at, a.err)
			}
			if attempted == "" {
				attempted = wouldBe(t, f, j, bodies)
			}
		}
	}
	met := f.failed != ""
	f.failAt = 0 // the disk is well again, and another process opens the session
	again, err := openFault(t, f)
	if isNotExist(err) {
		if said != print(t, NewState()) {
			t.Fatalf("operation %d (%s): the session is gone", at, f.failed)
		}
		return met
	}
	if err != nil {
		t.Fatalf("operation %d (%s): %v", at, f.failed, err)
	}
	if got := print(t, again.state); got != said && got != attempted {
		t.Fatalf("operation %d (%s): reopened to\n%s\nsaid\n%s", at, f.failed, got, said)
	}
	if !f.sticky && failures > 1 {
		t.Fatalf("operation %d (%s): %d frames failed for one fault", at, f.failed, failures)
	}
	return met
}

// wouldBe is the state that the failed frame would have led to: on a disk that
// stays broken its bytes cannot be taken back, as if the process had died after
// its sync. Times are those of the failed attempt.
func wouldBe(t *testing.T, f *faultFS, j *journal, bodies []Body) string {
	t.Helper()
	name := j.name()
	if f.files[name] == nil || j.dead == nil {
		return ""
	}
	data := f.files[name].data
	state, _, _, err := foldJournal(name, "s1", &faultFile{fs: f, node: &faultNode{data: data}}, int64(len(data)))
	if err != nil || state.Seq != j.last.seq+uint64(len(bodies)) {
		return ""
	}
	return print(t, state)
}

func TestConcurrentFramesShareOneWriteAndOneSync(t *testing.T) {
	f := newFaultFS(t)
	j := newJournal(f, faultDir, "s1", tickingClock())
	first := &appending{bodies: openingFrame("s1")}
	j.commit([]*appending{first})
	before := f.op
	batch := []*appending{
		{bodies: []Body{&Warned{Message: "one"}}},
		{bodies: []Body{&Result{Call: "nobody", Status: "ok"}}}, // refused alone
		{bodies: []Body{&Warned{Message: "two"}, &Warned{Message: "three"}}},
	}
	j.commit(batch)
	if f.op-before != 2 {
		t.Errorf("%d operations, want a write and a sync", f.op-before)
	}
	if batch[0].err != nil || batch[1].err == nil || batch[2].err != nil {
		t.Errorf("errors: %v, %v, %v", batch[0].err, batch[1].err, batch[2].err)
	}
	if got := strings.Join(j.state.Warnings, " "); got != "one two three" {
		t.Errorf("warnings %q", got)
	}
	want := print(t, j.state)
	again, err := openFault(t, f)
	if err != nil || print(t, again.state) != want {
		t.Errorf("reopened: %v", err)
	}

	f.failAt = f.op + 2 // the sync of the next batch
	batch = []*appending{{bodies: []Body{&Warned{Message: "four"}}}, {bodies: []Body{&Warned{Message: "five"}}}}
	j.commit(batch)
	if batch[0].err == nil || batch[1].err == nil || print(t, j.state) != want {
		t.Errorf("a failed sync of a batch: %v, %v", batch[0].err, batch[1].err)
	}
}

func TestADiskErrorNamesTheFolderAndWhatToDo(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{syscall.ENOSPC, "cannot write store/s1: the disk is full; free some space there, then run the command again"},
		{syscall.EDQUOT, "cannot write store/s1: the disk is full; free some space there, then run the command again"},
		{syscall.EROFS, "cannot write store/s1: the file system is read-only; name a folder that can be written with --sessions"},
		{syscall.EACCES, "cannot write store/s1: permission denied; change the folder's owner or mode, or name another with --sessions"},
		{syscall.ENOTDIR, "cannot write store/s1: a file stands where a folder is needed; move it away, or name another folder with --sessions"},
		{syscall.EIO, "cannot write store/s1: input/output error"},
	} {
		err := storeErr("write", "store/s1", fmt.Errorf("wrapped: %w", c.err))
		if err.Error() != c.want || !errors.Is(err, c.err) {
			t.Errorf("%v: got %q, want %q", c.err, err, c.want)
		}
	}
	if storeErr("write", "x", nil) != nil {
		t.Error("no error became one")
	}
}

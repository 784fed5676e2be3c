package session_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/session"
)

// The test binary is its own second process: with this variable it runs a role
// instead of the tests.
const roleVar = "ARCHMAX_SESSION_TEST_ROLE"

var bg = context.Background()

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(play(role, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// play runs a role: adder <dir> <id> <name> <n>, writer <dir> <id>, or holder
// <dir> <id>.
func play(role string, args []string) int {
	store := session.NewFSStore(args[0], nil)
	fail := func(err error) int {
		fmt.Println("failed:", err)
		return 1
	}
	switch role {
	case "adder":
		n, _ := strconv.Atoi(args[3])
		if err := addAll(store, args[1], args[2], n); err != nil {
			return fail(err)
		}
	case "writer": // announces every append until it is killed
		w, err := store.Open(bg, args[1], true)
		if err != nil {
			return fail(err)
		}
		bodies := opening(args[1])
		for n := 1; ; n++ {
			if _, err := w.Append(bodies...); err != nil {
				return fail(err)
			}
			fmt.Println(w.State().Seq)
			bodies = []session.Body{&session.Warned{Message: strings.Repeat("x", n%3000)}, &session.Warned{Message: "second"}}
		}
	case "holder": // holds the session until it is cancelled
		w, err := store.Open(bg, args[1], true)
		if err != nil {
			return fail(err)
		}
		if _, err := w.Append(opening(args[1])...); err != nil {
			return fail(err)
		}
		fmt.Println("held")
		<-w.Cancelled()
		if _, err := w.Append(&session.Settled{As: session.Failed, Code: "turn-cancelled"}); err != nil {
			return fail(err)
		}
		if err := w.Close(); err != nil {
			return fail(err)
		}
		fmt.Println("cancelled")
	}
	return 0
}

func opening(id string) []session.Body {
	return []session.Body{
		&session.Created{Session: id, Workflow: "w"},
		&session.Turn{Arrival: session.ArriveTurn, Trigger: "manual", Spec: "abc"},
	}
}

// addAll opens the session n times, however busy it is, and appends one record
// each time.
func addAll(store session.Store, id, name string, n int) error {
	for i := 0; i < n; {
		w, err := store.Open(bg, id, true)
		if errors.As(err, new(session.BusyError)) {
			time.Sleep(time.Millisecond)
			continue
		}
		if err != nil {
			return err
		}
		bodies := []session.Body{&session.Warned{Message: fmt.Sprintf("%s/%d", name, i)}}
		if w.State().Seq == 0 {
			bodies = append(opening(id), bodies...)
		}
		_, err = w.Append(bodies...)
		if errors.As(err, new(session.BusyError)) || errors.As(err, new(session.TakenError)) {
			err = nil // somebody else created it first
		} else if err == nil {
			i++
		}
		if closed := w.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func role(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), roleVar+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestGoroutinesAndProcessesRacingForASessionLoseNoRecord(t *testing.T) {
	dir := t.TempDir()
	const processes, goroutines, each = 3, 30, 4
	var wg sync.WaitGroup
	for p := range processes {
		cmd := role(t, "adder", dir, "s1", fmt.Sprintf("p%d", p), strconv.Itoa(each))
		wg.Go(func() {
			if out, err := cmd.Output(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	shared := session.NewFSStore(dir, nil)
	for g := range goroutines {
		store := shared
		if g%2 == 0 { // as another process would
			store = session.NewFSStore(dir, nil)
		}
		wg.Go(func() {
			if err := addAll(store, "s1", fmt.Sprintf("g%d", g), each); err != nil {
				t.Error(err)
			}
		})
	}
	// Readers see no torn state and make no writer fail.
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(2 * time.Millisecond):
				}
				if _, err := shared.Load(bg, "s1"); err != nil && !errors.As(err, new(session.NotFoundError)) {
					t.Errorf("a reader: %v", err)
				}
				if list, err := shared.List(bg); err != nil || len(list) == 1 && list[0].Err != nil {
					t.Errorf("a listing: %v, %v", list, err)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	readers.Wait()

	seen, seq := map[string]int{}, uint64(0)
	for rec, err := range shared.Records(bg, "s1", 1) {
		if err != nil {
			t.Fatal(err)
		}
		if seq++; rec.Seq != seq {
			t.Fatalf("record %d follows %d", rec.Seq, seq-1)
		}
		if w, ok := rec.Body.(*session.Warned); ok {
			seen[w.Message]++
		}
	}
	if want := (processes + goroutines) * each; len(seen) != want || seq != uint64(want)+2 {
		t.Errorf("%d different records of %d in all, want %d and two", len(seen), seq, want)
	}
}

func TestWhatAKilledProcessAnnouncedIsThere(t *testing.T) {
	for kill := range 6 {
		dir := t.TempDir()
		cmd := role(t, "writer", dir, "s1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		announced := uint64(0)
		for n := 0; lines.Scan(); n++ {
			seq, err := strconv.ParseUint(lines.Text(), 10, 64)
			if err != nil {
				t.Fatal(lines.Text())
			}
			announced = seq
			if n == 7*kill {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // killed
		store := session.NewFSStore(dir, nil)
		state, err := store.Load(bg, "s1")
		if err != nil {
			t.Fatal(err)
		}
		if state.Seq < announced || state.Seq%2 != 0 {
			t.Errorf("announced %d, there are %d", announced, state.Seq)
		}
		if state.Status != session.StatusInterrupted {
			t.Errorf("a killed writer's session is %s", state.Status)
		}
		w, err := store.Open(bg, "s1", false)
		if err != nil {
			t.Fatalf("its lock outlived it: %v", err)
		}
		if _, err := w.Append(&session.Settled{As: session.Completed}); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestASessionThatAnotherProcessRunsIsBusyAndCanBeCancelled(t *testing.T) {
	dir := t.TempDir()
	store := session.NewFSStore(dir, nil)
	cmd := role(t, "holder", dir, "s1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "held" {
		t.Fatalf("the holder says %q", lines.Text())
	}
	host, _ := os.Hostname()
	for door, err := range map[string]error{
		"Open": func() error { _, err := store.Open(bg, "s1", false); return err }(), "Open a child": func() error { _, err := store.Open(bg, "s1~1", true); return err }(),
		"Delete": store.Delete(bg, "s1"),
	} {
		var busy session.BusyError
		if !errors.As(err, &busy) || busy.PID != cmd.Process.Pid || busy.Host != host || time.Since(busy.Since) > time.Minute {
			t.Errorf("%s: %#v", door, err)
		}
	}
	if state, err := store.Load(bg, "s1"); err != nil || state.Status != session.StatusRunning {
		t.Errorf("loaded: %v, %v", state, err)
	}
	if err := store.Cancel(bg, "s1"); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || lines.Text() != "cancelled" {
		t.Errorf("the holder says %q", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if state, err := store.Load(bg, "s1"); err != nil || state.SettledCode != "turn-cancelled" {
		t.Errorf("loaded: %v, %v", state, err)
	}
	if err := store.Cancel(bg, "s1"); !errors.As(err, new(session.IdleError)) {
		t.Errorf("cancelling what is not at work: %v", err)
	}
	// A marker that came too late belongs to nobody.
	marker := filepath.Join(store.SessionDir("s1"), "checkpoints", "cancel")
	if err := os.WriteFile(marker, []byte("an old token"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := store.Open(bg, "s1", false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := os.Stat(marker); !os.IsNotExist(err) {
		t.Errorf("the stale marker stayed: %v", err)
	}
	if _, err := w.Append(&session.Turn{Arrival: session.ArriveTurn, Spec: "abc"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(marker, []byte("an old token"), 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.Cancelled():
		t.Error("a marker for another turn cancelled this one")
	case <-time.After(300 * time.Millisecond):
	}
}

func TestDeletingAndOpeningASessionAtOnceLeavesAWholeSessionOrNone(t *testing.T) {
	dir := t.TempDir()
	expected := func(err error) bool {
		return err == nil || errors.As(err, new(session.BusyError)) || errors.As(err, new(session.NotFoundError)) || errors.As(err, new(session.TakenError))
	}
	done := make(chan struct{})
	var adders, deleters sync.WaitGroup
	var deletes atomic.Int32
	for range 3 { // every one as another process would
		adder, deleter := session.NewFSStore(dir, nil), session.NewFSStore(dir, nil)
		adders.Go(func() {
			for range 40 {
				if err := addAll(adder, "s1", "x", 1); !expected(err) {
					t.Errorf("open: %v", err)
				}
				time.Sleep(time.Millisecond)
			}
		})
		deleters.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(time.Millisecond):
				}
				err := deleter.Delete(bg, "s1")
				if !expected(err) {
					t.Errorf("delete: %v", err)
				}
				if err == nil {
					deletes.Add(1)
				}
			}
		})
	}
	adders.Wait()
	close(done)
	deleters.Wait()
	if deletes.Load() == 0 {
		t.Error("nothing was deleted")
	}
	store := session.NewFSStore(dir, nil)
	list, err := store.List(bg)
	if err != nil || len(list) > 1 || len(list) == 1 && list[0].Err != nil {
		t.Errorf("left: %v, %v", list, err)
	}
	err = store.Delete(bg, "s1")
	if !expected(err) {
		t.Error(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestANewSessionLeavesNothingOnDiskUntilItsFirstAppend(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	store := session.NewFSStore(dir, nil)
	w, err := store.Open(bg, "s1", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the store's folder is there: %v", err)
	}
	// What a process that was killed before its first frame leaves behind is no
	// session, and its files are not the next one's.
	leftover := filepath.Join(dir, "s1", "scratchpad")
	for _, d := range []string{leftover, filepath.Join(dir, "s1", "checkpoints")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(leftover, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := store.List(bg); err != nil || len(list) != 0 {
		t.Errorf("listed %v, %v", list, err)
	}
	if w, err = store.Open(bg, "s1", true); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Append(opening("s1")...); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(leftover); !os.IsNotExist(err) {
		t.Errorf("the leftover stayed: %v", err)
	}
	for name, want := range map[string]os.FileMode{"s1": 0o700, "s1/checkpoints": 0o700, "s1/checkpoints/journal.jsonl": 0o600, "s1/checkpoints/lock": 0o600, "s1/checkpoints/lock.info": 0o600} {
		if fi, err := os.Stat(filepath.Join(dir, name)); err != nil || fi.Mode().Perm() != want && os.PathSeparator == '/' {
			t.Errorf("%s: %v, %v", name, fi, err)
		}
	}
}

func TestAStoreThatCannotBeWrittenSaysSo(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sessions"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	store := session.NewFSStore(filepath.Join(dir, "sessions"), nil)
	w, err := store.Open(bg, "s1", true)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_, err = w.Append(opening("s1")...)
	var failed *session.StoreError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), filepath.Join(dir, "sessions")) || !strings.Contains(err.Error(), "--sessions") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

func TestLooksAtALockNeverMakeAWriterFail(t *testing.T) {
	dir := t.TempDir()
	store := session.NewFSStore(dir, nil)
	if err := addAll(store, "s1", "x", 1); err != nil {
		t.Fatal(err)
	}
	// A holder that was killed leaves lock.info, and only then is the lock tried.
	info := filepath.Join(store.SessionDir("s1"), "checkpoints", "lock.info")
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		reader := session.NewFSStore(dir, nil)
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := reader.Load(bg, "s1"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 40 {
		if err := os.WriteFile(info, []byte(`{"pid":1,"host":"x","since":"2026-03-04T05:06:07Z","token":"t"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := store.Open(bg, "s1", false)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	readers.Wait()
}

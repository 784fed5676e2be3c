//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/model/modeltest"
	"github.com/archmax-ai/archmax/internal/session"
)

// program is the program as it is shipped, built once a run and without the race
// detector, under which a process starts too slowly to be killed in the middle.
var program string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "archmax-program")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "archmax")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s", err, out)
		return 1
	}
	return m.Run()
}

// place is a workspace with a model server; processes are started in it.
type place struct {
	t     *testing.T
	root  string
	env   []string
	store *session.FSStore
}

func newPlace(t *testing.T, workflow string, handler modeltest.Handler) *place {
	t.Helper()
	p := &place{t: t, root: t.TempDir()}
	dir := filepath.Join(p.root, "workflows", "flow")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "workflow.yaml"), []byte(workflow), 0o644); err != nil {
		t.Fatal(err)
	}
	srv := modeltest.NewConfig(t, modeltest.Config{HostPaths: []string{p.root}}, handler)
	p.store = session.NewFSStore(filepath.Join(p.root, "sessions"), nil)
	p.env = append(os.Environ(), "ARCHMAX_API_BASE_URL="+srv.URL, "ARCHMAX_API_KEY=test-key", "ARCHMAX_MODEL=m", "ARCHMAX_ROOT="+p.root)
	return p
}

func (p *place) command(args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	p.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = p.env, p.root
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	return cmd, &out, &errs
}

// run runs the program to its end and returns its output and exit code.
func (p *place) run(args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	cmd, out, errs := p.command(args...)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// outcome is the part of an Outcome that these tests compare.
type outcome struct {
	Kind, State, Reply string
	AuditTrail         []struct{ To, Kind, Reason string }
}

func parseOutcome(t *testing.T, text string) outcome {
	t.Helper()
	var o outcome
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("no outcome: %v in %q", err, text)
	}
	return o
}

const longFlow = `
instructions: x
states:
  work:
    instructions: y
    triggers: { manual: }
    transitions: [ { to: done, description: when done } ]
  done: { instructions: bye }
`

// longRun answers by the length of the transcript, so that a call made again
// gets the same answer: reads, writes, variables, then the end.
func longRun(steps int) modeltest.Handler {
	return func(r *modeltest.Request) modeltest.Answer {
		n := 0
		for _, m := range r.Messages {
			if m.Role == "assistant" {
				n++
			}
		}
		switch {
		case n == steps:
			return modeltest.CallTool("archmax_advance", `{"to":"done","reason":"ready"}`)
		case n > steps:
			return modeltest.Text("finished")
		case n%3 == 0:
			return modeltest.CallTools(fmt.Sprintf("step %d", n),
				modeltest.Call{Name: "write_file", Args: fmt.Sprintf(`{"file_path":"scratchpad/%d.txt","content":"x"}`, n)},
				modeltest.Call{Name: "ls", Args: `{"path":"scratchpad"}`})
		case n%3 == 1:
			return modeltest.CallTool("archmax_set_variables", fmt.Sprintf(`{"variables":{"n":%d}}`, n))
		}
		return modeltest.CallTool("read_file", fmt.Sprintf(`{"file_path":"scratchpad/%d.txt"}`, n-2))
	}
}

// A run is killed at 50 different lengths of its journal. After each the session
// lists, resumes to the same outcome, and repeats no call; the server checks
// that every request pairs calls with results.
func TestAKilledRunResumesToTheSameOutcomeFromAnyLengthOfItsJournal(t *testing.T) {
	const steps, wanted = 40, 50
	p := newPlace(t, longFlow, longRun(steps))
	stdout, stderr, code := p.run("run", "flow", "go", "--session", "whole", "--json", "-q")
	if code != 0 {
		t.Fatalf("the whole run: exit %d, %s", code, stderr)
	}
	want := parseOutcome(t, stdout)
	if want.Kind != "completed" || want.State != "done" {
		t.Fatalf("the whole run came to %+v", want)
	}
	lengths := map[int64]bool{}
	var next int64
	for try := 0; len(lengths) < wanted; try++ {
		if try > 4*wanted {
			t.Fatalf("only %d different lengths in %d tries", len(lengths), try)
		}
		id := fmt.Sprintf("k%d", try)
		journal := filepath.Join(p.root, "sessions", id, "checkpoints", "journal.jsonl")
		cmd, _, _ := p.command("run", "flow", "go", "--session", id, "-q")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		exited := make(chan struct{})
		go func() { cmd.Wait(); close(exited) }()
		killed := false
		for !killed {
			info, err := os.Stat(journal)
			if err == nil && info.Size() > next {
				cmd.Process.Kill()
				killed = true
			}
			select {
			case <-exited:
				killed = true
			case <-time.After(200 * time.Microsecond):
			}
		}
		<-exited
		info, err := os.Stat(journal)
		if err != nil {
			t.Fatal(err)
		}
		before, err := p.store.Load(context.Background(), id)
		if err != nil {
			t.Fatalf("at %d bytes: %v", info.Size(), err)
		}
		if before.Status.Finished() { // the run outran the kill: begin again from short lengths
			next = 0
			continue
		}
		next = info.Size()
		if lengths[next] {
			continue
		}
		lengths[next] = true
		p.checkResume(id, want)
	}
}

func (p *place) checkResume(id string, want outcome) {
	p.t.Helper()
	listed, _, _ := p.run("sessions", "--json")
	if !strings.Contains(listed, `"`+id+`"`) || !strings.Contains(listed, `"interrupted"`) {
		p.t.Errorf("session %s is not listed as interrupted: %s", id, listed)
	}
	stdout, stderr, code := p.run("send", id, "--resume", "--json", "-q")
	if code != 0 {
		p.t.Errorf("resuming %s: exit %d, %s", id, code, stderr)
		return
	}
	got := parseOutcome(p.t, stdout)
	if got.Kind != want.Kind || got.State != want.State || got.Reply != want.Reply || !slices.Equal(got.AuditTrail, want.AuditTrail) {
		p.t.Errorf("session %s came to %+v, want %+v", id, got, want)
	}
	started := map[string]int{}
	for rec, err := range p.store.Records(context.Background(), id, 1) {
		if err != nil {
			p.t.Fatal(err)
		}
		if in, ok := rec.Body.(*session.Intent); ok {
			started[in.Call]++
		}
	}
	for call, n := range started {
		if n != 1 {
			p.t.Errorf("session %s: call %s was started %d times", id, call, n)
		}
	}
}

const racedFlow = `
instructions: x
states:
  work:
    instructions: y
    triggers: { manual: }
    transitions: [ { to: review, description: to a person } ]
  review:
    type: human
    instructions: look
    transitions: [ { to: work, description: again } ]
`

// racedRun parks now on a decision, now on input, so that every arrival has a
// chance to fit.
func racedRun(r *modeltest.Request) modeltest.Answer {
	if strings.Contains(r.Volatile, "## This run is parked") {
		return modeltest.Text("parked")
	}
	a := modeltest.CallTool("archmax_advance", `{"to":"review","reason":"look"}`)
	if len(r.Messages)%2 == 0 {
		a = modeltest.CallTools("waiting", modeltest.Call{Name: "archmax_wait", Args: `{"reason":"an event"}`})
	}
	a.Wait = time.Duration(rand.IntN(20)) * time.Millisecond
	return a
}

// cleanLoss is every way to lose: another process is at work, the session is
// not what the arrival needs, or it is gone.
var cleanLoss = regexp.MustCompile(`is mid-turn|awaits no (decision|input)|no session "|cannot decide|takes no|was deleted|being deleted|already exists`)

// Thirty processes race on one session, some of them killed, some stopped for a
// while. There is one writer at a time, the journal stays contiguous, and who
// loses says so in one line.
func TestProcessesThatRaceOnOneSessionHaveOneWinnerAtATime(t *testing.T) {
	p := newPlace(t, racedFlow, racedRun)
	arrivals := [][]string{
		{"run", "flow", "go", "--session", "s", "-q"},
		{"send", "s", "hello", "-q"},
		{"decide", "s", "--to", "work", "-q"},
		{"deliver", "s", "--trigger", "manual", "-q"},
		{"sessions", "rm", "s"},
	}
	codes := map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			args := arrivals[[]int{0, 0, 1, 1, 2, 2, 3, 3, 1, 4}[i%10]]
			cmd, _, errs := p.command(args...)
			time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			switch {
			case i%6 == 1:
				time.Sleep(time.Duration(20+rand.IntN(150)) * time.Millisecond)
				cmd.Process.Kill()
			case i%6 == 3:
				time.Sleep(time.Duration(20+rand.IntN(100)) * time.Millisecond)
				cmd.Process.Signal(syscall.SIGSTOP)
				time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
				cmd.Process.Signal(syscall.SIGCONT)
			}
			cmd.Wait()
			code := cmd.ProcessState.ExitCode()
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
			text := strings.TrimSpace(errs.String())
			switch {
			case code == -1, code == 0: // killed, or won
			case code != 1 || strings.Contains(text, "\n") || !cleanLoss.MatchString(text):
				t.Errorf("%v: exit %d, %q", args, code, text)
			}
		})
	}
	wg.Wait()
	t.Logf("exit codes: %v", maps.Collect(maps.All(codes)))
	var last uint64
	for rec, err := range p.store.Records(context.Background(), "s", 1) {
		var gone session.NotFoundError
		if errors.As(err, &gone) {
			break // the last winner was rm
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Seq != last+1 {
			t.Fatalf("record %d follows record %d", rec.Seq, last)
		}
		last = rec.Seq
	}
	if _, stderr, code := p.run("sessions"); code != 0 {
		t.Errorf("listing afterwards: exit %d, %s", code, stderr)
	}
	stdout, stderr, code := p.run("run", "flow", "go", "--session", "s", "-q", "--json")
	if code != 0 {
		t.Errorf("the session is of no use afterwards: exit %d, %s%s", code, stdout, stderr)
	}
}

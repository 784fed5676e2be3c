package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/session"
)

// journal writes a session's records, as an arrival that then left the lock.
func journal(t *testing.T, dir, id string, frames ...[]session.Body) session.Store {
	t.Helper()
	store := session.NewFSStore(filepath.Join(dir, "sessions"), nil)
	w, err := store.Open(t.Context(), id, true)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, bodies := range frames {
		if _, err := w.Append(bodies...); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// opened is how every session begins here.
func opened(id string) []session.Body {
	return []session.Body{
		&session.Created{Session: id, Workflow: "greet"},
		&session.Turn{Arrival: session.ArriveTurn, Trigger: "manual"},
		&session.Moved{To: "start", Step: session.StepTrigger, As: "agent", Reason: "manual"},
		&session.NewMessage{Role: "user", Text: "hi"},
	}
}

func TestAFollowerTellsHowTheTurnEnded(t *testing.T) {
	pending := &session.Pending{State: "start", Approvers: "Kim", Seq: 1, Evidence: []string{}, Transitions: []session.PendingTransition{{To: "done", Type: "approve"}}}
	tests := []struct {
		name string
		end  session.Body
		want []string
	}{
		{"completed", &session.Settled{As: session.Completed}, []string{"[ok] completed  s1\n", "archmax send s1 \"…\"\n"}},
		{"cancelled", &session.Settled{As: session.Failed, Code: "turn-cancelled", Reason: "interrupted by the user"}, []string{"[failed] failed turn-cancelled  s1\n", "reason: interrupted by the user\n", "archmax send s1 --resume\n"}},
		{"failed", &session.Settled{As: session.Failed, Code: "no-order", Reason: "there is no such order"}, []string{"[failed] failed no-order  s1\n", "reason: there is no such order\n"}},
		{"rejected", &session.Settled{As: session.Rejected, Reason: "maxTurns spent"}, []string{"[rejected] rejected  s1\n", "reason: maxTurns spent\n"}},
		{"parked for input", &session.Parked{Channel: session.Input, Reason: "the bank answers tomorrow"}, []string{"[parked] awaiting input  s1\n", "waits for: the bank answers tomorrow\n", "archmax deliver s1 --trigger manual\n"}},
		{"parked for a decision", &session.Parked{Channel: session.Decision, Pending: pending}, []string{"[parked] awaiting decision  s1\n", "approvers: Kim\n", "archmax decide s1 --to done\n"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := greeter(t)
			journal(t, dir, "s1", opened("s1"), []session.Body{test.end})
			d := newTestDeps(dir, nil, "")
			if code := d.run("sessions", "log", "s1", "--follow"); code != ExitOK {
				t.Errorf("exit %d: %s", code, d.err.String())
			}
			for _, want := range test.want {
				if !strings.Contains(d.out.String(), want) {
					t.Errorf("%q is not in\n%s", want, d.out.String())
				}
			}
			events := newTestDeps(dir, nil, "")
			if code := events.run("sessions", "log", "s1", "--follow", "--events"); code != ExitOK {
				t.Errorf("--events: exit %d: %s", code, events.err.String())
			}
			for line := range strings.Lines(events.out.String()) {
				if !strings.HasPrefix(line, "{") {
					t.Errorf("--events printed %q, which is no JSON line", line)
				}
			}
		})
	}
}

func TestAFollowerDoesNotWaitForWordsThatNobodyWillSay(t *testing.T) {
	park := &session.Parked{Channel: session.Input, Reason: "the bank answers tomorrow", Say: session.SayWait}
	t.Run("the process died before the agent spoke", func(t *testing.T) {
		t.Parallel()
		dir := greeter(t)
		journal(t, dir, "s1", opened("s1"), []session.Body{park})
		d := newTestDeps(dir, nil, "")
		if code := d.run("sessions", "log", "s1", "--follow"); code != ExitFailure {
			t.Errorf("exit %d, want %d", code, ExitFailure)
		}
		if want := "[parked] awaiting input  s1\n"; !strings.Contains(d.out.String(), want) {
			t.Errorf("%q is not in\n%s", want, d.out.String())
		}
		for _, want := range []string{"the agent's message about its park is still due", "`archmax send s1 --resume`"} {
			if !strings.Contains(d.err.String(), want) {
				t.Errorf("%q is not in\n%s", want, d.err.String())
			}
		}
		if n := strings.Count(d.err.String(), "\n"); n != 1 {
			t.Errorf("the error has %d lines:\n%s", n, d.err.String())
		}
	})
	t.Run("the agent is about to speak", func(t *testing.T) {
		t.Parallel()
		dir := greeter(t)
		store := journal(t, dir, "s1", opened("s1"), []session.Body{park})
		w, err := store.Open(t.Context(), "s1", false)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		time.AfterFunc(followCheck+followCheck/2, func() { // after a look or two at a session that is at work
			_, _ = w.Append(&session.ModelSettled{Role: "agent", State: "start", Text: "I wait for the bank."})
		})
		d := newTestDeps(dir, nil, "")
		if code := d.run("sessions", "log", "s1", "--follow"); code != ExitOK {
			t.Errorf("exit %d: %s", code, d.err.String())
		}
		for _, want := range []string{"| I wait for the bank.\n", "[parked] awaiting input  s1\n"} {
			if !strings.Contains(d.out.String(), want) {
				t.Errorf("%q is not in\n%s", want, d.out.String())
			}
		}
	})
}

func TestAFileIsExactInAPipeAndHarmlessOnATerminal(t *testing.T) {
	dir := greeter(t)
	journal(t, dir, "s1", opened("s1"), []session.Body{&session.Settled{As: session.Completed}})
	const evidence = "Approve me.\x1b[2K\rRefund of 5 EUR\u202e\n"
	write(t, dir, "sessions/s1/scratchpad/memo.txt", evidence)
	for tty, want := range map[bool]string{false: evidence, true: "Approve me.^[[2K^MRefund of 5 EUR\\u202e\n"} {
		d := newTestDeps(dir, nil, "")
		d.io.OutTTY = tty
		if code := d.run("sessions", "cat", "s1", "scratchpad/memo.txt"); code != ExitOK {
			t.Fatalf("exit %d: %s", code, d.err.String())
		}
		if got := d.out.String(); got != want {
			t.Errorf("terminal %v: got %q, want %q", tty, got, want)
		}
	}
}

func TestAnArrivalThatIsTurnedAwayPrintsOneLine(t *testing.T) {
	dir := greeter(t)
	store := journal(t, dir, "s1", opened("s1"), []session.Body{&session.Settled{As: session.Completed}})
	w, err := store.Open(t.Context(), "s1", false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for name, line := range map[string]string{
		"an unknown trigger": "run hi --trigger nope --cassette tape.yaml",
		"no message":         "run --cassette tape.yaml",
		"a busy session":     "send s1 hi --cassette tape.yaml",
		"nothing to decide":  "decide s1 --to done --cassette tape.yaml",
		"nothing to deliver": "deliver s1 --trigger manual --cassette tape.yaml",
	} {
		d := newTestDeps(dir, nil, "")
		if code := d.run(words(line)...); code == ExitOK {
			t.Errorf("%s: exit 0", name)
		}
		if got := d.err.String(); strings.Count(got, "\n") != 1 || d.out.Len() > 0 {
			t.Errorf("%s: want one line on standard error alone, got\n%s%s", name, got, d.out.String())
		}
	}
}

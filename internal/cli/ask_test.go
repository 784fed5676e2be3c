package cli

import (
	"strings"
	"testing"
)

// atTerminal are deps in dir with a person who types stdin.
func atTerminal(dir, stdin string) *testDeps {
	d := newTestDeps(dir, nil, stdin)
	d.io.InTTY, d.io.ErrTTY = true, true
	return d
}

func formWorkspace(t *testing.T) string {
	dir := t.TempDir()
	write(t, dir, "workflows/form/workflow.yaml", `
instructions: Fill in.
states:
  start:
    triggers:
      manual:
        requires:
          - { name: order_id, type: string, pattern: "^ORD-[0-9]+$", description: The order number. }
          - { name: count, type: integer }
`)
	write(t, dir, "tape.yaml", "version: 1\ncalls:\n  - text: Thank you.\n")
	return dir
}

func TestRunAsksAPersonForWhatIsMissing(t *testing.T) {
	dir := formWorkspace(t)
	d := atTerminal(dir, "12\nORD-12\nmany\n3\n")
	if code := d.run("run", "hi", "--session", "s1", "--cassette", "tape.yaml"); code != ExitOK {
		t.Fatalf("exit code %d; stderr:\n%s", code, &d.err)
	}
	for _, want := range []string{"order_id (string) — The order number.: ", "count (integer): "} {
		if n := strings.Count(d.err.String(), want); n != 2 { // asked again after the bad answer
			t.Errorf("%q was asked %d times, want 2:\n%s", want, n, &d.err)
		}
	}
	show := newTestDeps(dir, nil, "")
	show.run("sessions", "s1")
	for _, want := range []string{`order_id = "ORD-12"  (locked)`, `count = 3  (locked)`} {
		if !strings.Contains(show.out.String(), want) {
			t.Errorf("the session has no %s:\n%s", want, &show.out)
		}
	}
}

func TestAnEndOfInputIsNoAnswer(t *testing.T) {
	dir := formWorkspace(t)
	d := atTerminal(dir, "ORD-12\n")
	if code := d.run("run", "hi", "--cassette", "tape.yaml"); code != ExitFailure {
		t.Errorf("exit code %d, want 1", code)
	}
	if want := "archmax: standard input ended before the question was answered; nothing was changed\n"; !strings.HasSuffix(d.err.String(), want) {
		t.Errorf("got:\n%s", &d.err)
	}
	list := newTestDeps(dir, nil, "")
	if list.run("sessions"); list.out.String() != "no sessions\n" {
		t.Errorf("a session was written:\n%s", &list.out)
	}
}

func TestDecideLetsAPersonChoose(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "workflows/ask/workflow.yaml", `
instructions: Ask.
states:
  start:
    triggers: { manual: }
    instructions: Ask.
    transitions: [ { to: review, description: Always. } ]
  review:
    type: human
    instructions: Is it good?
    transitions:
      - { to: good, description: It is., type: approve }
      - { to: bad, description: It is not., type: reject }
  good: { instructions: Good. }
  bad: { instructions: Bad. }
`)
	write(t, dir, "tape.yaml", `
version: 1
calls:
  - tool_calls: [ { name: archmax_advance, args: { to: review, reason: Ready. } } ]
  - text: Please decide.
  - text: Decided.
`)
	run := newTestDeps(dir, nil, "")
	if code := run.run("run", "hi", "--session", "s1", "--cassette", "tape.yaml"); code != ExitOK {
		t.Fatalf("exit code %d:\n%s", code, &run.err)
	}
	d := atTerminal(dir, "7\n2\nToo late.\n")
	if code := d.run("decide", "s1", "--no-color", "--cassette", "tape.yaml"); code != ExitOK {
		t.Fatalf("exit code %d:\n%s", code, &d.err)
	}
	for _, want := range []string{"Is it good?", `"7" is no choice`, "decided bad"} {
		if !strings.Contains(d.err.String(), want) {
			t.Errorf("stderr lacks %q:\n%s", want, &d.err)
		}
	}
	log := newTestDeps(dir, nil, "")
	log.run("sessions", "log", "s1", "--events")
	if want := `"to":"bad","comment":"Too late."`; !strings.Contains(log.out.String(), want) {
		t.Errorf("the journal lacks %s:\n%s", want, &log.out)
	}
}

func TestTheReplyIsShownOnceOnOneTerminal(t *testing.T) {
	dir := greeter(t)
	for name, test := range map[string]struct {
		args []string
		want int
	}{
		"the narration has shown it":            {nil, 1},
		"without narration it is printed":       {[]string{"-q"}, 1},
		"a stored outcome has no narration yet": {[]string{"--idempotency-key", "k"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // the second time with a key, the stored outcome is told
				d := newTestDeps(dir, nil, "")
				d.io.OutTTY, d.io.ErrTTY, d.io.SameTerminal = true, true, true
				args := append([]string{"run", "hi", "--cassette", "tape.yaml", "--no-color"}, test.args...)
				if code := d.run(args...); code != ExitOK {
					t.Fatalf("exit code %d:\n%s", code, &d.err)
				}
				if n := strings.Count(d.out.String()+d.err.String(), "Hello."); n != test.want {
					t.Errorf("shown %d times:\n%s%s", n, &d.out, &d.err)
				}
			}
		})
	}
}

package cli

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestRunReadsItsFlags(t *testing.T) {
	var got *runOptions
	d := newTestDeps(t.TempDir(), nil, "")
	err := parse(t, newRunCmd(d.deps, func(_ context.Context, o *runOptions) error { got = o; return nil }), words(
		"greet hello there --trigger web --session s1 --model big --timeout 90s --recursion-limit 7 --ephemeral --dry-run "+
			"--json --events --idempotency-key k1 --exit-status --record tape.yaml --clock 2026-01-02 --variables {} "+
			"--var a=1 --var b:=1 --file doc=./a.pdf")...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"greet", "hello", "there"}, got.Args); diff != "" {
		t.Error(diff)
	}
	for name, same := range map[string]bool{
		"trigger":         got.Trigger == "web",
		"session":         got.Session == "s1",
		"model":           got.Model == "big",
		"timeout":         got.Timeout == 90*time.Second,
		"recursion-limit": got.RecursionLimit == 7,
		"ephemeral":       got.Ephemeral,
		"dry-run":         got.DryRun,
		"json":            got.JSON,
		"events":          got.Events == "-",
		"idempotency-key": got.Key == "k1",
		"exit-status":     got.ExitStatus,
		"record":          got.Record == "tape.yaml",
		"clock":           got.Clock.Equal(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)),
		"variables":       got.Variables == "{}",
		"var a":           got.Vars[0].name == "a" && string(got.Vars[0].value) == `"1"`,
		"var b":           got.Vars[1].name == "b" && string(got.Vars[1].value) == `1`,
		"file":            got.Files[0] == attachment{"doc", "./a.pdf"},
	} {
		if !same {
			t.Errorf("--%s was not read", name)
		}
	}
}

func TestEventsMayNameAFile(t *testing.T) {
	var got *runOptions
	d := newTestDeps(t.TempDir(), nil, "")
	err := parse(t, newRunCmd(d.deps, func(_ context.Context, o *runOptions) error { got = o; return nil }), "hi", "--events=e.jsonl")
	if err != nil || got.Events != "e.jsonl" {
		t.Errorf("got %q, %v", got.Events, err)
	}
}

func TestTheClockTakesADateOrADateTimeWithAnOffset(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-30":                "2026-11-30T00:00:00Z",
		"2026-11-30T09:00:00+01:00": "2026-11-30T08:00:00Z",
		"2026-11-30T09:00:00.5Z":    "2026-11-30T09:00:00.5Z",
		"2026-11-30T09:00:00":       "",
		"2026-02-30":                "",
		"noon":                      "",
	} {
		got, err := parseClock(text)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q was taken for %v", text, got)
		case want != "" && (err != nil || got.UTC().Format(time.RFC3339Nano) != want):
			t.Errorf("%q is %v, %v; want %s", text, got, err, want)
		}
	}
}

func TestSendReadsItsFlags(t *testing.T) {
	var got *sendOptions
	keep := func(_ context.Context, o *sendOptions) error { got = o; return nil }
	d := newTestDeps(t.TempDir(), nil, "")
	if err := parse(t, newSendCmd(d.deps, keep), words("s1 go on --as reply")...); err != nil {
		t.Fatal(err)
	}
	if got.ID != "s1" || got.As != "reply" || !cmp.Equal(got.Message, []string{"go", "on"}) {
		t.Errorf("got %+v", got)
	}
	if err := parse(t, newSendCmd(d.deps, keep), "s1", "--resume"); err != nil || !got.Resume {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDecideReadsItsFlags(t *testing.T) {
	var got *decideOptions
	d := newTestDeps(t.TempDir(), nil, "")
	err := parse(t, newDecideCmd(d.deps, func(_ context.Context, o *decideOptions) error { got = o; return nil }),
		"s1", "--to", "paid", "--comment", "Go ahead.", "--by", "Kim", "--seq", "2")
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != "s1" || got.To != "paid" || got.Comment != "Go ahead." || got.By != "Kim" || got.Seq != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestDeliverReadsItsFlags(t *testing.T) {
	var got *deliverOptions
	d := newTestDeps(t.TempDir(), nil, "")
	err := parse(t, newDeliverCmd(d.deps, func(_ context.Context, o *deliverOptions) error { got = o; return nil }),
		words("--due --trigger timer")...)
	if err != nil || !got.Due || got.Trigger != "timer" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestValidateReadsItsFlags(t *testing.T) {
	var got *validateOptions
	d := newTestDeps(t.TempDir(), nil, "")
	keep := func(_ context.Context, o *validateOptions) error { got = o; return nil }
	if err := parse(t, newValidateCmd(d.deps, keep), words("a b --json --strict")...); err != nil {
		t.Fatal(err)
	}
	if got.Format != "json" || !got.Strict || !cmp.Equal(got.Workflows, []string{"a", "b"}) {
		t.Errorf("got %+v", got)
	}
	if err := parse(t, newValidateCmd(d.deps, keep)); err != nil || got.Format != "text" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestSessionsReadsItsFlags(t *testing.T) {
	var got *sessionsOptions
	d := newTestDeps(t.TempDir(), nil, "")
	keep := func(_ context.Context, o *sessionsOptions) error { got = o; return nil }
	if err := parse(t, newSessionsCmd(d.deps, keep), words("--status failed --workflow greet --due --json")...); err != nil {
		t.Fatal(err)
	}
	if got.Status != "failed" || got.Workflow != "greet" || !got.Due || !got.JSON || got.ID != "" {
		t.Errorf("got %+v", got)
	}
}

// A name means one kind of flag everywhere: commandFirst relies on it. The one
// that does not is --record, which `test` takes without a value.
func TestAFlagNameTakesAValueEverywhereOrNowhere(t *testing.T) {
	root := newRootCmd(newTestDeps(t.TempDir(), nil, "").deps)
	takes, may := valueFlags(root)
	for name := range may {
		if takes[name] && name != "record" {
			t.Errorf("--%s takes a value in some commands only", name)
		}
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		own := map[string]bool{}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { own[f.Name] = f.NoOptDefVal == "" })
		for name, value := range own {
			if value != takes[name] && name != "record" {
				t.Errorf("%s --%s: takes a value %t here, %t elsewhere", c.CommandPath(), name, value, takes[name])
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

func TestTheCommandComesFirstWhereverTheFlagsStand(t *testing.T) {
	root := newRootCmd(newTestDeps(t.TempDir(), nil, "").deps)
	for _, c := range []struct{ in, want string }{
		{"run hi", "run hi"},
		{"--json run hi", "run --json hi"},
		{"--session s1 run hi", "run --session s1 hi"},
		{"--session=s1 -q run hi --json", "run --session=s1 -q hi --json"},
		{"--sessions d sessions --json log s1", "sessions log --sessions d --json s1"},
		{"-- run", "-- run"},
		{"run -- --json", "run -- --json"},
		{"--events run hi", "run --events hi"},
		{"--record test answer", "test --record answer"},
		{"--record tape.yaml run hi", "run --record tape.yaml hi"},
		{"sessions s1 log", "sessions s1 log"},
		{"--version", "--version"},
		{"__complete run x", "__complete run x"},
	} {
		if diff := cmp.Diff(words(c.want), commandFirst(root, words(c.in))); diff != "" {
			t.Errorf("%s: %s", c.in, diff)
		}
	}
}

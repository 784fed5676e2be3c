package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// testDeps are deps that run in dir, with an environment of their own and
// streams that are pipes.
type testDeps struct {
	*deps
	out, err bytes.Buffer
}

var testNow = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newTestDeps(dir string, env map[string]string, stdin string) *testDeps {
	t := &testDeps{}
	hidden := &secrets{}
	if env == nil {
		env = map[string]string{}
	}
	t.deps = &deps{
		ctx:     context.Background(),
		io:      newStreams(strings.NewReader(stdin), &t.out, &t.err, hidden),
		env:     env,
		dir:     dir,
		now:     func() time.Time { return testNow },
		secrets: hidden,
		global:  &globalOptions{},
	}
	return t
}

// run executes a whole command line in process.
func (t *testDeps) run(args ...string) ExitCode { return execute(context.Background(), t.deps, args) }

// parse runs a command whose runF keeps the options, and returns the error.
func parse(t *testing.T, cmd *cobra.Command, args ...string) error {
	t.Helper()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetFlagErrorFunc(flagError)
	cmd.SetArgs(append([]string{}, args...)) // nil would stand for the test binary's own arguments
	return cmd.ExecuteContext(context.Background())
}

func words(line string) []string { return strings.Fields(line) }

// greeter makes a workspace whose workflow answers from tape.yaml.
func greeter(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "workflows/greet/workflow.yaml", "instructions: Greet.\nstates:\n  start: { triggers: { manual: } }\n")
	write(t, dir, "tape.yaml", "version: 1\ncalls:\n  - text: Hello.\n")
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestEveryExampleOfTheHelpWorks pastes the examples of every command, in order,
// into a copy of the repository's root.
func TestEveryExampleOfTheHelpWorks(t *testing.T) {
	root := repository(t)
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		if !cmd.Runnable() && !cmd.HasSubCommands() {
			return // a topic
		}
		t.Run(strings.ReplaceAll(cmd.CommandPath(), " ", "_"), func(t *testing.T) {
			if cmd.Example == "" {
				t.Fatal("the help has no example")
			}
			dir := t.TempDir()
			for _, name := range []string{"workflows", "skills", "AGENTS.md", "testdata/cassettes"} {
				copyInto(t, filepath.Join(root, name), filepath.Join(dir, name))
			}
			for line := range strings.Lines(cmd.Example) {
				args, want := exampleArgs(t, line)
				d := newTestDeps(dir, nil, "")
				if code := d.run(args...); code != want {
					t.Errorf("%s\nexits %d, want %d:\n%s", strings.TrimSpace(line), code, want, &d.err)
				}
			}
		})
	}
	walk(newRootCmd(newTestDeps(root, nil, "").deps))
}

// exampleArgs splits a line as a shell does, as far as the examples need it. Two
// need what no copy of the repository has: a turn at work, and sessions.
func exampleArgs(t *testing.T, line string) ([]string, ExitCode) {
	t.Helper()
	line = strings.TrimSpace(line)
	line, _, _ = strings.Cut(strings.TrimPrefix(line, "source <("), " > ")
	line = strings.TrimSuffix(line, ")")
	var args []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	if args[0] != "archmax" {
		t.Fatalf("%q does not start with archmax", line)
	}
	want := ExitOK
	if len(args) > 2 && args[1] == "sessions" && (args[2] == "cancel" || args[2] == "rm") {
		want = ExitFailure
	}
	return args[1:], want
}

func copyInto(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		return
	}
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(to), filepath.Base(to), string(content))
}

//go:build !windows

package render

import (
	"bytes"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// commands are the shell commands that text shows.
func commands(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "archmax ") {
			found = append(found, line)
		}
	}
	return found
}

// shellWords asks a POSIX shell how it reads a command's words.
func shellWords(t *testing.T, command string) []string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `archmax() { printf '%s\0' archmax "$@"; }; `+command).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%s: %v: %s", command, err, exit.Stderr)
		}
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func TestAPrintedCommandReadsBackAsItsWords(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Fatal("this test needs a POSIX shell named sh on the PATH:", err)
	}
	ids := []string{
		"s1", "s1~1", "~root", "order 17", "it's", `a"b`, "$(touch x)", "`id`", "a;b&c|d", "*", "#1", "=ls", "!!", `back\slash`,
		"Grüße", "日本", "%41", "-rf", "--to", "rtl\u202egnp", "esc\x1b[2J", "\xff\xfe", "new\nline",
	}
	opts := VerdictOptions{Flags: []string{"--root", "/my files/it's $HOME", "--sessions=/a b"}}
	for _, id := range ids {
		out := decisionOutcome()
		out.SessionID = id
		var b bytes.Buffer
		if err := Verdict(&b, pipe, out, opts); err != nil {
			t.Fatal(err)
		}
		found := commands(b.String())
		if len(found) != 3 {
			t.Fatalf("id %q: %d commands, want one an edge (3):\n%s", id, len(found), b.String())
		}
		for i, to := range []string{"payout", "decline", "triage"} {
			want := []string{"archmax", "decide", id, "--to", to, "--root", "/my files/it's $HOME", "--sessions=/a b"}
			if strings.HasPrefix(id, "-") {
				want = []string{"archmax", "decide", "--to", to, "--root", "/my files/it's $HOME", "--sessions=/a b", "--", id}
			}
			if got := shellWords(t, found[i]); !slices.Equal(got, want) {
				t.Errorf("id %q: the shell reads %q, want %q", id, got, want)
			}
			if strings.ContainsAny(found[i], "\x1b\u202e\n") {
				t.Errorf("id %q: the command could drive the terminal: %q", id, found[i])
			}
		}
	}
}

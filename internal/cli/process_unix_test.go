//go:build unix

package cli

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is archmax as a process of its own: the test binary under that name.
func program(t *testing.T, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "archmax")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(link, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, env...)
	return cmd
}

func exitOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return -1
}

// TestSignalsEndTheTurn: an interrupt cancels the turn, which can be resumed;
// SIGINT exits 130, SIGQUIT 131 and SIGTERM 143.
func TestSignalsEndTheTurn(t *testing.T) {
	for name, test := range map[string]struct {
		sig  os.Signal
		code int
	}{"SIGINT exits 130": {os.Interrupt, 130}, "SIGTERM exits 143": {syscall.SIGTERM, 143}, "SIGQUIT exits 131": {syscall.SIGQUIT, 131}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan struct{}, 8)
			stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // only then is a lost client noticed
				asked <- struct{}{}
				<-r.Context().Done()
			}))
			defer stuck.Close()
			dir := greeter(t)
			env := []string{"ARCHMAX_API_BASE_URL=" + stuck.URL + "/v1", "ARCHMAX_MODEL=m"}
			cmd := program(t, dir, env, "run", "hi", "--session", "s1")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-asked:
			case <-time.After(20 * time.Second):
				t.Fatal("the model was never asked")
			}
			if err := cmd.Process.Signal(test.sig); err != nil {
				t.Fatal(err)
			}
			if got := exitOf(t, cmd.Wait()); got != test.code {
				t.Errorf("exit code %d, want %d; stderr:\n%s", got, test.code, &stderr)
			}
			if want := "archmax send s1 --resume"; !strings.Contains(stderr.String(), want) {
				t.Errorf("stderr does not show %q:\n%s", want, &stderr)
			}
			out, err := program(t, dir, nil, "send", "s1", "--resume", "--cassette", "tape.yaml").Output()
			if err != nil || string(out) != "Hello.\n" {
				t.Errorf("the turn could not be resumed: %q, %v", out, err)
			}
		})
	}
}

// TestAClosedStdoutIsAnError: one clear line, exit 1, and the session is whole.
func TestAClosedStdoutIsAnError(t *testing.T) {
	t.Parallel()
	dir := greeter(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	cmd := program(t, dir, nil, "run", "hi", "--session", "s1", "--cassette", "tape.yaml", "-q")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &stderr
	err = cmd.Run()
	w.Close()
	if got := exitOf(t, err); got != 1 {
		t.Errorf("exit code %d, want 1", got)
	}
	if text := stderr.String(); !strings.Contains(text, "standard output was closed") || strings.Count(text, "\n") != 1 {
		t.Errorf("want one line about the closed pipe, got:\n%s", text)
	}
	out, err := program(t, dir, nil, "sessions", "s1").Output()
	if err != nil || !strings.Contains(string(out), "status: completed") {
		t.Errorf("the session is not whole: %s %v", out, err)
	}
}

// TestAFullDiskIsAnError where the system has a device that is always full.
func TestAFullDiskIsAnError(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		t.Log("no /dev/full on this system; a writer that is full stands in")
		s := newStreams(nil, fullWriter{}, io.Discard, &secrets{})
		_, _ = io.WriteString(s.Out, "x")
		if err := s.resultErr(); err == nil || !strings.Contains(err.Error(), "no space left on device") {
			t.Errorf("got %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	cmd := program(t, greeter(t), nil, "run", "hi", "--cassette", "tape.yaml", "-q")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = full, &stderr
	if got := exitOf(t, cmd.Run()); got != 1 || !strings.Contains(stderr.String(), "no space left on device") {
		t.Errorf("exit code %d, stderr:\n%s", got, &stderr)
	}
}

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestAnotherProcessIsFollowedAndCancelled: log --follow ends with the turn that
// sessions cancel ends.
func TestAnotherProcessIsFollowedAndCancelled(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 8)
	stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is a lost client noticed
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer stuck.Close()
	dir := greeter(t)
	run := program(t, dir, []string{"ARCHMAX_API_BASE_URL=" + stuck.URL + "/v1", "ARCHMAX_MODEL=m"}, "run", "hi", "--session", "s1")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-asked:
	case <-time.After(20 * time.Second):
		t.Fatal("the model was never asked")
	}
	follow := program(t, dir, nil, "sessions", "log", "s1", "--follow", "--events")
	var events bytes.Buffer
	follow.Stdout = &events
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	busy, err := program(t, dir, nil, "send", "s1", "hi", "--cassette", "tape.yaml").CombinedOutput()
	if got := exitOf(t, err); got != 1 || !strings.Contains(string(busy), "archmax: session s1 is mid-turn (pid ") {
		t.Errorf("a second turn exited %d:\n%s", got, busy)
	}
	if out, err := program(t, dir, nil, "sessions", "cancel", "s1").CombinedOutput(); err != nil {
		t.Errorf("cancel: %v\n%s", err, out)
	}
	if got := exitOf(t, run.Wait()); got != 1 {
		t.Errorf("the cancelled turn exited %d, want 1", got)
	}
	if got := exitOf(t, follow.Wait()); got != 0 || !strings.Contains(events.String(), `"type":"state-leave"`) {
		t.Errorf("follow exited %d with:\n%s", got, &events)
	}
}

// TestTheTimeLimitEndsTheTurn: --timeout fails the turn, which can be resumed.
func TestTheTimeLimitEndsTheTurn(t *testing.T) {
	t.Parallel()
	stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is a lost client noticed
		<-r.Context().Done()
	}))
	defer stuck.Close()
	env := []string{"ARCHMAX_API_BASE_URL=" + stuck.URL + "/v1", "ARCHMAX_MODEL=m"}
	cmd := program(t, greeter(t), env, "run", "hi", "--session", "s1", "--timeout", "200ms", "--json", "-q")
	out, err := cmd.Output()
	if got := exitOf(t, err); got != 1 {
		t.Errorf("exit code %d, want 1", got)
	}
	for _, want := range []string{`"code": "turn-cancelled"`, `the time limit of 200ms (--timeout) ran out`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the outcome lacks %s:\n%s", want, out)
		}
	}
}

// TestASignalEndsEveryRead: a FIFO that nobody writes to, and standard input
// that stays open, hold a command up no longer than the first signal.
func TestASignalEndsEveryRead(t *testing.T) {
	t.Parallel()
	dir := greeter(t)
	for _, sig := range []struct {
		signal syscall.Signal
		code   int
		says   string
	}{{syscall.SIGINT, 130, "archmax: interrupted\n"}, {syscall.SIGTERM, 143, "archmax: terminated\n"}, {syscall.SIGQUIT, 131, "archmax: quit\n"}} {
		for _, args := range []string{"run hi --file a=fifo", "run @fifo", "run hi --variables @fifo", "run hi --cassette fifo", "run -", "run hi --cassette tape.yaml --events=fifo"} {
			// A process that has not come to its first line dies as any other does:
			// on a busy machine it is given more time, and asked again.
			for wait := 150 * time.Millisecond; ; wait *= 4 {
				code, says := signalled(t, dir, args, sig.signal, wait)
				if untrapped := code < 0 || strings.Contains(says, "SIGQUIT: quit"); untrapped && wait < 5*time.Second {
					continue
				}
				if code != sig.code || says != sig.says {
					t.Errorf("%s on %q: exit code %d, want %d; stderr:\n%s", sig.signal, args, code, sig.code, says)
				}
				break
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "sessions")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a session was opened: %v", err)
	}
}

// signalled runs a command that waits for a FIFO or for standard input, sends
// it the signal after the wait, and tells how it ended.
func signalled(t *testing.T, dir, args string, sig syscall.Signal, wait time.Duration) (code int, says string) {
	t.Helper()
	fifo := filepath.Join(dir, "fifo")
	if err := os.Remove(fifo); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, dir, nil, words(args)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer end.Stop()
	time.Sleep(wait)
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	return exitOf(t, cmd.Wait()), stderr.String()
}

// TestAnEndlessFileIsRefused: a device has no end.
func TestAnEndlessFileIsRefused(t *testing.T) {
	t.Parallel()
	dir := greeter(t)
	for _, args := range []string{"run hi --file a=/dev/zero", "run @/dev/zero", "run hi --variables @/dev/zero", "run hi --cassette /dev/zero"} {
		out, err := program(t, dir, nil, words(args)...).CombinedOutput()
		if got := exitOf(t, err); got != 2 || !strings.Contains(string(out), "cannot read the file /dev/zero: it is a device, not a file") {
			t.Errorf("%q: exit code %d\n%s", args, got, out)
		}
	}
	endless, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer endless.Close()
	cmd := program(t, dir, nil, "run", "-")
	cmd.Stdin = endless
	out, err := cmd.CombinedOutput()
	if got := exitOf(t, err); got != 2 || !strings.Contains(string(out), "the message: cannot read standard input: it is larger than 16 MiB") {
		t.Errorf("standard input: exit code %d\n%s", got, out)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "archmax.yaml")); err != nil {
		t.Fatal(err)
	}
	out, err = program(t, dir, nil, "run", "hi", "--cassette", "tape.yaml").CombinedOutput()
	if got := exitOf(t, err); got != 1 || !strings.Contains(string(out), "archmax.yaml: error[unreadable]: the file cannot be read: it is a device, not a file") {
		t.Errorf("archmax.yaml: exit code %d\n%s", got, out)
	}
}

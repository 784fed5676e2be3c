//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// steps is an endpoint that answers with n tool calls, one a request, and then
// with words.
func steps(b *testing.B, n int) string {
	b.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		done := bytes.Count(body, []byte(`"role":"tool"`))
		w.Header().Set("Content-Type", "text/event-stream")
		if done >= n {
			io.WriteString(w, `data: {"choices":[{"delta":{"content":"done"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
			return
		}
		fmt.Fprintf(w, `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_%d","function":{"name":"ls","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n", done)
	}))
	b.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

// process runs the program to its end and returns its peak resident size.
func process(b *testing.B, root, url string, args ...string) (maxRSS int64) {
	b.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "ARCHMAX_API_BASE_URL="+url, "ARCHMAX_API_KEY=k", "ARCHMAX_MODEL=m", "ARCHMAX_ROOT="+root)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
}

func benchRoot(b *testing.B) string {
	b.Helper()
	root := b.TempDir()
	dir := filepath.Join(root, "workflows", "flow")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "workflow.yaml"), []byte(longFlow), 0o644); err != nil {
		b.Fatal(err)
	}
	return root
}

func BenchmarkVersion(b *testing.B) {
	for b.Loop() {
		process(b, ".", "", "--version")
	}
}

func BenchmarkRunOneStep(b *testing.B) {
	root, url := benchRoot(b), steps(b, 1)
	n := 0
	for b.Loop() {
		n++
		process(b, root, url, "run", "flow", "go", "-q", "--session", "s"+strconv.Itoa(n))
	}
}

func BenchmarkValidateOne(b *testing.B) {
	root := benchRoot(b)
	for b.Loop() {
		process(b, root, "", "validate", "-q")
	}
}

// BenchmarkRun400Steps reports the peak resident size of a run of 400 steps.
func BenchmarkRun400Steps(b *testing.B) {
	root, url := benchRoot(b), steps(b, 400)
	n := 0
	for b.Loop() {
		n++
		rss := process(b, root, url, "run", "flow", "go", "-q", "--recursion-limit", "2000", "--session", "s"+strconv.Itoa(n))
		b.ReportMetric(float64(rss)/1024, "MB-peak")
	}
}

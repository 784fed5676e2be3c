package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// stepServer answers every request with one tool call, and after steps of them
// with words. It reads the whole body, as a real endpoint does, and keeps
// nothing, so that what is measured is the client's side.
func stepServer(b *testing.B, steps int) *httptest.Server {
	b.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := bytes.Count(body, []byte(`"role":"tool"`))
		w.Header().Set("Content-Type", "application/json")
		if n >= steps {
			io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`)
			return
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"ls","arguments":"{\"path\":\"scratchpad\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`, n)
	}))
	b.Cleanup(srv.Close)
	return srv
}

// benchRuntime is a runtime over a fresh workspace and a client of srv.
func benchRuntime(b *testing.B, url string, events event.Sink) (*runtime.Runtime, string) {
	b.Helper()
	root := b.TempDir()
	dir := filepath.Join(root, "workflows", "flow")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "workflow.yaml"), []byte(flow), 0o644); err != nil {
		b.Fatal(err)
	}
	shared, _ := workspace.Open(root, workspace.DefaultMounts(), workspace.Guard{})
	b.Cleanup(func() { shared.Close() })
	return runtime.New(runtime.Options{
		Root: os.DirFS(root), Store: session.NewFSStore(filepath.Join(root, "sessions"), nil), Shared: shared,
		Client: model.NewOpenAI(model.Options{BaseURL: url, Model: "m"}), Events: events, RecursionLimit: 10_000,
	}), root
}

// BenchmarkStep is the cost of one step (a model call, its frame, a tool call,
// its frame) over steps 100 to 400 of a session, beside a bare loop of the
// standard library that does the same against the same server: it keeps the
// history as bytes, appends and syncs twice a step. The metric is the ratio.
func BenchmarkStep(b *testing.B) {
	const from, to = 100, 400
	var ours, bare time.Duration
	for b.Loop() {
		srv := stepServer(b, to)
		var marks []time.Time
		rt, _ := benchRuntime(b, srv.URL, func(e event.Event) {
			if e.Type == "tool-result" {
				marks = append(marks, time.Now())
			}
		})
		o, err := rt.Send(context.Background(), runtime.Message{Workflow: "flow", Session: "s", Text: "go"})
		if err != nil || o.Kind != "completed" {
			b.Fatal(err, o)
		}
		ours += marks[to-1].Sub(marks[from-1])
		bare += bareLoop(b, srv.URL, from, to)
	}
	n := float64(b.N) * (to - from)
	b.ReportMetric(float64(ours.Microseconds())/n, "us/step")
	b.ReportMetric(float64(bare.Microseconds())/n, "bare-us/step")
	b.ReportMetric(float64(ours)/float64(bare), "x-bare")
}

func bareLoop(b *testing.B, url string, from, to int) time.Duration {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	log := func(p []byte) {
		if _, err := f.Write(append(p, '\n')); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	history := [][]byte{[]byte(`{"role":"system","content":"You are an agent."}`), []byte(`{"role":"user","content":"go"}`)}
	var start time.Time
	for step := range to {
		if step == from {
			start = time.Now()
		}
		body := append([]byte(`{"model":"m","messages":[`), bytes.Join(history, []byte(","))...)
		body = append(body, `],"tools":[{"type":"function","function":{"name":"ls"}}]}`...)
		resp, err := http.Post(url+"/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		var answer struct {
			Choices []struct {
				Message struct {
					Calls json.RawMessage `json:"tool_calls"`
				} `json:"message"`
			} `json:"choices"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body) // to the end, so that the connection is used again
		resp.Body.Close()
		said := fmt.Appendf(nil, `{"role":"assistant","tool_calls":%s}`, answer.Choices[0].Message.Calls)
		log(said)
		result := fmt.Appendf(nil, `{"role":"tool","tool_call_id":"call_%d","content":"(empty)"}`, step)
		log(result)
		history = append(history, said, result)
	}
	return time.Since(start)
}

// BenchmarkJournalGrowth reports the journal's bytes a step, and a 400-step
// session against four of 100.
func BenchmarkJournalGrowth(b *testing.B) {
	size := func(steps int) float64 {
		rt, root := benchRuntime(b, stepServer(b, steps).URL, nil)
		if _, err := rt.Send(context.Background(), runtime.Message{Workflow: "flow", Session: "s", Text: "go"}); err != nil {
			b.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(root, "sessions", "s", "checkpoints", "journal.jsonl"))
		if err != nil {
			b.Fatal(err)
		}
		return float64(info.Size())
	}
	for b.Loop() {
		at100, at200, at400 := size(100), size(200), size(400)
		b.ReportMetric((at200-at100)/100, "B/step-100-200")
		b.ReportMetric((at400-at200)/200, "B/step-200-400")
		b.ReportMetric(at400/(4*at100), "x-four-of-100")
	}
}

// BenchmarkManySessions runs 200 sessions of 50 steps in one process and checks
// that no event is lost.
func BenchmarkManySessions(b *testing.B) {
	const sessions, steps = 200, 50
	for b.Loop() {
		srv := stepServer(b, steps)
		var results atomic.Int64
		rt, _ := benchRuntime(b, srv.URL, func(e event.Event) {
			if e.Type == "tool-result" {
				results.Add(1)
			}
		})
		gate := make(chan struct{}, 4*goruntime.NumCPU())
		var wg sync.WaitGroup
		for i := range sessions {
			wg.Go(func() {
				gate <- struct{}{}
				defer func() { <-gate }()
				if _, err := rt.Send(context.Background(), runtime.Message{Workflow: "flow", Session: fmt.Sprintf("s%d", i), Text: "go"}); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
		if n := results.Load(); n != sessions*steps {
			b.Fatalf("%d tool results announced, want %d", n, sessions*steps)
		}
	}
}

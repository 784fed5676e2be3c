package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/model/modeltest"
)

// recording is a Sink that keeps what it is told.
type recording struct {
	deltas []string
	broken int
}

func (r *recording) Delta(text string) { r.deltas = append(r.deltas, text) }
func (r *recording) Broken()           { r.broken++; r.deltas = nil }
func (r *recording) text() string      { return strings.Join(r.deltas, "") }

// clock is a clock that sleeping moves.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

func (c *clock) same(d time.Duration) time.Duration { return d }

// options are for a client of the server that never waits and never varies.
func options(url string) (model.Options, *clock) {
	c := newClock()
	return model.Options{
		BaseURL: url, APIKey: "sk-test-sentinel-0123456789", Model: "test-model", Streaming: true,
		Now: c.Now, Sleep: c.Sleep, Jitter: c.same,
	}, c
}

func client(url string) model.Client {
	o, _ := options(url)
	return model.NewOpenAI(o)
}

// question is a small request.
func question() *model.Request {
	return &model.Request{
		Role: model.RoleAgent, Static: "You are an agent.", Volatile: "## Current state: triage\nAsk.",
		Messages: []*model.Message{{Role: "user", Content: "hi"}},
		Tools:    []*model.Tool{{Name: "lookup", Description: "Look up.", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
}

// withHistory is a request whose history holds a call and its result.
func withHistory() *model.Request {
	r := question()
	r.Messages = append(r.Messages,
		&model.Message{Role: "assistant", Content: "Let me see.", Calls: []model.Call{{ID: "c1", Name: "lookup", Args: `{"id":9007199254740993}`}}},
		&model.Message{Role: "tool", CallID: "c1", Content: "found"},
	)
	return r
}

// ask asks a server that gives the answers in order.
func ask(t *testing.T, answers ...modeltest.Answer) (model.Response, *recording, error) {
	t.Helper()
	s := modeltest.New(t, modeltest.Script(t, answers...))
	sink := &recording{}
	resp, err := client(s.URL).Complete(context.Background(), question(), sink)
	if n := len(s.Requests()); n != len(answers) {
		t.Errorf("the server was asked %d times, want %d", n, len(answers))
	}
	return resp, sink, err
}

func modelError(t *testing.T, err error) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %T %v, want a *model.Error", err, err)
	}
	if strings.ContainsAny(e.Error(), "\n\r") {
		t.Errorf("the error is not one line: %q", e.Error())
	}
	return e
}

// wantIn fails unless text holds every part.
func wantIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q does not hold %q", text, p)
		}
	}
}

func delta(fields string) string {
	return `{"model":"m","choices":[{"index":0,"delta":` + fields + `}]}`
}

func finish(reason string) string {
	return `{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

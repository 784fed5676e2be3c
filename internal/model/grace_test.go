package model

import (
	"context"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/model/modeltest"
)

func TestAStreamThatFallsSilentAfterItsFinishReasonIsWhole(t *testing.T) {
	answer := modeltest.Events(`{"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}`)
	answer.Hold = true
	s := modeltest.New(t, modeltest.Always(answer))
	c := NewOpenAI(Options{BaseURL: s.URL, Model: "m", Streaming: true})
	if c.grace != 5*time.Second {
		t.Errorf("the wait for [DONE] is %v", c.grace)
	}
	c.grace = 20 * time.Millisecond
	resp, err := c.Complete(context.Background(), &Request{Messages: []*Message{{Role: "user", Content: "hi"}}}, nil)
	if err != nil || resp.Text != "hello" || len(s.Requests()) != 1 {
		t.Errorf("got %q, %v, asked %d times", resp.Text, err, len(s.Requests()))
	}
}

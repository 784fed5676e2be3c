package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// maxRetryAfter is the longest wait an endpoint may ask for (model.md,
// "Retried").
const maxRetryAfter = 60 * time.Second

// fault is a failed attempt: the error a person gets if it is the last one, and
// what the retry loop needs to know.
type fault struct {
	err   *Error
	retry bool
	after time.Duration // what Retry-After asks for; negative when it is absent
}

// Error is the error's text.
func (f *fault) Error() string { return f.err.Error() }

// retryable reports whether a status is worth another attempt (model.md,
// "Retried").
func retryable(status int) bool {
	switch status {
	case 408, 409, 425, 429:
		return true
	}
	return status >= 500
}

// policy is the one retry budget of a call. The live client and the cassette
// replay share it.
type policy struct {
	retries int
	budget  time.Duration
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	jitter  func(time.Duration) time.Duration // nil: the library's own
}

// errNoAnswerLeft is what an attempt returns when an empty answer cannot be
// asked for again; the empty answer then stands.
var errNoAnswerLeft = errors.New("no answer left")

// ask attempts until one attempt answers, the error is final or the budget is
// spent. An empty answer (no text, no calls) is asked for once more, then
// stands. What an attempt streamed before it failed is voided by Broken.
func (p policy) ask(ctx context.Context, sink Sink, attempt func(Sink) (Response, error)) (Response, error) {
	var (
		out      = &tracker{sink: sink}
		waits    = p.waits()
		failures int
		attempts int
		since    time.Time // of the first failure
		empty    *Response
		known    Usage // of answers that were thrown away
	)
	for {
		if err := ctx.Err(); err != nil {
			return Response{Usage: known}, err
		}
		attempts++
		resp, err := attempt(out)
		if err == nil {
			resp.Usage = known.plus(resp.Usage)
			if !resp.empty() {
				return resp, nil
			}
			out.broken()
			resp.Text = ""
			if empty != nil {
				return resp, nil
			}
			empty, known = &resp, resp.Usage
			continue
		}
		out.broken()
		if ctxErr := ctx.Err(); ctxErr != nil {
			return Response{Usage: known}, ctxErr
		}
		if empty != nil && errors.Is(err, errNoAnswerLeft) {
			return *empty, nil
		}
		var f *fault
		if !errors.As(err, &f) || !f.retry {
			return Response{Usage: known}, final(err, attempts)
		}
		failures++
		if since.IsZero() {
			since = p.now()
		}
		if f.after > maxRetryAfter {
			f.err.Hint = fmt.Sprintf("it asks to wait %s, longer than the %s archmax waits: try again later", f.after.Round(time.Second), maxRetryAfter)
			return Response{Usage: known}, final(f, attempts)
		}
		wait := waits()
		if f.after >= 0 {
			wait = f.after
		}
		if failures > p.retries || p.now().Sub(since)+wait > p.budget {
			return Response{Usage: known}, final(f, attempts)
		}
		if err := p.sleep(ctx, wait); err != nil {
			return Response{Usage: known}, err
		}
	}
}

// waits yields the jittered, exponentially growing waits of one call: about
// 0.5 s, 1 s, 2 s, 4 s.
func (p policy) waits() func() time.Duration {
	b := backoff.NewExponentialBackOff()
	b.Multiplier = 2
	b.MaxInterval = maxRetryAfter
	if p.jitter == nil {
		return b.NextBackOff
	}
	b.RandomizationFactor = 0
	return func() time.Duration { return p.jitter(b.NextBackOff()) }
}

// final is the error a caller gets: the *Error of a fault, saying how often the
// endpoint was asked.
func final(err error, attempts int) error {
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	e := *f.err
	if attempts > 1 {
		e.Message += fmt.Sprintf(" (after %d attempts)", attempts)
	}
	return &e
}

// sleepFor waits for d or until ctx ends.
func sleepFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// empty reports whether the model said nothing and called nothing.
func (r Response) empty() bool {
	return len(r.Calls) == 0 && strings.TrimSpace(r.Text) == ""
}

// tracker remembers whether the current attempt has streamed anything.
type tracker struct {
	sink Sink
	sent bool
}

// Delta passes text on; empty deltas are not worth an event.
func (t *tracker) Delta(text string) {
	if text == "" || t.sink == nil {
		return
	}
	t.sent = true
	t.sink.Delta(text)
}

// Broken is the retry loop's to say, not an attempt's.
func (t *tracker) Broken() { t.broken() }

func (t *tracker) broken() {
	if t.sent {
		t.sent = false
		t.sink.Broken()
	}
}

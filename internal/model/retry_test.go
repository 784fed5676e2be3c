package model_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/model/modeltest"
)

func TestWhatIsRetried(t *testing.T) {
	const sseType = "text/event-stream"
	text := delta(`{"content":"half"}`)
	cut := modeltest.Events(text)
	cut.Cut = true
	dropped := modeltest.Answer{Do: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}
	tests := []struct {
		name   string
		answer modeltest.Answer
	}{
		{"a dropped connection", dropped},
		{"408", modeltest.Fail(408, "slow")},
		{"409", modeltest.Fail(409, "conflict")},
		{"425", modeltest.Fail(425, "early")},
		{"429", modeltest.Fail(429, "slow down")},
		{"500", modeltest.Fail(500, "oops")},
		{"502", modeltest.Fail(502, "oops")},
		{"503", modeltest.Fail(503, "oops")},
		{"529", modeltest.Fail(529, "overloaded")},
		{"a stream that ends without a finish reason or [DONE]", modeltest.Events(text)},
		{"a stream that is cut", cut},
		{"an empty 200 body", modeltest.Raw(sseType, "")},
		{"an empty 200 body that is no stream", modeltest.Raw("application/json", "")},
		{"a malformed 200 body", modeltest.Raw("application/json", `{"choices":[{"mess`)},
		{"a 200 body that is plain text", modeltest.Raw("text/plain", "upstream connect error")},
		{"a 200 body that is a web page", modeltest.Raw("text/html", "<html><body>Sentinel page</body></html>")},
		{"a 200 document without choices", modeltest.Raw("application/json", `{"object":"list"}`)},
		{"a stream with a chunk that is no JSON", modeltest.Events(text, `{"choices":[{"del`, "[DONE]")},
		{"a stream with a chunk of another shape", modeltest.Events(text, `["no chunk"]`, "[DONE]")},
		{"an error in the stream that carries 429", modeltest.Events(text, `{"error":{"message":"slow down","code":429}}`, "[DONE]")},
		{"an error in the stream that carries a status as text", modeltest.Events(text, `{"error":{"message":"overloaded","code":"503"}}`)},
		{"an error in the stream that carries no status", modeltest.Events(text, `{"error":{"message":"something broke","type":"server_error"}}`, "[DONE]")},
		{"an error in the stream that is a text", modeltest.Events(text, `{"error":"something broke"}`, "[DONE]")},
		{"a chunk that is the error object itself", modeltest.Events(text, `{"object":"error","message":"something broke","code":500}`, "[DONE]")},
		{"an error in a 200 document", modeltest.Raw("application/json", `{"error":{"message":"something broke"}}`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, sink, err := ask(t, tt.answer, modeltest.Text("whole"))
			if err != nil {
				t.Fatal(err)
			}
			if resp.Text != "whole" || sink.text() != "whole" {
				t.Errorf("text %q, streamed %q; the failed attempt's text must be in neither", resp.Text, sink.text())
			}
		})
	}
}

func TestWhatIsNotRetriedNamesTheLikelyCause(t *testing.T) {
	tests := []struct {
		name   string
		answer modeltest.Answer
		status int
		want   []string
	}{
		{"400", modeltest.Fail(400, "bad thing"), 400, []string{"400 Bad Request", "bad thing", `"test-model"`}},
		{"401", modeltest.Fail(401, "no entry"), 401, []string{"401 Unauthorized", "API key", "ARCHMAX_API_KEY"}},
		{"403", modeltest.Fail(403, "no entry"), 403, []string{"403 Forbidden", "API key", "ARCHMAX_API_KEY"}},
		{"404", modeltest.Fail(404, "no such model"), 404, []string{"404 Not Found", "base URL", "ARCHMAX_API_BASE_URL", `model id "test-model"`}},
		{"422", modeltest.Fail(422, "bad thing"), 422, []string{"422", "bad thing", `"test-model"`}},
		{"a context that is too long", modeltest.Fail(400, "This model's maximum context length is 8192 tokens."), 400, []string{"longer than the model takes", "settings.context.maxTokens"}},
		{"an error in the stream that carries 401", modeltest.Events(`{"error":{"message":"no entry","code":401}}`), 401, []string{"API key"}},
		{"a chunk that is the error object itself and carries 400", modeltest.Events(`{"object":"error","message":"bad thing","code":400}`), 400, []string{"bad thing"}},
		{"an error in the stream that carries 400", modeltest.Events(`{"error":{"message":"bad thing","status":400}}`), 400, []string{"bad thing"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, _, err := ask(t, tt.answer)
			e := modelError(t, err)
			if e.Status != tt.status || e.Drift {
				t.Errorf("status %d, drift %v", e.Status, e.Drift)
			}
			wantIn(t, e.Error(), tt.want...)
			if resp.Text != "" || len(resp.Calls) != 0 {
				t.Errorf("a failed call answers %+v", resp)
			}
		})
	}
}

func TestRetriesWaitLongerEachTimeAndEnd(t *testing.T) {
	s := modeltest.New(t, modeltest.Always(modeltest.Fail(503, "down")))
	o, clock := options(s.URL)
	_, err := model.NewOpenAI(o).Complete(context.Background(), question(), nil)
	wantIn(t, modelError(t, err).Error(), "503", "down", "after 5 attempts")
	want := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}
	if d := cmp.Diff(want, clock.slept); d != "" {
		t.Error(d)
	}
}

func TestWaitsAreJittered(t *testing.T) {
	s := modeltest.New(t, modeltest.Always(modeltest.Fail(503, "down")))
	seen := map[time.Duration]bool{}
	for range 5 {
		o, clock := options(s.URL)
		o.Jitter = nil
		_, err := model.NewOpenAI(o).Complete(context.Background(), question(), nil)
		modelError(t, err)
		if w := clock.slept[0]; w < 250*time.Millisecond || w > 750*time.Millisecond+1 {
			t.Errorf("the first wait is %v, not 500ms and half more or less", w)
		}
		seen[clock.slept[0]] = true
	}
	if len(seen) < 2 {
		t.Errorf("five first waits are all %v", seen)
	}
}

func TestMaxRetriesIsTheNumberOfFurtherAttempts(t *testing.T) {
	for retries, asked := range map[int]int{-1: 1, 0: 5, 1: 2, 2: 3} {
		s := modeltest.New(t, modeltest.Always(modeltest.Fail(503, "down")))
		o, _ := options(s.URL)
		o.MaxRetries = retries
		_, err := model.NewOpenAI(o).Complete(context.Background(), question(), nil)
		modelError(t, err)
		if n := len(s.Requests()); n != asked {
			t.Errorf("MaxRetries %d: asked %d times, want %d", retries, n, asked)
		}
	}
}

func TestOneBudgetBoundsAllRetries(t *testing.T) {
	busy := modeltest.Fail(429, "busy")
	busy.Header = []string{"Retry-After: 50"}
	s := modeltest.New(t, modeltest.Always(busy))
	o, clock := options(s.URL)
	_, err := model.NewOpenAI(o).Complete(context.Background(), question(), nil)
	modelError(t, err)
	// 50 s + 50 s are within two minutes, a third wait is not.
	if d := cmp.Diff([]time.Duration{50 * time.Second, 50 * time.Second}, clock.slept); d != "" {
		t.Error(d)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	tests := []struct {
		name, header string
		want         time.Duration
	}{
		{"in seconds", "Retry-After: 7", 7 * time.Second},
		{"as a date", "Retry-After: Thu, 01 Jan 2026 00:00:09 GMT", 9 * time.Second},
		{"as a date gone by", "Retry-After: Wed, 31 Dec 2025 00:00:00 GMT", 0},
		{"up to a minute", "Retry-After: 60", time.Minute},
		{"not when it is nonsense", "Retry-After: soon", 500 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, status := range []int{429, 503} {
				busy := modeltest.Fail(status, "busy")
				busy.Header = []string{tt.header}
				s := modeltest.New(t, modeltest.Script(t, busy, modeltest.Text("hello")))
				o, clock := options(s.URL)
				if _, err := model.NewOpenAI(o).Complete(context.Background(), question(), nil); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff([]time.Duration{tt.want}, clock.slept); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

func TestARetryAfterBeyondAMinuteStops(t *testing.T) {
	for _, header := range []string{"Retry-After: 61", "Retry-After: Thu, 01 Jan 2026 00:01:01 GMT"} {
		busy := modeltest.Fail(429, "busy")
		busy.Header = []string{header}
		s := modeltest.New(t, modeltest.Always(busy))
		o, clock := options(s.URL)
		_, err := model.NewOpenAI(o).Complete(context.Background(), question(), nil)
		wantIn(t, modelError(t, err).Error(), "429", "1m1s", "1m0s", "try again later")
		if len(s.Requests()) != 1 || len(clock.slept) != 0 {
			t.Errorf("asked %d times, waited %v", len(s.Requests()), clock.slept)
		}
	}
}

func TestDeltasOfABrokenAttemptAreVoided(t *testing.T) {
	_, sink, err := ask(t, modeltest.Events(delta(`{"content":"half"}`)), modeltest.Fail(503, "down"), modeltest.Text("whole"))
	if err != nil {
		t.Fatal(err)
	}
	if sink.broken != 1 {
		t.Errorf("Broken was said %d times; only the attempt that streamed is broken", sink.broken)
	}
}

func TestDeltasOfAFailedCallAreVoided(t *testing.T) {
	resp, sink, err := ask(t, modeltest.Events(delta(`{"content":"half"}`), `{"error":{"message":"no","code":400}}`))
	modelError(t, err)
	if sink.broken != 1 || resp.Text != "" {
		t.Errorf("broken %d, text %q", sink.broken, resp.Text)
	}
}

func TestAnEmptyAnswerIsRetriedOnce(t *testing.T) {
	blank := modeltest.Answer{Text: " \n", Usage: []byte(`{"prompt_tokens":10,"completion_tokens":1}`)}
	whole := modeltest.Answer{Text: "whole", Usage: []byte(`{"prompt_tokens":10,"completion_tokens":2}`)}
	both := model.Usage{Known: true, InputTokens: 20, OutputTokens: 3}

	resp, sink, err := ask(t, blank, whole)
	if err != nil || resp.Text != "whole" || sink.text() != "whole" {
		t.Errorf("text %q, streamed %q, %v", resp.Text, sink.text(), err)
	}
	if resp.Usage != both {
		t.Errorf("usage %+v, want that of both answers, %+v", resp.Usage, both)
	}
	resp, sink, err = ask(t, blank, blank)
	if err != nil || resp.Text != "" || len(resp.Calls) != 0 || sink.text() != "" {
		t.Errorf("after two empty answers: %+v, streamed %q, %v", resp, sink.text(), err)
	}
}

func TestATimeoutClosesTheRequestAndIsRetried(t *testing.T) {
	closed := make(chan struct{}, 2)
	hang := modeltest.Answer{Do: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: " + delta(`{"content":"half"}`) + "\n\n"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		closed <- struct{}{}
	}}
	s := modeltest.New(t, modeltest.Always(hang))
	o, _ := options(s.URL)
	o.Timeout, o.MaxRetries = 50*time.Millisecond, 1
	_, err := model.NewOpenAI(o).Complete(context.Background(), question(), nil)
	wantIn(t, modelError(t, err).Error(), "did not answer within 50ms", "model.timeout", "after 2 attempts")
	for range 2 {
		select {
		case <-closed:
		case <-time.After(5 * time.Second):
			t.Fatal("the request is still open at the server")
		}
	}
}

func TestCancelClosesTheRequest(t *testing.T) {
	started, closed := make(chan struct{}), make(chan struct{})
	s := modeltest.New(t, modeltest.Always(modeltest.Answer{Do: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: " + delta(`{"content":"half"}`) + "\n\n"))
		_ = http.NewResponseController(w).Flush()
		close(started)
		<-r.Context().Done()
		close(closed)
	}}))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-started
		cancel()
	}()
	_, err := client(s.URL).Complete(ctx, question(), nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Fatal("the request is still open at the server")
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("asked %d times after the cancel", n)
	}
}

func TestCancelEndsAWait(t *testing.T) {
	busy := modeltest.Fail(429, "busy")
	busy.Header = []string{"Retry-After: 30"}
	s := modeltest.New(t, modeltest.Always(busy))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	o, _ := options(s.URL)
	o.Sleep = nil // the real one
	begun := time.Now()
	_, err := model.NewOpenAI(o).Complete(ctx, question(), nil)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 10*time.Second {
		t.Errorf("error %v after %v", err, time.Since(begun))
	}
}

package model_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/model"
)

// scripted answers with what it is given, in order.
type scripted struct {
	mu      sync.Mutex
	answers []model.Response
	errs    []error
}

func (s *scripted) Complete(_ context.Context, _ *model.Request, sink model.Sink) (model.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	resp := s.answers[0]
	s.answers = s.answers[1:]
	var err error
	if len(s.errs) > 0 {
		err, s.errs = s.errs[0], s.errs[1:]
	}
	if sink != nil {
		sink.Delta(resp.Text)
	}
	return resp, err
}

func record(t *testing.T, file string, req *model.Request, answers ...model.Response) {
	t.Helper()
	r, err := model.NewRecorder(&scripted{answers: answers}, file)
	if err != nil {
		t.Fatal(err)
	}
	for range answers {
		if _, err := r.Complete(context.Background(), req, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestARecordingReadsWell(t *testing.T) {
	file := filepath.Join(t.TempDir(), "demo.cassette.yaml")
	req := withHistory()
	req.State, req.Session = "triage", "~1"
	record(t, file, req, model.Response{
		Text: "First line.\nSecond line.", Model: "gpt-5", Finish: "tool_calls", Reasoning: "hm",
		Calls: []model.Call{{ID: "call_x", Name: "lookup", Args: `{ "id": 9007199254740993, "q": "a: b" }`}, {Name: "lookup", Args: "not json"}, {Name: "lookup"}},
		Usage: model.Usage{Known: true, InputTokens: 812, OutputTokens: 14, CacheReadTokens: 600},
	})
	want := `version: 1
calls:
  - role: agent
    session: "~1"
    state: triage
    tools: [lookup]
    messages: 3
    fingerprint: "` + model.Fingerprint(req) + `"
    model: gpt-5
    reasoning: hm
    text: |-
      First line.
      Second line.
    tool_calls:
      - name: lookup
        args: {"id":9007199254740993,"q":"a: b"}
      - name: lookup
        args: "not json"
      - name: lookup
    finish: tool_calls
    usage: { input: 812, output: 14, cache_read: 600 }
`
	if d := cmp.Diff(want, read(t, file)); d != "" {
		t.Error(d)
	}
}

func TestARecordingReplaysAsItCame(t *testing.T) {
	texts := []string{
		"plain", "two\nlines", "two\nlines\n", "\nlead", "trail\n\n", " indented\nline", "tab\tin\nline", "a\r\nb", "true", "null", "12", "~", "- x", "# no comment",
		"key: value", "'quotes' \"double\"", `back\slash`, "é \U0001F600 \u2028 \u0085 \ufeff", "\x00\x07\x1b[31m", "x \n y ", "{a: b}", "@at", "multi\n  deeper\nback", "line\n\n\nline",
		strings.Repeat("long ", 2000),
	}
	args := []string{
		`{}`, `{"a":1}`, `{"a":1.0,"b":1e5,"c":-0,"d":1E+2}`, `{"n":12345678901234567890123}`, `{"x":1e999}`, `{"a":1,"a":2}`, `{"s":"\ud83d\ude00 \u0000 \/ \u2028"}`,
		`{"l":[[],{},null,true,"~"]}`, "", "null", "not json", `{"a":`, `{"k: v":"- x","#":"'"}`, "\x7f\u0085", `{"del":"` + "\x7f" + `"}`, strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300),
	}
	var answers []model.Response
	for i, text := range texts {
		r := model.Response{Text: text, Finish: "stop", Model: "m", Reasoning: text}
		r.Calls = []model.Call{{Name: "lookup", Args: args[i%len(args)]}}
		answers = append(answers, r)
	}
	file := filepath.Join(t.TempDir(), "c.yaml")
	record(t, file, question(), answers...)
	c, list := model.LoadCassette(file, []byte(read(t, file)))
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	replay := model.NewReplay(c)
	for i, want := range answers {
		got, err := replay.Complete(context.Background(), asking("", i), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != want.Text || got.Reasoning != want.Reasoning {
			t.Errorf("text %q came back as %q, reasoning as %q", want.Text, got.Text, got.Reasoning)
		}
		if g, w := squeeze(got.Calls[0].Args), squeeze(want.Calls[0].Args); g != w {
			t.Errorf("arguments %q came back as %q", w, g)
		}
	}
}

// squeeze takes the spellings of one JSON text together.
func squeeze(args string) string {
	return strings.NewReplacer(`\ud83d\ude00`, "\U0001F600", `\/`, "/").Replace(args)
}

func TestALaterProcessAppends(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	record(t, file, question(), model.Response{Text: "one"}, model.Response{Text: "two"})
	before := read(t, file)
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	record(t, file, question(), model.Response{Text: "three"})
	after := read(t, file)
	if !strings.HasPrefix(after, before) {
		t.Errorf("what was there changed:\n%s", cmp.Diff(before, after))
	}
	c, _ := model.LoadCassette(file, []byte(after))
	if len(c.Calls) != 3 || c.Calls[2].Text != "three" {
		t.Errorf("the file holds %d calls", len(c.Calls))
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want that of the file that was there", info.Mode(), err)
	}
	left, _ := os.ReadDir(filepath.Dir(file))
	if len(left) != 1 {
		t.Errorf("files were left behind: %v", left)
	}
}

func TestACallRecordedCountsAsConsumed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	r, err := model.NewRecorder(&scripted{
		answers: []model.Response{{Text: "words"}, {}, {}},
		errs:    []error{nil, nil, &model.Error{Status: 503, Message: "down"}},
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	position := 0
	for _, want := range []int{1, 2, 1} { // a silence was asked for twice
		req := asking("", position)
		req.Optional = true // the session goes on from the failure
		resp, _ := r.Complete(context.Background(), req, nil)
		if resp.Consumed != want {
			t.Errorf("consumed %d, want %d", resp.Consumed, want)
		}
		position += resp.Consumed
	}
	c, list := model.LoadCassette(file, []byte(read(t, file)))
	if list.HasErrors() {
		t.Fatal(list)
	}
	replay := model.NewReplay(c)
	resp, err := replay.Complete(context.Background(), asking("", 1), nil)
	if err != nil || resp.Text != "" || resp.Consumed != 2 {
		t.Errorf("the silence replays as %+v, %v", resp, err)
	}
	resp, err = replay.Complete(context.Background(), asking("", 3), nil)
	e := modelError(t, err)
	if e.Status != 503 || e.Drift || resp.Consumed != 1 {
		t.Errorf("the failure replays as %+v, consumed %d: its retries were spent", e, resp.Consumed)
	}
}

func TestACancelledCallAndDriftAreNotRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	r, err := model.NewRecorder(&scripted{
		answers: make([]model.Response, 2),
		errs:    []error{context.Canceled, &model.Error{Drift: true, Message: "drift"}},
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Complete(context.Background(), question(), nil); err == nil {
			t.Error("the error is lost")
		}
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was recorded: %s", read(t, file))
	}
}

func TestNoSecretIsRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	r, err := model.NewRecorder(&scripted{
		answers: []model.Response{{Text: "the key is s3cret-key", Reasoning: "s3cret-key", Calls: []model.Call{{Name: "lookup", Args: `{"k":"s3cret-key"}`}, {Name: "lookup", Args: "bad s3cret-key"}}}, {}},
		errs:    []error{nil, &model.Error{Status: 401, Message: "bad s3cret-key"}},
	}, file, "s3cret-key")
	if err != nil {
		t.Fatal(err)
	}
	req := question()
	req.Optional = true
	req.Tools[0].Name = "t-s3cret-key"
	for range 2 {
		_, _ = r.Complete(context.Background(), req, nil)
	}
	text := read(t, file)
	if strings.Contains(text, "s3cret-key") || strings.Count(text, "[redacted]") != 7 {
		t.Errorf("recorded:\n%s", text)
	}
}

func TestAFileThatCannotBeRecordedToIsRefused(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ src, want string }{
		"broken":        {"calls: [", "cannot be recorded to"},
		"no cassette":   {"name: x\n", "cannot be recorded to"},
		"flow calls":    {"calls: [{ text: x }]\n", "`calls` is not its last key"},
		"another key":   {"calls:\n  - text: x\nversion: 1\n", "`calls` is not its last key"},
		"other indents": {"calls:\n- text: x\n", "`calls` is not its last key"},
	} {
		file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(file, []byte(tt.src), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := model.NewRecorder(&scripted{}, file)
		wantIn(t, modelError(t, err).Error(), tt.want)
		if read(t, file) != tt.src {
			t.Errorf("%s: the file was changed", name)
		}
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, 16<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		filepath.Join(dir, "none", "c.yaml"): "check that its folder exists and may be written to",
		dir:                                  "it is no regular file",
		large:                                "it is larger than 16 MiB",
	} {
		_, err := model.NewRecorder(&scripted{}, file)
		wantIn(t, modelError(t, err).Error(), "the cassette "+file, want)
	}
}

// What cannot be written is no part of the recording: the position in the
// journal and the file stay in step.
func TestACallThatCannotBeWrittenDoesNotCount(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "c.yaml")
	r, err := model.NewRecorder(&scripted{answers: []model.Response{{Text: "lost"}, {Text: "kept"}}}, file)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("trying the file left %v, %v", left, err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	resp, err := r.Complete(context.Background(), question(), nil)
	wantIn(t, modelError(t, err).Error(), "cannot write the cassette", "folder")
	if resp.Consumed != 0 {
		t.Errorf("consumed %d, want 0", resp.Consumed)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if resp, err = r.Complete(context.Background(), question(), nil); err != nil || resp.Consumed != 1 {
		t.Errorf("consumed %d, %v; want 1", resp.Consumed, err)
	}
	c, list := model.LoadCassette(file, []byte(read(t, file)))
	if list.HasErrors() || len(c.Calls) != 1 || c.Calls[0].Text != "kept" {
		t.Errorf("recorded:\n%s", read(t, file))
	}
}

// A wrong key at the first try is no part of the conversation; a failure that
// the session goes on from is.
func TestAFailureThatEndsTheTurnIsNotRecorded(t *testing.T) {
	for name, tt := range map[string]struct {
		change   func(*model.Request)
		recorded bool
	}{
		"the session's own agent": {func(*model.Request) {}, false},
		"a reply beside a park":   {func(r *model.Request) { r.Optional = true }, true},
		"a child's agent":         {func(r *model.Request) { r.Session = "~1" }, true},
		"a summary":               {func(r *model.Request) { r.Role = model.RoleSummary }, true},
		"a grader":                {func(r *model.Request) { r.Role = model.RoleGrader }, true},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "c.yaml")
			r, err := model.NewRecorder(&scripted{
				answers: []model.Response{{}, {Text: "Hello."}},
				errs:    []error{&model.Error{Status: 401, Message: "no entry"}, nil},
			}, file)
			if err != nil {
				t.Fatal(err)
			}
			req := question()
			tt.change(req)
			position := 0
			for range 2 {
				resp, _ := r.Complete(context.Background(), req, nil)
				position += resp.Consumed
			}
			c, list := model.LoadCassette(file, []byte(read(t, file)))
			if list.HasErrors() {
				t.Fatal(list)
			}
			want := 1
			if tt.recorded {
				want = 2
			}
			if len(c.Calls) != want || position != want || (c.Calls[0].Fault != nil) != tt.recorded {
				t.Errorf("%d calls, position %d, want %d:\n%s", len(c.Calls), position, want, read(t, file))
			}
		})
	}
}

func TestConcurrentSessionsAreRecordedWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	r, err := model.NewRecorder(&scripted{answers: make([]model.Response, 40)}, file)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			if _, err := r.Complete(context.Background(), question(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	c, list := model.LoadCassette(file, []byte(read(t, file)))
	if list.HasErrors() || len(c.Calls) != 80 {
		t.Errorf("%v", list)
	}
}

package casetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/model"
)

var (
	passing = document(says("Hello."), "- send: Hi\n- succeeded: true")
	failing = document(says("Hello."), "- send: Hi\n- reply: { includes: Goodbye }\n- usedNoTools: true")
)

// clientFunc is a model that a test writes.
type clientFunc func(context.Context, *model.Request) (model.Response, error)

func (f clientFunc) Complete(ctx context.Context, req *model.Request, _ model.Sink) (model.Response, error) {
	return f(ctx, req)
}

func live(f clientFunc) func(*casetest.Options) {
	return func(o *casetest.Options) {
		o.Live = true
		o.NewClient = func(casetest.Judge) (model.Client, error) { return f, nil }
	}
}

// hangs answers when the call is cancelled, and not before.
func hangs(ctx context.Context, _ *model.Request) (model.Response, error) {
	<-ctx.Done()
	return model.Response{}, ctx.Err()
}

// The exit code, the line and the document agree (issue C, acceptance).
func TestTheExitCodeTheLineAndTheDocumentAgree(t *testing.T) {
	noSource := "title: A case\ndescription: What it is about.\nsteps:\n- send: Hi\n- succeeded: true\n"
	for _, tt := range []struct {
		name   string
		files  map[string]string
		change func(*casetest.Options)
		exit   int
		line   string
		status string // of each result
		fails  string // part of the last result's error or failure
	}{
		{"all pass", map[string]string{"a": passing, "b": passing}, nil, 0, "2 passed, 0 failed, 0 skipped", "passed passed", ""},
		{"one fails", map[string]string{"a": passing, "b": failing}, nil, 1, "1 passed, 1 failed, 0 skipped", "passed failed", `step 1, reply: expected what the agent said to include "Goodbye"`},
		{"one is skipped", map[string]string{"a": passing, "b": failing + "skip: not yet\n"}, nil, 0, "1 passed, 0 failed, 1 skipped", "passed skipped", ""},
		{"a parse error", map[string]string{"a": passing, "b": "title: [\n"}, nil, 1, "1 passed, 1 failed, 0 skipped", "passed failed", "the case cannot be run as it is written"},
		{"a drift", map[string]string{"a": passing, "b": document("- state: done\n  text: hi\n", "- send: Hi\n- succeeded: true")}, nil, 1, "1 passed, 1 failed, 0 skipped", "passed failed", `cassette drift at call 1`},
		{"a model that fails", map[string]string{"a": document("- error: { status: 500, final: true }\n", "- send: Hi\n- succeeded: true")}, nil, 1, "0 passed, 1 failed, 0 skipped", "failed", "500"},
		{"nothing that answers", map[string]string{"a": noSource}, nil, 1, "0 passed, 1 failed, 0 skipped", "failed", "give the case a `model:` key, record workflows/flow/tests/a.cassette.yaml with --record, or ask the endpoint with --live"},
		{"an action that is refused", map[string]string{"a": document(says("hi"), "- send: Hi\n- decide: { to: done }\n- succeeded: true")}, nil, 1, "0 passed, 1 failed, 0 skipped", "failed", "awaits no decision"},
		{"a filter that matches some", map[string]string{"a": passing, "b/c": failing}, func(o *casetest.Options) { o.Filter = "a" }, 0, "1 passed, 0 failed, 0 skipped", "passed", ""},
		{"a filter that matches none", map[string]string{"a": passing, "b": passing}, func(o *casetest.Options) { o.Filter = "x" }, 1, "no cases matched 'x' (2 discovered)", "", ""},
		{"an empty suite", nil, nil, 1, "no cases", "", ""},
		{"fail fast", map[string]string{"a": failing, "b": passing}, func(o *casetest.Options) { o.FailFast = true }, 1, "0 passed, 1 failed, 1 skipped", "failed skipped", ""},
		{"coverage below the minimum", map[string]string{"a": passing}, func(o *casetest.Options) { o.CoverageMin = 50 }, 1, "1 passed, 0 failed, 0 skipped; the cases take 0% of the edges (0 of 4), and --coverage-min wants 50%", "passed", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for id, doc := range tt.files {
				files[testsDir+id+".test.yaml"] = doc
			}
			var told []string
			s := newWorld(t, files).run(func(o *casetest.Options) {
				o.Result = func(r *casetest.Result) { told = append(told, r.Status) }
				if tt.change != nil {
					tt.change(o)
				}
			})
			if s.ExitCode != tt.exit || s.Summary() != tt.line || s.Discovered != len(tt.files) {
				t.Errorf("exit %d, line %q, discovered %d; want %d, %q, %d", s.ExitCode, s.Summary(), s.Discovered, tt.exit, tt.line, len(tt.files))
			}
			if strings.Join(told, " ") != tt.status {
				t.Errorf("results %v, want %s", told, tt.status)
			}
			agrees(t, s)
			if tt.fails != "" {
				last := s.Results[len(s.Results)-1]
				wantIn(t, last.Error+strings.Join(last.Failures, " "), tt.fails)
			}
		})
	}
}

// agrees holds the document against the counts, and every record against its
// case: what did not run is not passed.
func agrees(t *testing.T, s *casetest.Suite) {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Version, ExitCode, Discovered *int
		Results                       []struct {
			Status, Error string
			Failures      []string
			Records       []struct{ Kind, Status string }
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if *doc.Version != 1 || *doc.ExitCode != s.ExitCode || *doc.Discovered != s.Discovered || doc.Results == nil {
		t.Errorf("document %s", raw)
	}
	failed := 0
	for _, r := range doc.Results {
		wrong := r.Error != "" || len(r.Failures) > 0
		if (r.Status == "failed") != wrong {
			t.Errorf("status %s, error %q, failures %q", r.Status, r.Error, r.Failures)
		}
		if r.Status == "failed" {
			failed++
		}
		for _, rec := range r.Records {
			if r.Status != "failed" && rec.Status == "failed" || r.Status == "passed" && rec.Status != "passed" || r.Status == "skipped" && rec.Status != "not-executed" {
				t.Errorf("a %s case has a %s %s", r.Status, rec.Status, rec.Kind)
			}
		}
	}
	if failed > 0 && s.ExitCode == 0 {
		t.Error("cases failed, and the exit code is 0")
	}
}

func TestADisabledWorkflowIsSkipped(t *testing.T) {
	s := newWorld(t, map[string]string{
		"workflows/flow/workflow.yaml": flow + "disabled: true\n", testsDir + "a.test.yaml": failing,
	}).run()
	if s.ExitCode != 0 || s.Skipped != "the workflow is disabled" || len(s.Results) != 0 || s.Discovered != 1 {
		t.Errorf("%+v", s)
	}
}

func TestACaseThatRunsPastItsTimeIsCancelled(t *testing.T) {
	w := newWorld(t, map[string]string{
		"workflows/flow/workflow.yaml": flow + "tests: { caseTimeoutMs: 30 }\n", testsDir + "a.test.yaml": passing,
	})
	s := w.run(live(hangs))
	r := s.Results[0]
	if s.ExitCode != 1 || r.Error != "the case ran past its time limit of 30 ms (tests.caseTimeoutMs)" || told(r) != "send failed, succeeded not-executed" {
		t.Errorf("exit %d, error %q, records %s", s.ExitCode, r.Error, told(r))
	}
	agrees(t, s)
}

func TestAnInterruptCancelsTheCasesAtWorkAndRunsNoMore(t *testing.T) {
	w := newWorld(t, map[string]string{testsDir + "a.test.yaml": passing, testsDir + "b.test.yaml": passing})
	o := w.options()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	live(func(ctx context.Context, req *model.Request) (model.Response, error) {
		cancel()
		return hangs(ctx, req)
	})(&o)
	s, err := casetest.Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.ExitCode != casetest.ExitInterrupted || s.Summary() != "0 passed, 1 failed, 1 skipped; interrupted" {
		t.Errorf("exit %d, %s", s.ExitCode, s.Summary())
	}
	if a, b := s.Results[0], s.Results[1]; a.Error != "the run was interrupted" || b.SkipReason != "not run: the suite was interrupted" {
		t.Errorf("%q, %q", a.Error, b.SkipReason)
	}
	agrees(t, s)
}

func TestFailFastReportsTheSameWhateverRanBeside(t *testing.T) {
	files := map[string]string{}
	for i := range 12 {
		files[fmt.Sprintf("%s%02d.test.yaml", testsDir, i)] = passing
	}
	files[testsDir+"04.test.yaml"] = failing
	s := newWorld(t, files).run(func(o *casetest.Options) { o.FailFast, o.Jobs = true, 6 })
	if s.Summary() != "4 passed, 1 failed, 7 skipped" {
		t.Error(s.Summary())
	}
	if why := s.Results[5].SkipReason; why != "not run: an earlier case failed (--fail-fast)" {
		t.Error(why)
	}
}

func TestOptionsThatExcludeEachOtherAreRefused(t *testing.T) {
	w := newWorld(t, map[string]string{testsDir + "a.test.yaml": passing})
	for want, change := range map[string]func(*casetest.Options){
		"leave --repeat out":   func(o *casetest.Options) { o.Record, o.Repeat = casetest.RecordAll, 2 },
		"give one of the two":  func(o *casetest.Options) { o.Record, o.Live = casetest.RecordMissing, true },
		"workspace on disk":    func(o *casetest.Options) { o.Record, o.Dir = casetest.RecordAll, "" },
		"--min-pass is a rate": func(o *casetest.Options) { o.MinPass = 2 },
		"is a percentage":      func(o *casetest.Options) { o.CoverageMin = 101 },
		"makes no session ids": func(o *casetest.Options) { o.SessionPrefix = "a\nb" },
	} {
		o := w.options()
		change(&o)
		_, err := casetest.Run(context.Background(), o)
		var misuse *casetest.OptionError
		if !errors.As(err, &misuse) {
			t.Errorf("%v, want: %s", err, want)
			continue
		}
		wantIn(t, misuse.Message, want)
	}
}

func TestSuitesOfSeveralWorkflows(t *testing.T) {
	w := newWorld(t, map[string]string{testsDir + "a.test.yaml": passing})
	none := func(o *casetest.Options) { o.Filter = "zzz" }
	if all := casetest.Combine([]*casetest.Suite{w.run(), w.run(none)}); all.ExitCode != 0 {
		t.Error("a filter that matched elsewhere fails the rest")
	}
	if all := casetest.Combine([]*casetest.Suite{w.run(none), w.run(none)}); all.ExitCode != 1 {
		t.Error("a filter that matched nothing at all passes")
	}
	w.write(map[string]string{testsDir + "b.test.yaml": failing})
	if all := casetest.Combine([]*casetest.Suite{w.run()}); all.ExitCode != 1 {
		t.Error("a failed case passes")
	}
}

// Two runs give the same JSON, durations aside (cases.md, "Running").
func TestTwentyRunsSideBySideGiveTheSameBytes(t *testing.T) {
	files := map[string]string{}
	for i := range 10 {
		files[fmt.Sprintf("%spass-%d.test.yaml", testsDir, i)] = document(advances("review")+says("wait")+says("Bye."), "- send: Hi\n- parked: decision\n- decide: { to: done, comment: ok }\n- succeeded: true")
		files[fmt.Sprintf("%sdir/fail %d.test.yml", testsDir, i)] = document(
			calls(tool("crm__lookup", "{ id: 1 }"), tool("crm__lookup", "{ id: 2 }"), tool("crm__lookup", "{ id: 3 }"))+says("one")+says("two"),
			"- send: Hi\n- calledTool: { name: nothing }\n- file: { path: none }\n- send: More\n- parked: true\n- send: never",
			"mocks: [{ tool: crm__lookup, results: [a, b, c] }]")
	}
	files[testsDir+"broken.test.yaml"] = "steps: 1\nsped: 2\n"
	w := newWorld(t, files)
	var first []byte
	for n := range 20 {
		s := w.run(func(o *casetest.Options) { o.Jobs, o.Coverage = 8, true })
		for _, r := range s.Results {
			r.DurationMs = 0
		}
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first = raw
			if s.Summary() != "10 passed, 11 failed, 0 skipped" {
				t.Fatal(s.Summary(), string(raw))
			}
		}
		if !bytes.Equal(raw, first) {
			t.Fatalf("run %d differs:\n%s\n%s", n, first, raw)
		}
	}
}

func TestProgressTellsWhatIsAtWork(t *testing.T) {
	w := newWorld(t, map[string]string{testsDir + "a.test.yaml": passing, testsDir + "b.test.yaml": failing})
	var seen []string
	w.run(func(o *casetest.Options) {
		o.Jobs = 1
		o.Progress = func(p casetest.Progress) {
			seen = append(seen, fmt.Sprintf("%s started=%t %s %d/%d %d+%d %v", p.Case, p.Started, p.Status, p.Done, p.Total, p.Passed, p.Failed, p.Running))
		}
	})
	want := []string{
		"a started=true  0/2 0+0 [a]", "a started=false passed 1/2 1+0 []",
		"b started=true  1/2 1+0 [b]", "b started=false failed 2/2 1+1 []",
	}
	if strings.Join(seen, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(seen, "\n"))
	}
}

// flaky answers right at a rate, as the seed decides.
func flaky(seed uint64, rate float64) clientFunc {
	var mu sync.Mutex
	rnd := rand.New(rand.NewPCG(seed, 1))
	return func(context.Context, *model.Request) (model.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		if rnd.Float64() < rate {
			return model.Response{Text: "Hello."}, nil
		}
		return model.Response{Text: "What?"}, nil
	}
}

func TestRepeatReportsAnIntervalThatHoldsTheTrueRate(t *testing.T) {
	const rate = 0.7
	w := newWorld(t, map[string]string{testsDir + "a.test.yaml": "title: A case\ndescription: What it is about.\nsteps:\n- send: Hi\n- reply: { includes: Hello }\n"})
	for _, minPass := range []float64{0, 0.3} {
		s := w.run(live(flaky(7, rate)), func(o *casetest.Options) { o.Repeat, o.Jobs, o.MinPass = 50, 2, minPass })
		r := s.Results[0]
		if r.Repeat == nil || r.Repeat.Runs != 50 {
			t.Fatalf("%+v", r.Repeat)
		}
		if r.Repeat.Low > rate || rate > r.Repeat.High || r.Repeat.Passed == 0 || r.Repeat.Passed == 50 {
			t.Errorf("%+v does not hold %g", r.Repeat, rate)
		}
		if want := map[bool]string{true: "passed", false: "failed"}[minPass > 0]; r.Status != want {
			t.Errorf("min pass %g: %s", minPass, r.Status)
		}
		if minPass > 0 {
			if len(r.Warnings) != 50-r.Repeat.Passed || len(r.Failures) > 0 {
				t.Errorf("%d passed; warnings %q", r.Repeat.Passed, r.Warnings)
			}
			wantIn(t, r.Warnings[0], "failed: step 1, reply: ")
		}
		if r.Usage.ModelCalls != 50 {
			t.Errorf("%d model calls in 50 runs", r.Usage.ModelCalls)
		}
		agrees(t, s)
	}
}

// The values are Wilson's formula, worked by hand to four places:
// centre (p + z²/2n)/(1 + z²/n), half z·sqrt(p(1-p)/n + z²/4n²)/(1 + z²/n).
func TestWilson(t *testing.T) {
	for _, tt := range []struct {
		passed, runs int
		low, high    float64
	}{
		{0, 10, 0, 0.2776}, {10, 10, 0.7224, 1}, {5, 10, 0.2365, 0.7635}, {1, 1, 0.2065, 1}, {0, 0, 0, 1},
	} {
		low, high := casetest.Wilson(tt.passed, tt.runs)
		if diff(low, tt.low) > 1.01e-4 || diff(high, tt.high) > 1.01e-4 {
			t.Errorf("%d of %d: %g to %g, want %g to %g", tt.passed, tt.runs, low, high, tt.low, tt.high)
		}
	}
}

func diff(a, b float64) float64 { return max(a-b, b-a) }

// 100 offline cases have a budget of 3 s on two cores (architecture.md).
func BenchmarkHundredCases(b *testing.B) {
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("%s%03d.test.yaml", testsDir, i)] = document(advances("review")+says("wait")+says("Bye."), "- send: Hi\n- parked: decision\n- decide: { to: done }\n- succeeded: true")
	}
	w := newWorld(b, files)
	for b.Loop() {
		if s := w.run(); s.Summary() != "100 passed, 0 failed, 0 skipped" {
			b.Fatal(s.Summary())
		}
	}
}

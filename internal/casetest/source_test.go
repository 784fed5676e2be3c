package casetest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/model"
)

const sourceless = "title: A case\ndescription: What it is about.\nsteps:\n- send: Hi\n- succeeded: true\n"

// The order of cases.md, "Running": each source says who it is.
func TestTheSourceOfAnswers(t *testing.T) {
	cassette := func(text string) string { return "calls:\n  - text: " + text + "\n" }
	steps := "steps:\n- send: Hi\n- reply: { includes: answer }\n"
	inline := "title: A\ndescription: What it is about.\nmodel: { calls: [{ text: inline answer }] }\n" + steps
	byPath := "title: A\ndescription: What it is about.\nmodel: shared/c.yaml\n" + steps
	outside := "title: A\ndescription: What it is about.\nmodel: ../../../testdata/c.yaml\n" + steps
	plain := "title: A\ndescription: What it is about.\n" + steps
	endpoint := func(context.Context, *model.Request) (model.Response, error) {
		return model.Response{Text: "live answer"}, nil
	}
	for _, tt := range []struct {
		name, doc string
		own       bool // tests/one.cassette.yaml is there
		live      bool
		record    casetest.Record
		want      string
	}{
		{"live outranks the model key", inline, true, true, "", "live answer"},
		{"recording all outranks the model key", inline, true, false, casetest.RecordAll, "live answer"},
		{"the model key outranks the case's cassette", inline, true, false, casetest.RecordMissing, "inline answer"},
		{"the model key may be a path below tests", byPath, true, false, "", "shared answer"},
		{"or one elsewhere in the workspace", outside, true, false, "", "root answer"},
		{"the case's cassette outranks recording", plain, true, false, casetest.RecordMissing, "own answer"},
		{"the case's cassette answers", plain, true, false, "", "own answer"},
		{"recording fills in what is missing", plain, false, false, casetest.RecordMissing, "live answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{
				testsDir + "one.test.yaml": strings.Replace(tt.doc, "includes: answer", "includes: "+tt.want, 1),
				testsDir + "shared/c.yaml": cassette("shared answer"), "testdata/c.yaml": cassette("root answer"),
			})
			if tt.own {
				w.write(map[string]string{testsDir + "one.cassette.yaml": cassette("own answer")})
			}
			s := w.run(live(endpoint), func(o *casetest.Options) { o.Live, o.Record = tt.live, tt.record })
			passes(t, s.Results[0])
		})
	}
}

func TestARecordingReplaysAndABrokenOneLeavesNothing(t *testing.T) {
	w := newWorld(t, map[string]string{testsDir + "sub/one.test.yaml": "title: A\ndescription: What it is about.\nsteps:\n- send: Hi\n- reply: { includes: from the model }\n"})
	fails := true
	endpoint := live(func(context.Context, *model.Request) (model.Response, error) {
		if fails {
			return model.Response{}, &model.Error{Status: 503, Message: "the endpoint is down"}
		}
		return model.Response{Text: "from the model, with secret-7"}, nil
	})
	record := func(o *casetest.Options) {
		o.Live, o.Record, o.Secrets = false, casetest.RecordMissing, []string{"secret-7"}
	}
	if r := w.run(endpoint, record).Results[0]; r.Error != "the endpoint is down" {
		t.Errorf("error %q", r.Error)
	}
	if left, _ := os.ReadDir(filepath.Join(w.root, "workflows/flow/tests/sub")); len(left) != 1 {
		t.Errorf("a broken run left %v", left)
	}
	fails = false
	passes(t, w.run(endpoint, record).Results[0])
	text := w.read(testsDir + "sub/one.cassette.yaml")
	wantIn(t, text, "state: start", "from the model, with [redacted]")
	if strings.Contains(text, "secret-7") {
		t.Error("the secret is recorded")
	}
	r := w.run().Results[0] // offline now
	passes(t, r)
	if len(r.Warnings) > 0 {
		t.Errorf("%q", r.Warnings)
	}
	// --record leaves it alone, --record=all makes it anew, an error keeps the old one.
	fails = true
	passes(t, w.run(endpoint, record).Results[0])
	all := func(o *casetest.Options) { record(o); o.Record = casetest.RecordAll }
	if r := w.run(endpoint, all).Results[0]; r.Status != "failed" || w.read(testsDir+"sub/one.cassette.yaml") != text {
		t.Error("a broken recording replaced the cassette")
	}
	fails = false
	w.write(map[string]string{testsDir + "sub/one.test.yaml": "title: A\ndescription: What it is about.\nmodel: { calls: [{ text: x }] }\nsteps:\n- send: Hi\n- reply: { includes: from the model }\n"})
	r = w.run(endpoint, all).Results[0]
	passes(t, r)
	wantIn(t, strings.Join(r.Warnings, " "), "`model:` key outranks the cassette")
}

func TestWithoutAnEndpointTheCaseSaysSo(t *testing.T) {
	w := newWorld(t, map[string]string{testsDir + "one.test.yaml": sourceless})
	r := w.run(func(o *casetest.Options) { o.Live = true }).Results[0]
	wantIn(t, r.Error, "no model endpoint is configured")
	r = w.run(func(o *casetest.Options) {
		o.Live = true
		o.NewClient = func(casetest.Judge) (model.Client, error) { return nil, errors.New("ARCHMAX_API_KEY is not set") }
	}).Results[0]
	wantIn(t, r.Error, "ARCHMAX_API_KEY is not set")
}

func TestDriftIsShownSideBySide(t *testing.T) {
	talk := advances("done") + "- state: review\n  tools: [crm__lookup]\n  last: /Moved to .review/\n  text: hi\n"
	r := runOne(t, document(talk, "- send: Hi\n- succeeded: true"))
	wantIn(t, r.Error, "cassette drift at call 2 of cassette workflows/flow/tests/one.test.yaml:8", `expected state "review", asked in state "done"`)
	want := &casetest.Drift{Call: 2, File: testsDir + "one.test.yaml", Line: 8, Checks: []casetest.DriftCheck{
		{What: "role", Expected: "agent", Asked: "agent"},
		{What: "state", Expected: "review", Asked: "done"},
		{What: "tools", Expected: "crm__lookup", Asked: r.Drift.Checks[2].Asked},
		{What: "last", Expected: "/Moved to .review/", Asked: "Moved to `done`."},
	}}
	if d := cmp.Diff(want, r.Drift); d != "" {
		t.Error(d)
	}
	wantIn(t, r.Drift.Checks[2].Asked, "read_file")

	r = runOne(t, document(advances("done"), "- send: Hi\n- succeeded: true"))
	want = &casetest.Drift{Call: 2, File: testsDir + "one.test.yaml", Checks: []casetest.DriftCheck{
		{What: "role", Expected: "no further call", Asked: "agent"},
		{What: "state", Expected: "no further call", Asked: "done"},
		{What: "last", Expected: "no further call", Asked: "Moved to `done`."},
	}}
	if d := cmp.Diff(want, r.Drift); d != "" {
		t.Error(d)
	}
}

// The message that goes with a park may fail without failing the session; the
// case fails all the same.
func TestADriftThatTheSessionTakesIsStillOne(t *testing.T) {
	r := runOne(t, document(advances("review"), "- send: Hi\n- parked: decision"))
	wantIn(t, r.Error, "cassette drift at call 2")
	if told(r) != "send failed, parked not-executed" {
		t.Error(told(r))
	}
}

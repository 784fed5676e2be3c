package casetest

import (
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// A case that asserts ranWorkflow does not run before workflows call workflows,
// so the assertion is held against a trail that is written here.
func TestRanWorkflowReadsTheTrail(t *testing.T) {
	r := &run{}
	r.state = session.NewState()
	r.state.Trail = []session.Step{
		{To: "start", Kind: session.StepTrigger, Reason: "manual"},
		{To: "start", Kind: session.StepSubWorkflow, Workflow: "refund", Status: "completed"},
		{To: "start", Kind: session.StepSubWorkflow, Workflow: "refund", Status: "rejected"},
		{To: "done", Kind: session.StepAgent},
	}
	for _, tt := range []struct{ step, detail string }{
		{"{ workflow: refund }", ""},
		{"{ workflow: refund, count: 2 }", ""},
		{"{ workflow: refund, status: completed, count: 1 }", ""},
		{"{ workflow: refund, status: /ed$/, count: 2 }", ""},
		{"{ workflow: other, count: 0 }", ""},
		{"{ workflow: other }", `expected workflow "other" to run, and it did 0 times; workflows that ran: refund (completed), refund (rejected)`},
		{"{ workflow: refund, status: parked }", `to run with status "parked", and it did 0 times`},
		{"{ workflow: refund, count: 1 }", `to run 1 times, and it did 2 times`},
	} {
		c, problems := Parse("workflows/flow/tests/x.test.yaml", "x", []byte("title: A\ndescription: What it is about.\nsteps:\n- send: Hi\n- ranWorkflow: "+tt.step+"\n"))
		if problems.HasErrors() {
			t.Fatal(problems.Err())
		}
		step := c.Steps[1].Check
		if got := step.check(r).detail; (got == "") != (tt.detail == "") || !strings.Contains(got, tt.detail) {
			t.Errorf("%s: %q, want %q", tt.step, got, tt.detail)
		}
		if step.structural() {
			t.Error("ranWorkflow is about content: a miss must not halt")
		}
	}
}

func TestTheJudgesModel(t *testing.T) {
	for _, tt := range []struct{ override, judge, configured, workflow, want string }{
		{"flag", "judge", "env", "flow", "flag"},
		{"", "judge", "env", "flow", "judge"},
		{"", "", "env", "flow", ""}, // the client's own: models.judge, else the endpoint's
		{"", "", "", "flow", "flow"},
	} {
		s := &suite{
			o: Options{
				Machine: &spec.Machine{Settings: spec.Settings{Model: tt.workflow}},
				Runtime: runtime.Options{ModelOverride: tt.override, Model: tt.configured},
			},
			settings: Settings{Judge: Judge{Model: tt.judge}},
		}
		if got := s.judgeModel(); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

func TestTheJudgesCallsArePricedOrUnknown(t *testing.T) {
	s := &suite{o: Options{Runtime: runtime.Options{Prices: model.Prices{"j": {Input: 1, Output: 3}}}}}
	got := s.priced(&model.Request{Model: "j"}, model.Response{Usage: model.Usage{Known: true, InputTokens: 1000000, OutputTokens: 1000000}})
	if got.CostUSD != 4 || got.PricedCalls != 1 || got.InputTokens != 1000000 || got.ModelCalls != 1 {
		t.Errorf("%+v", got)
	}
	if got := s.priced(&model.Request{Model: "j"}, model.Response{}); got.UnknownCalls != 1 || got.PricedCalls != 0 || got.ModelCalls != 1 {
		t.Errorf("%+v", got)
	}
}

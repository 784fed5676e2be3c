package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/model/modeltest"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

func TestARunGoesAlongItsEdgesToATerminalState(t *testing.T) {
	w := newWorld(t, flowFiles(),
		calls(advance("work")),
		modeltest.CallTools("Working on it.", advance("done")),
		modeltest.Text("Goodbye."),
	)
	o := w.run("help")
	if o.Kind != "completed" || o.State != "done" || o.Reply != "Working on it.\n\nGoodbye." {
		t.Errorf("got %s in %s saying %q", o.Kind, o.State, o.Reply)
	}
	if got, want := path(o), "trigger:start agent:work agent:done"; got != want {
		t.Errorf("trail %s, want %s", got, want)
	}
	if o.Usage.ModelCalls != 3 || o.Usage.CostUSD == nil {
		t.Errorf("usage %+v", o.Usage)
	}
	want := []string{
		"advance", "state-enter",
		"model-usage", "tool-called", "tool-result", "advance", "state-leave", "state-enter",
		"model-usage", "agent-text", "tool-called", "tool-result", "advance", "state-leave", "state-enter",
		"model-usage", "agent-text", "state-leave",
	}
	if diff := cmp.Diff(want, w.types()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestWordsAloneEndTheTurnWhereItStands(t *testing.T) {
	w := newWorld(t, flowFiles(), modeltest.Text("What do you need?"), calls(advance("work")), modeltest.Text("Doing it."))
	if o := w.run("help"); o.Kind != "completed" || o.State != "start" {
		t.Fatalf("got %s in %s", o.Kind, o.State)
	}
	o := w.run("this")
	if o.State != "work" || o.Reply != "Doing it." {
		t.Errorf("the second turn ended in %s saying %q", o.State, o.Reply)
	}
	if got, want := path(o), "trigger:start trigger:start agent:work"; got != want {
		t.Errorf("trail %s, want %s", got, want)
	}
}

func TestAHumanStateParksAndADecisionFromAnotherProcessGoesOn(t *testing.T) {
	w := newWorld(t, flowFiles(),
		calls(advance("review")), modeltest.Text("A person will look."),
		modeltest.Text("All done."),
	)
	o := w.run("help")
	if o.Kind != "parked" || o.ParkedChannel != "decision" || o.Reply != "A person will look." {
		t.Fatalf("got %s on %q saying %q", o.Kind, o.ParkedChannel, o.Reply)
	}
	p := o.Pending.(*session.Pending)
	if p.Seq != 1 || len(p.Transitions) != 2 || p.Transitions[0].Type != "approve" || p.Approvers != secretHuman {
		t.Errorf("pending record %+v", p)
	}
	if len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], "is not there to be read") {
		t.Errorf("warnings %q: the declared evidence does not exist", o.Warnings)
	}
	other := runtime.New(w.opts) // nothing is shared but the disk
	o = w.must(other.Decide(context.Background(), runtime.Decision{Session: "s", To: "done", Comment: "fine by me", By: "ann"}))
	if o.Kind != "completed" || o.State != "done" || o.Disposition != "decide" || o.Reply != "All done." {
		t.Errorf("got %s in %s (%s) saying %q", o.Kind, o.State, o.Disposition, o.Reply)
	}
	last := w.server.Requests()[2]
	if got := lastResult(last); !strings.Contains(got, "[decision]") || !strings.Contains(got, "fine by me") {
		t.Errorf("the note says %q", got)
	}
}

func TestADecisionIsCheckedBeforeAnythingChanges(t *testing.T) {
	parked := func(t *testing.T) *world {
		w := newWorld(t, flowFiles(), calls(advance("review")), modeltest.Text("Wait."))
		w.run("help")
		return w
	}
	cases := []struct {
		name     string
		decision runtime.Decision
		change   string // what the workflow becomes first
		want     string
	}{
		{"a target that is no edge is refused, listing the edges", runtime.Decision{Session: "s", To: "start"}, "", "choose one of: done, work"},
		{"a stale number is refused", runtime.Decision{Session: "s", To: "done", Seq: 2}, "", "awaits decision number 1, not 2"},
		{"a session that does not exist is named", runtime.Decision{Session: "nope", To: "done"}, "", `no session "nope"`},
		{
			"a state that is gone is named",
			runtime.Decision{Session: "s", To: "done"},
			"instructions: x\nstates:\n  start: { triggers: { manual: } }\n", `no longer declares state "review"`,
		},
		{
			"an edge that is gone is named",
			runtime.Decision{Session: "s", To: "done"},
			strings.Replace(flow, "      - { to: done, description: "+secretHuman+" fine, type: approve }\n", "", 1), "no longer has an edge to it; choose one of: work",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := parked(t)
			before := w.state().Seq
			if c.change != "" {
				w.write(map[string]string{"workflows/flow/workflow.yaml": c.change})
			}
			_, err := w.Decide(context.Background(), c.decision)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
			if after := w.state().Seq; after != before {
				t.Errorf("the journal grew from %d to %d", before, after)
			}
		})
	}
}

func TestAPersonsMessageToAParkedSessionIsAnsweredAndParksAgain(t *testing.T) {
	w := newWorld(t, flowFiles(),
		calls(advance("review")), modeltest.Text("A person will look."),
		modeltest.CallTools("Still waiting.", advance("done")), // it may not act
		modeltest.Text("Done."),
	)
	w.run("help")
	o := w.run("any news?")
	if o.Kind != "parked" || o.Disposition != "reply" || o.Reply != "Still waiting." || o.State != "review" {
		t.Fatalf("got %s (%s) in %s saying %q", o.Kind, o.Disposition, o.State, o.Reply)
	}
	if p := o.Pending.(*session.Pending); p.Seq != 1 {
		t.Errorf("the record became number %d", p.Seq)
	}
	var rules []string
	for _, m := range w.state().Messages {
		for _, c := range m.Calls {
			if c.Result.Rule != "" {
				rules = append(rules, c.Result.Rule)
			}
		}
	}
	if !slices.Equal(rules, []string{"tool.reply-only"}) {
		t.Errorf("blocked by %v", rules)
	}
	if o := w.decide("done"); o.Kind != "completed" {
		t.Errorf("then %s", o.Kind)
	}
}

func TestAWaitIsDeliveredInTheSameState(t *testing.T) {
	w := newWorld(t, flowFiles(),
		modeltest.CallTools("Which order?", call("archmax_wait", map[string]any{"reason": "the order id", "until": "2h"})),
		calls(advance("work")), modeltest.Text("Thanks."),
	)
	o := w.run("help")
	if o.Kind != "parked" || o.ParkedChannel != "input" || o.Reply != "Which order?" {
		t.Fatalf("got %s on %q saying %q", o.Kind, o.ParkedChannel, o.Reply)
	}
	if p := o.Pending.(*runtime.Waiting); p.Reason != "the order id" || p.ResumeAt == "" {
		t.Errorf("pending %+v", p)
	}
	o = w.must(w.Deliver(context.Background(), runtime.Delivery{
		Session: "s", Trigger: "email", Variables: []runtime.Seed{seed(t, "order_id", "ORD-1")}, Text: "ORD-1", HasText: true,
	}))
	if o.Kind != "completed" || o.Disposition != "deliver" || o.State != "work" {
		t.Errorf("got %s (%s) in %s", o.Kind, o.Disposition, o.State)
	}
	if v := o.Variables["order_id"]; !v.Locked || string(v.Value) != `"ORD-1"` {
		t.Errorf("order_id is %+v", v)
	}
	note := w.server.Requests()[1].Messages
	if text := note[len(note)-2].Content; !strings.Contains(text, "email") || !strings.Contains(text, "order_id") || strings.Contains(text, "ORD-1") {
		t.Errorf("the note names the trigger and the variables, not the values: %q", text)
	}
}

func TestASilentWaitSpendsOneReplyOnlyCall(t *testing.T) {
	w := newWorld(t, flowFiles(), calls(call("archmax_wait", map[string]any{"reason": "the order id"})), modeltest.Text("I wait for the order id."))
	if o := w.run("help"); o.Reply != "I wait for the order id." || o.Kind != "parked" {
		t.Errorf("got %s saying %q", o.Kind, o.Reply)
	}
}

func TestArrivalsThatDoNotFitAreRefusedAndChangeNothing(t *testing.T) {
	w := newWorld(t, flowFiles(), modeltest.Text("Hi."))
	w.run("help")
	before := w.state().Seq
	ctx := context.Background()
	refusals := map[string]func() error{
		"awaits no decision": func() error { _, err := w.Decide(ctx, runtime.Decision{Session: "s", To: "done"}); return err },
		"awaits no input":    func() error { _, err := w.Deliver(ctx, runtime.Delivery{Session: "s", Trigger: "x"}); return err },
		"needs a message":    func() error { _, err := w.Send(ctx, runtime.Message{Session: "s", MustExist: true}); return err },
		"takes a turn now": func() error {
			_, err := w.Send(ctx, runtime.Message{Session: "s", MustExist: true, Text: "x", As: "delivery"})
			return err
		},
		`declares no trigger "nope"`: func() error {
			_, err := w.Send(ctx, runtime.Message{Session: "s", MustExist: true, Text: "x", Trigger: "nope"})
			return err
		},
		`belongs to workflow "flow"`: func() error {
			_, err := w.Send(ctx, runtime.Message{Session: "s", Workflow: "other", Text: "x"})
			return err
		},
	}
	w.write(map[string]string{"workflows/other/workflow.yaml": flow})
	for want, try := range refusals {
		var coded runtime.Coded
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		} else if !errors.As(err, &coded) {
			t.Errorf("%T has no code", err)
		}
	}
	if after := w.state().Seq; after != before {
		t.Errorf("the journal grew from %d to %d", before, after)
	}
}

func TestASignatureIsAGateAtTheDoor(t *testing.T) {
	files := map[string]string{"workflows/flow/workflow.yaml": `
instructions: x
states:
  start:
    instructions: y
    triggers: { manual: { requires: [ { name: amount, type: integer, minimum: 1 } ], returns: [total] } }
`}
	t.Run("a missing value refuses the turn and creates nothing", func(t *testing.T) {
		w := newWorld(t, files)
		o := w.run("help")
		if o.Kind != "rejected" || !o.Refused || len(o.Issues) != 1 || o.Issues[0].Kind != "missing" {
			t.Errorf("outcome %+v", o)
		}
		if _, err := w.store.Load(context.Background(), "s"); err == nil {
			t.Error("a session was created")
		}
	})
	t.Run("a value that does not conform refuses the turn, naming the rule", func(t *testing.T) {
		w := newWorld(t, files)
		o := w.must(w.Send(context.Background(), runtime.Message{Workflow: "flow", Session: "s", Text: "x", Variables: []runtime.Seed{seed(t, "amount", 0)}}))
		if !o.Refused || o.Issues[0].Kind != "invalid" || o.Issues[0].Rule != "minimum" {
			t.Errorf("issues %+v", o.Issues)
		}
	})
	t.Run("a terminal state without the declared returns is rejected", func(t *testing.T) {
		w := newWorld(t, files, modeltest.Text("Done."))
		o := w.must(w.Send(context.Background(), runtime.Message{Workflow: "flow", Session: "s", Text: "x", Variables: []runtime.Seed{seed(t, "amount", 1)}}))
		if o.Kind != "rejected" || o.Refused || !strings.Contains(o.Rejected, "total") {
			t.Errorf("got %s: %s", o.Kind, o.Rejected)
		}
	})
	t.Run("returns that are set are told, numbers exact", func(t *testing.T) {
		w := newWorld(t, files, modeltest.Answer{Calls: []modeltest.Call{{Name: "archmax_set_variables", Args: `{"variables":{"total":9007199254740993}}`}}}, modeltest.Text("Done."))
		o := w.must(w.Send(context.Background(), runtime.Message{Workflow: "flow", Session: "s", Text: "x", Variables: []runtime.Seed{seed(t, "amount", 1)}}))
		if o.Kind != "completed" || string(o.Returns["total"]) != "9007199254740993" {
			t.Errorf("got %s with %s", o.Kind, o.Returns["total"])
		}
	})
}

func TestADisabledWorkflowTakesNoTurn(t *testing.T) {
	w := newWorld(t, map[string]string{"workflows/flow/workflow.yaml": "disabled: true\n" + strings.TrimPrefix(flow, "\n")})
	o := w.run("help")
	if o.Kind != "rejected" || !o.Refused || !strings.Contains(o.Rejected, "disabled") {
		t.Errorf("got %s: %s", o.Kind, o.Rejected)
	}
}

func TestEveryEventOfACallCarriesItsID(t *testing.T) {
	w := newWorld(t, flowFiles(), calls(advance("review")), modeltest.Text("Wait."))
	w.run("help")
	id := w.state().Messages[1].Calls[0].ID
	seen := map[string]bool{}
	for _, e := range w.events {
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), `"callId":"`+id+`"`) {
			seen[e.Type] = true
		}
	}
	for _, want := range []string{"tool-called", "tool-result", "advance", "parked"} {
		if !seen[want] {
			t.Errorf("%s does not carry the call's id; %v do", want, seen)
		}
	}
}

func TestABlankTextBesideAWaitIsNothingSaid(t *testing.T) {
	silent := calls(call("archmax_wait", map[string]any{"reason": "an answer"}))
	silent.Text = " \n"
	w := newWorld(t, flowFiles(), silent, modeltest.Text("I wait for an answer."))
	if o := w.run("help"); o.Reply != "I wait for an answer." {
		t.Errorf("reply %q", o.Reply)
	}
}

func TestARefusedArrivalTellsNothingOfTheOneBefore(t *testing.T) {
	w := newWorld(t, map[string]string{"workflows/flow/workflow.yaml": `
instructions: x
states:
  start:
    instructions: y
    triggers:
      manual:
      strict: { session: thread, requires: [need] }
`}, modeltest.Text("Hi."))
	w.run("help")
	o := w.must(w.Send(context.Background(), runtime.Message{Workflow: "flow", Session: "s", Trigger: "strict", Text: "x"}))
	if !o.Refused || o.TurnUsage.ModelCalls != 0 || o.Usage.ModelCalls != 1 {
		t.Errorf("refused %v, turn %+v, session %+v", o.Refused, o.TurnUsage, o.Usage)
	}
	o = w.must(w.Send(context.Background(), runtime.Message{Workflow: "flow", Trigger: "strict", Text: "x"}))
	if !o.Refused || len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], `"thread"`) {
		t.Errorf("the path that found nothing is not told: %q", o.Warnings)
	}
}
